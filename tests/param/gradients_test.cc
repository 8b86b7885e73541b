#include "dynet-like/param/gradients.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "dynet-like/base/random.h"
#include "tests/support/catch.h"

namespace gradients_test {

using namespace dynet;

namespace {

constexpr std::size_t kSize = 1000, kRows = 300, kRowSize = 7;

void add(GradientSlot slot, std::size_t n, const RandomStream& random, std::uint64_t at) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = static_cast<float>(random.normal(at + i) * 1e3);
    slot.g[i] = slot.written ? slot.g[i] + g : g;
  }
}

// Gradients of thread t of three: shared and own parameters, rows, and a whole table from one
// thread.
void backward(GradientBuffers& buffers, unsigned t) {
  const RandomStream random(100 + t);
  GradientBuffer& buffer = buffers.mine();
  add(buffer.use(0, kSize), kSize, random, 0);
  add(buffer.use(0, kSize), kSize, random, 5000);
  if (t != 1) add(buffer.use(2, kSize), kSize, random, 10000);
  RowGradients& rows = buffer.rows(1, kRows, kRowSize);
  for (unsigned k = 0; k < 200; ++k)
    add(rows.use_row(static_cast<std::uint32_t>(random.bits(k) % kRows)), kRowSize, random,
        20000 + 10 * k);
  if (t == 2) add(buffer.rows(3, kRows, kRowSize).use_whole(), kRows * kRowSize, random, 40000);
  add(buffer.rows(3, kRows, kRowSize).use_row(t), kRowSize, random, 60000);
}

std::vector<float> flatten(const GradientBuffer& buffer) {
  std::vector<float> all(2 * kSize + 2 * kRows * kRowSize);
  float* to = all.data();
  const auto append = [&](const float* g, std::size_t n) {
    if (g) std::copy_n(g, n, to);
    to += n;
  };
  append(buffer.find(0), kSize);
  append(buffer.find(2), kSize);
  for (std::size_t table : {1, 3}) {
    const RowGradients* r = buffer.find_rows(table);
    if (r && r->whole_written()) {
      append(r->whole(), kRows * kRowSize);
      continue;
    }
    for (std::uint32_t row = 0; row < kRows; ++row) append(r ? r->find(row) : nullptr, kRowSize);
  }
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

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

TEST_CASE("three threads that run at once give their sum") {
  std::vector<double> plain(2 * kSize + 2 * kRows * kRowSize);
  for (unsigned t = 0; t < 3; ++t) {
    GradientBuffers buffers;
    backward(buffers, t);
    const std::vector<float> part = flatten(*buffers.merge());
    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] += part[i];
  }
  GradientBuffers buffers;
  for (int repeat = 0; repeat < 20; ++repeat) {  // the second time with used buffers
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) threads.emplace_back(backward, std::ref(buffers), t);
    for (std::thread& t : threads) t.join();
    const GradientBuffer* const merged = buffers.merge();
    REQUIRE(merged);
    const std::vector<float> sum = flatten(*merged);
    for (std::size_t i = 0; i < plain.size(); ++i)
      REQUIRE(sum[i] == Approx(plain[i]).epsilon(1e-5).margin(1e-2));
    CHECK(buffers.merge() == merged);
    CHECK(same_bits(flatten(*buffers.merge()), sum));
    buffers.clear();
    CHECK(buffers.merge() == nullptr);
  }
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

}  // namespace gradients_test
