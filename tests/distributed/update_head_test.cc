#include "dynet-like/distributed/update_head.h"

#include <numeric>
#include <vector>

#include "tests/support/catch.h"

namespace update_head_test {

using namespace dynet;

namespace {

UpdateHead head_of(unsigned rank, std::vector<std::uint64_t> same) {
  UpdateHead head;
  head.rank = rank;
  head.same = std::move(same);
  return head;
}

std::vector<std::uint32_t> rows(std::uint32_t n, std::uint32_t step) {
  std::vector<std::uint32_t> all(n);
  for (std::uint32_t i = 0; i < n; ++i) all[i] = 5 + i * step;
  return all;
}

}  // namespace

TEST_CASE("what processes say of an update arrives as it was") {
  UpdateHead head = head_of(7, {1, 2, ~std::uint64_t{0}});
  head.losses = {{3, 0.5}, {4, -1e300}};
  head.present.dense = {1, 0, 1};
  head.present.tables = {
      {false, {}}, {true, {}}, {false, rows(10, 1000)}, {false, rows(1000, 3)}, {false, {0}}};
  head.odd_rank = 4;
  head.different = 2;
  const UpdateHead back = UpdateHead::unpack(head.pack());
  CHECK(back.rank == 7);
  CHECK(back.same == head.same);
  CHECK(back.losses == head.losses);
  CHECK(back.present.dense == head.present.dense);
  REQUIRE(back.present.tables.size() == 5);
  for (std::size_t t = 0; t < 5; ++t) {
    CHECK(back.present.tables[t].whole == head.present.tables[t].whole);
    CHECK(back.present.tables[t].rows == head.present.tables[t].rows);
  }
  CHECK(back.odd_rank == 4);
  CHECK(back.different == 2);
}

TEST_CASE("many rows travel as bits, few as numbers") {
  const auto bytes = [](const std::vector<std::uint32_t>& of) {
    UpdateHead none, some;
    none.present.tables.resize(1);
    some.present.tables = {{false, of}};
    return some.pack().size() - none.pack().size();
  };
  CHECK(bytes(rows(10, 1000)) == 40);
  CHECK(bytes(rows(3200, 1)) == 4 * 101);  // 3,205 bits
}

TEST_CASE("a message that was cut is noticed") {
  UpdateHead head = head_of(0, {1, 2, 3});
  head.present.tables = {{false, rows(9, 2)}};
  Communicator::Bytes bytes = head.pack();
  for (const std::size_t left : {bytes.size() - 1, std::size_t{20}, std::size_t{0}}) {
    bytes.resize(left);
    CHECK_THROWS_AS(UpdateHead::unpack(bytes), CommunicationError);
  }
}

TEST_CASE("gradients are there if one process has them") {
  Presence a{{1, 0, 0}, {{false, {1, 5}}, {false, {2}}, {true, {}}}};
  const Presence b{{0, 0, 1, 1}, {{false, {0, 5, 9}}, {true, {}}, {false, {3}}, {false, {4}}}};
  a.add(b);
  CHECK(a.dense == std::vector<char>{1, 0, 1, 1});
  REQUIRE(a.tables.size() == 4);
  CHECK(a.tables[0].rows == std::vector<std::uint32_t>{0, 1, 5, 9});
  CHECK((a.tables[1].whole && a.tables[1].rows.empty()));
  CHECK((a.tables[2].whole && a.tables[2].rows.empty()));
  CHECK(a.tables[3].rows == std::vector<std::uint32_t>{4});
}

TEST_CASE("the lowest rank that differs is named") {
  UpdateHead one = head_of(0, {1, 2, 3});
  UpdateHead two = head_of(2, {1, 2, 3});
  two.add(head_of(3, {1, 7, 3}));
  CHECK(two.odd_rank == 3);
  CHECK(two.different == 1);
  one.add(head_of(1, {1, 2, 4}));
  CHECK(one.odd_rank == 1);
  one.add(two);
  CHECK(one.odd_rank == 1);
  CHECK(one.different == 2);
  UpdateHead all = head_of(0, {1});
  all.add(head_of(1, {1}));
  CHECK(all.odd_rank == UpdateHead::kNone);
}

}  // namespace update_head_test
