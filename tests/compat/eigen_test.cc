// Tensors as Eigen sees them.

#include "dynet-like/base/errors.h"
#include "dynet/dynet.h"
#include "dynet/tensor-eigen.h"
#include "tests/support/catch.h"

namespace eigen_test {

using namespace dynet;

static_assert(std::is_same_v<Eigen::DenseIndex, std::ptrdiff_t>);  // named before Eigen is there

TEST_CASE("Eigen's views of a tensor share its memory") {
  std::vector<float> v = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Tensor one{Dim({2, 3}), v.data()}, batch{Dim({2, 3}, 2), v.data()};
  CHECK(mat(one)(1, 2) == 6);
  CHECK(vec(batch).sum() == 78);
  CHECK(colbatch_matrix(batch).cols() == 6);
  CHECK(colbatch_matrix(batch)(0, 5) == 11);
  CHECK(tvec(batch)(11) == 12);
  CHECK(t<2>(one)(1, 2) == 6);
  CHECK(t<3>(one)(1, 2, 0) == 6);
  CHECK(tb<2>(batch)(1, 2, 1) == 12);
  mat(one)(0, 0) = 20;
  CHECK(v[0] == 20);
  CHECK_THROWS_AS(mat(batch), ShapeError);
  CHECK_THROWS_AS(t<1>(one), ShapeError);
}

}  // namespace eigen_test
