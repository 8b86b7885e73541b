#include "dynet-like/base/prepared_matrices.h"

#include <ranges>

#include "tests/support/prelude.h"

namespace prepared_matrices_test {

using namespace dynet;

namespace {

using Layout = PreparedMatrices::Layout;

/// Looks a matrix up for `uses` products, of which four are enough for a copy. A copy is filled
/// with `value`.
const int* find(PreparedMatrices& prepared, const PreparedMatrices::Key& key, std::size_t uses,
                int value = 0) {
  return prepared.find<int>(key, uses, 4, 6, [&](int* copy) { std::fill_n(copy, 6, value); });
}

}  // namespace

TEST_CASE("a matrix is copied once, when it has been used often enough") {
  PreparedMatrices prepared;
  const int w = 0;
  const PreparedMatrices::Key key{&w, 2, 3, Layout::transposed};
  CHECK(!find(prepared, key, 1));
  CHECK(!find(prepared, key, 2));
  const int* const copy = find(prepared, key, 1, 7);
  REQUIRE(copy);
  CHECK(copy[5] == 7);
  CHECK(find(prepared, key, 0, 8) == copy);
  CHECK(copy[0] == 7);
}

TEST_CASE("shapes and layouts of a matrix have copies of their own") {
  PreparedMatrices prepared;
  const int w = 0, v = 0;
  std::set<const int*> copies;
  for (const auto& key : {PreparedMatrices::Key{&w, 2, 3, Layout::transposed},
                          {&w, 3, 2, Layout::transposed},
                          {&w, 2, 3, Layout::packed},
                          {&w, 2, 3, Layout::packed_across},
                          {&v, 2, 3, Layout::transposed}})
    copies.insert(find(prepared, key, 4));
  CHECK(copies.size() == 5);
  CHECK(!copies.contains(nullptr));
}

TEST_CASE("after clear matrices are counted and copied again") {
  PreparedMatrices prepared;
  const int w = 0;
  const PreparedMatrices::Key key{&w, 2, 3, Layout::transposed};
  REQUIRE(find(prepared, key, 4, 7));
  prepared.clear();
  CHECK(!find(prepared, key, 3));
  const int* const copy = find(prepared, key, 1, 9);
  REQUIRE(copy);
  CHECK(copy[0] == 9);
  prepared.release();
  CHECK(!find(prepared, key, 3));
}

TEST_CASE("matrices for which there is no room have no copies, the others keep theirs") {
  PreparedMatrices prepared;
  const std::vector<int> matrices(500);
  std::map<const int*, const int*> copies;
  for (const int& w : matrices)
    if (const int* const copy = find(prepared, {&w, 2, 3, Layout::packed}, 4, 1)) copies[&w] = copy;
  CHECK(copies.size() >= 128);
  CHECK(copies.size() < matrices.size());
  for (const auto& [w, copy] : copies) CHECK(find(prepared, {w, 2, 3, Layout::packed}, 0) == copy);
  prepared.clear();
  for (const int& w : matrices | std::views::reverse | std::views::take(8))
    CHECK(find(prepared, {&w, 2, 3, Layout::packed}, 4));
}

}  // namespace prepared_matrices_test
