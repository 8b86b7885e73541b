// Buffers of gradients: first writes, rows, and the order in which many are added up.

#include <thread>

#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace gradient_buffers_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;

constexpr std::size_t kSize = 200;

/// Numbers of all sizes: another order of adding them is another sum of one or the other.
Floats part(unsigned k) {
  const RandomStream random(k);
  Floats g(kSize);
  for (std::size_t i = 0; i < kSize; ++i)
    g[i] = static_cast<float>(random.normal(i) * std::pow(10.0, 8 * random.uniform(kSize + i)));
  return g;
}

void fill(GradientBuffer& buffer, const Floats& g) {
  const GradientSlot dense = buffer.use(1, kSize);
  std::copy(g.begin(), g.end(), dense.g);
  const GradientSlot row = buffer.rows(0, 4, kSize).use_row(2);
  std::copy(g.begin(), g.end(), row.g);
}

Floats sum_of(GradientBuffers& buffers) {
  const GradientBuffer* const all = buffers.merge();
  REQUIRE(all != nullptr);
  Floats sum(all->find(1), all->find(1) + kSize);
  const float* const row = all->find_rows(0)->find(2);
  sum.insert(sum.end(), row, row + kSize);
  return sum;
}

/// The parts added up in this order, twice: as a dense gradient and as one of a row.
Floats added(const std::vector<unsigned>& order) {
  Floats sum(kSize, -0.0f);
  for (const unsigned k : order) {
    const Floats more = part(k);
    for (std::size_t i = 0; i < kSize; ++i) sum[i] += more[i];
  }
  for (std::size_t i = 0; i < kSize; ++i) sum.push_back(sum[i]);
  return sum;
}

/// Calls check(order, sorted) with each order of two to five parts.
template <class Check>
void for_each_order(const Check& check) {
  for (unsigned n = 2; n <= 5; ++n) {
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const std::vector<unsigned> sorted = order;
    do check(order, sorted);
    while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace

TEST_CASE("two to five threads are added up in the order in which they came") {
  for_each_order([](const auto& order, const auto&) {
    GradientBuffers buffers;
    for (const unsigned k : order) std::thread([&] { fill(buffers.mine(), part(k)); }).join();
    REQUIRE(same_bits(sum_of(buffers), added(order)));
  });
}

TEST_CASE("buffers with numbers are added up in the order of their numbers, all of them") {
  for_each_order([](const auto& order, const auto& sorted) {
    GradientBuffers buffers;
    for (const unsigned k : order) fill(buffers.numbered(k), part(k));
    REQUIRE(same_bits(sum_of(buffers), added(sorted)));
  });
}

TEST_CASE("a buffer with a number is no thread's, whatever the number") {
  GradientBuffers buffers;
  GradientBuffer& mine = buffers.mine();
  for (unsigned number = 0; number < 1000; ++number) REQUIRE(&buffers.numbered(number) != &mine);
  CHECK(&buffers.mine() == &mine);
}

TEST_CASE("a buffer that is free again belongs to the next thread that asks, and to no other") {
  GradientBuffers buffers;
  GradientBuffer& first = buffers.numbered(1);
  fill(first, part(0));
  buffers.clear();
  CHECK(buffers.in_order().empty());
  GradientBuffer& second = buffers.numbered(2);
  CHECK(&second == &first);  // the memory
  CHECK(second.empty());
  fill(second, part(1));
  REQUIRE(&buffers.numbered(1) != &second);
  fill(buffers.numbered(1), part(2));
  const auto order = buffers.in_order();
  REQUIRE(order.size() == 2);
  CHECK(order[0].second == &buffers.numbered(1));
  CHECK(order[1].second == &second);
  CHECK(sum_of(buffers) == added({2, 1}));
}

TEST_CASE("buffers with nothing in them are not listed, those with anything are") {
  GradientBuffers buffers;
  buffers.numbered(3);
  CHECK(buffers.in_order().empty());
  buffers.numbered(5).use(0, 2);
  buffers.numbered(4).rows(0, 2, 2).use_row(1);
  buffers.numbered(6).rows(0, 2, 2).use_whole();
  buffers.numbered(7).rows(0, 2, 2);
  REQUIRE(buffers.in_order().size() == 3);
  CHECK(buffers.in_order()[0].second == &buffers.numbered(4));
  CHECK(buffers.in_order()[1].second == &buffers.numbered(5));
}

TEST_CASE("a merge takes in parameters and tables that only some buffers know") {
  GradientBuffers buffers;
  const auto put = [](float* g, float value) { std::fill_n(g, 2, value); };
  put(buffers.numbered(0).use(4, 2).g, 1);
  put(buffers.numbered(0).rows(3, 5, 2).use_row(1).g, 2);
  put(buffers.numbered(1).use(0, 2).g, 3);
  put(buffers.numbered(1).rows(0, 5, 2).use_row(4).g, 4);
  const GradientBuffer& sum = *buffers.merge();
  CHECK(sum.find(4)[1] == 1);
  CHECK(sum.find(0)[1] == 3);
  REQUIRE(sum.find_rows(3));
  CHECK(sum.find_rows(3)->find(1)[1] == 2);
  REQUIRE(sum.find_rows(0));
  CHECK(sum.find_rows(0)->find(4)[1] == 4);
  CHECK(buffers.in_order().size() == 1);
}

TEST_CASE("rows and whole tables of several buffers become one whole table") {
  GradientBuffers buffers;
  std::fill_n(buffers.numbered(0).rows(0, 3, 2).use_row(1).g, 2, 1.0f);
  std::fill_n(buffers.numbered(1).rows(0, 3, 2).use_whole().g, 6, 10.0f);
  std::fill_n(buffers.numbered(1).rows(0, 3, 2).use_row(1).g, 2, 100.0f);
  std::fill_n(buffers.numbered(2).rows(0, 3, 2).use_row(2).g, 2, 1000.0f);
  const RowGradients& all = *buffers.merge()->find_rows(0);
  REQUIRE(all.whole_written());
  CHECK(all.rows().empty());
  CHECK(Floats(all.whole(), all.whole() + 6) == Floats{10, 10, 111, 111, 1010, 1010});
  buffers.clear();
  CHECK(buffers.merge() == nullptr);
}

TEST_CASE("the first write of a gradient is told to store") {
  GradientBuffers buffers;
  CHECK(buffers.merge() == nullptr);
  GradientBuffer& buffer = buffers.mine();
  CHECK(&buffer == &buffers.mine());
  GradientSlot first = buffer.use(3, 10);
  CHECK_FALSE(first.written);
  CHECK(buffer.use(3, 10).written);
  CHECK(buffer.use(3, 10).g == first.g);
  CHECK(buffer.find(3) == first.g);
  CHECK(buffer.find(2) == nullptr);
  CHECK(buffer.find(100) == nullptr);
  buffer.forget(3);
  CHECK(buffer.find(3) == nullptr);
  CHECK_FALSE(buffer.use(3, 10).written);
  buffers.clear();
  CHECK(buffers.merge() == nullptr);
  CHECK_FALSE(buffers.mine().use(3, 10).written);
}

TEST_CASE("one thread's gradients are read where they were written") {
  GradientBuffers buffers;
  GradientBuffer& buffer = buffers.mine();
  float* g = buffer.use(0, 4).g;
  CHECK(buffers.merge() == &buffer);
  CHECK(buffers.merge()->find(0) == g);
}

TEST_CASE("rows get memory when they are used") {
  RowGradients rows(1000, 3);
  CHECK(rows.empty());
  std::vector<float*> pointers;
  for (std::uint32_t k = 0; k < 200; ++k) {
    const GradientSlot slot = rows.use_row((k * 7) % 1000);
    CHECK_FALSE(slot.written);
    pointers.push_back(slot.g);
    slot.g[0] = static_cast<float>(k);
  }
  for (std::uint32_t k = 0; k < 200; ++k) {
    const GradientSlot slot = rows.use_row((k * 7) % 1000);
    REQUIRE(slot.written);
    REQUIRE(slot.g == pointers[k]);
    REQUIRE(rows.row_gradient(k) == pointers[k]);
    REQUIRE(rows.find((k * 7) % 1000) == pointers[k]);
    REQUIRE(slot.g[0] == static_cast<float>(k));
  }
  CHECK(rows.rows().size() == 200);
  CHECK(rows.find(3) == nullptr);
  rows.clear();
  CHECK(rows.empty());
  CHECK(rows.find(7) == nullptr);
  CHECK_FALSE(rows.use_row(7).written);
}

TEST_CASE("a thread that goes on after a merge adds to the sum") {
  GradientBuffers buffers;
  buffers.mine().use(0, 1).g[0] = 1;
  std::thread([&] { buffers.mine().use(0, 1).g[0] = 2; }).join();
  CHECK(buffers.merge()->find(0)[0] == 3);
  const GradientSlot slot = buffers.mine().use(0, 1);
  CHECK(slot.written);  // the sum is in the buffer of the first
  slot.g[0] += 4;
  CHECK(buffers.merge()->find(0)[0] == 7);
}

TEST_CASE("NaN and infinity survive a merge of several threads") {
  for (unsigned threads : {2u, 3u, 5u}) {
    GradientBuffers buffers;
    for (unsigned t = 0; t < threads; ++t)
      std::thread([&] {
        const GradientSlot slot = buffers.mine().use(0, 3);
        slot.g[0] = t == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
        slot.g[1] = t == 0 ? std::numeric_limits<float>::infinity() : 1.0f;
        slot.g[2] = -0.0f;
      }).join();
    const float* g = buffers.merge()->find(0);
    CHECK(g[0] != g[0]);
    CHECK(g[1] == std::numeric_limits<float>::infinity());
    CHECK(std::signbit(g[2]));
  }
}

}  // namespace gradient_buffers_test
