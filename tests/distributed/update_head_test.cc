#include "dynet-like/distributed/update_head.h"

#include "tests/support/prelude.h"

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

TEST_CASE("UpdateHead::unpack restores a packed head") {
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

TEST_CASE("a message that is too short or too long is refused") {
  UpdateHead head = head_of(0, {1, 2, 3});
  head.present.tables = {{false, rows(9, 2)}};
  const Communicator::Bytes good = head.pack();
  for (std::size_t n = 0; n < good.size(); ++n)
    CHECK_THROWS_AS(UpdateHead::unpack({good.begin(), good.begin() + static_cast<long>(n)}),
                    CommunicationError);
  Communicator::Bytes more = good;
  more.push_back(std::byte{0});
  CHECK_THROWS_AS(UpdateHead::unpack(more), CommunicationError);
}

TEST_CASE("a message of other bytes is read or refused by one sentence") {
  UpdateHead head = head_of(0, {1, 2, 3});
  head.losses = {{3, 0.5}};
  head.present.tables = {{true, {}}, {false, rows(9, 2)}};
  const Communicator::Bytes good = head.pack();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0u, 1u, 0x7fu, 0xffu}) {
      Communicator::Bytes bytes = good;
      bytes[at] = static_cast<std::byte>(value);
      try {
        UpdateHead::unpack(bytes);
      } catch (const CommunicationError& e) {
        ++refused;
        REQUIRE(e.what() ==
                std::string("a message about an update is not what this version sends"));
      }
    }
  }
  CHECK(refused > 0);
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
