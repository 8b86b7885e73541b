#include "dynet-like/shape/dim.h"

#include <sstream>

#include "dynet-like/base/errors.h"
#include "tests/support/catch.h"

namespace dim_test {

using namespace dynet;

TEST_CASE("Dim: sizes and batch") {
  const Dim d({2, 3, 4}, 5);
  CHECK(d.ndims() == 3);
  CHECK(d.batch_elems() == 5);
  CHECK(d.rows() == 2);
  CHECK(d.cols() == 3);
  CHECK(d[2] == 4);
  CHECK(d[3] == 1);
  CHECK(d[6] == 1);
  CHECK(d.size(1) == 3);
  CHECK(d.batch_size() == 24);
  CHECK(d.size() == 120);
  CHECK(d.sum_dims() == 9);
  CHECK(d.single_batch() == Dim({2, 3, 4}));
}

TEST_CASE("Dim: nothing written out is one number, a size of zero is none") {
  CHECK(Dim().size() == 1);
  CHECK(Dim().ndims() == 0);
  CHECK(Dim({0}).size() == 0);
  CHECK(Dim({3, 0, 2}, 4).size() == 0);
  CHECK(Dim({0}).rows() == 0);
  CHECK(Dim({0}) != Dim());
}

TEST_CASE("Dim: sizes are counted in 64 bits") {
  CHECK(Dim({100000, 100000}).size() == std::size_t{10000000000});
  CHECK(Dim({100000}, 100000).size() == std::size_t{10000000000});
}

TEST_CASE("Dim: trailing ones do not matter") {
  CHECK(Dim({3}) == Dim({3, 1}));
  CHECK(Dim({3, 1, 1}, 2) == Dim({3}, 2));
  CHECK(Dim({1}) == Dim());
  CHECK(Dim({1, 3}) != Dim({3}));
  CHECK(Dim({3}) != Dim({3}, 2));
  CHECK(same_sizes(Dim({3}), Dim({3, 1}, 2)));
  CHECK(Dim({3, 1, 1}).rank() == 1);
  CHECK(Dim({1, 1}).rank() == 0);
  CHECK(Dim({1, 2, 1}).rank() == 2);
  CHECK(Dim({3, 1, 1}).truncate().nd == 1);
  CHECK(Dim({1, 1}).truncate().nd == 1);
  CHECK(Dim().truncate().nd == 0);
  CHECK(Dim({1, 3, 1}).num_nonone_dims() == 1);
}

TEST_CASE("Dim: is printed as it is written") {
  const auto text = [](const Dim& d) {
    std::ostringstream out;
    out << d;
    return out.str();
  };
  CHECK(text(Dim({2, 3}, 8)) == "{2,3X8}");
  CHECK(text(Dim({2, 3})) == "{2,3}");
  CHECK(text(Dim({4})) == "{4}");
  CHECK(text(Dim()) == "{}");
  CHECK(to_string(Dim({0, 1}, 2)) == "{0,1X2}");
}

TEST_CASE("Dim: changing sizes") {
  Dim d({2, 3});
  d.resize(4);
  CHECK(d.nd == 4);
  CHECK(d == Dim({2, 3}));
  d.set(3, 5);
  CHECK(d == Dim({2, 3, 1, 5}));
  d.delete_dim(0);
  CHECK(d == Dim({3, 1, 5}));
  d.insert_dim(1, 7);
  CHECK(d == Dim({3, 7, 1, 5}));
  d.add_dim(2);
  CHECK(d == Dim({3, 7, 1, 5, 2}));
  d.bd = 4;
  Dim kept = d;
  kept.delete_dims({0, 3}, false);
  CHECK(kept == Dim({7, 1, 2}, 4));
  kept.delete_dims({0, 1, 2}, false);  // one number is left
  CHECK(kept == Dim({1}, 4));
  CHECK(kept.nd == 1);
  Dim middle({2, 3, 5}, 4);
  middle.delete_dims({2, 0}, true);
  CHECK(middle == Dim({3}));
  CHECK(middle.bd == 1);
  d.delete_dims({0, 1, 2, 3, 4}, true);
  CHECK(d == Dim({1}));
  Dim one({3});
  one.delete_dim(0);
  CHECK(one == Dim({1}));
  CHECK(one.nd == 1);
  CHECK(Dim({2, 3}, 4).transpose() == Dim({3, 2}, 4));
  CHECK(Dim({3}).transpose() == Dim({1, 3}));
}

TEST_CASE("Dim: from a vector of signed sizes") {
  CHECK(Dim(std::vector<long>{2, 3}, 4) == Dim({2, 3}, 4));
  CHECK_THROWS_AS(Dim(std::vector<long>{2, -3}), ArgumentError);
  CHECK_THROWS_AS(Dim(std::vector<long>{long{1} << 33}), ArgumentError);
  CHECK_THROWS_AS(Dim(std::vector<long>(8, 1)), ArgumentError);
}

TEST_CASE("Dim: invalid shapes and changes throw") {
  CHECK_THROWS_AS(Dim({1, 1, 1, 1, 1, 1, 1, 1}), ArgumentError);
  CHECK_THROWS_AS(Dim({2}, 0), ArgumentError);
  Dim d({2, 3});
  CHECK_THROWS_AS(d.set(2, 1), IndexError);
  CHECK_THROWS_AS(d.delete_dim(2), IndexError);
  CHECK_THROWS_AS(d.delete_dims({0, 5}, false), IndexError);
  CHECK_THROWS_AS(Dim({3}).delete_dims({1}, true), IndexError);
  CHECK_THROWS_AS(d.insert_dim(3, 1), IndexError);
  CHECK_THROWS_AS(d.resize(8), ArgumentError);
  CHECK_THROWS_AS(Dim({2, 3, 4}).transpose(), ArgumentError);
  CHECK(d == Dim({2, 3}));
}

TEST_CASE("shapes are read as they are written") {
  for (const Dim& d : {Dim(), Dim({3}), Dim({2, 3}), Dim({2, 1, 4}, 8)}) {
    std::ostringstream out;
    out << d;
    std::ostringstream profile;
    d.print_profile(profile);
    CHECK(profile.str() == out.str());
    std::istringstream in(out.str() + " 5");
    Dim read({9});
    int behind = 0;
    CHECK((in >> read >> behind));
    CHECK(read.nd == d.nd);
    CHECK(read == d);
    CHECK(behind == 5);
  }
  for (const char* wrong :
       {"", "2,3", "{2", "{2,}", "{2,3X}", "{2,3X0}", "{-2}", "{1,1,1,1,1,1,1,1}"}) {
    INFO(wrong);
    std::istringstream in(wrong);
    Dim read({9});
    CHECK_FALSE((in >> read));
    CHECK(read == Dim({9}));
  }
  std::ostringstream out;
  out << std::vector<Dim>{Dim({2}), Dim({3, 4})};
  CHECK(out.str() == "[{2} {3,4}]");
}

}  // namespace dim_test
