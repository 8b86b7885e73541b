// Gradients and values in the memory of devices: here of the heap, which counts what it is asked
// for.

#include <cstdlib>

#include "dynet-like/param/on_device.h"
#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace device_memory_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;

struct Heap final : DeviceAllocator {
  explicit Heap(int n) : number_(n) {}
  int number() const override { return number_; }
  void* allocate(std::size_t bytes) override {
    ++held;
    allocated += bytes;
    return std::malloc(bytes ? bytes : 1);
  }
  void free(void* p) noexcept override {
    --held;
    std::free(p);
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    ++reads;
    std::memcpy(to, from, bytes);
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    ++writes;
    std::memcpy(to, from, bytes);
  }
  void receive(void* to, DeviceAllocator&, const void* from, std::size_t bytes) override {
    ++received;
    std::memcpy(to, from, bytes);
  }

  std::size_t allocated = 0;
  int held = 0, reads = 0, writes = 0, received = 0;

 private:
  int number_;
};

void put(const GradientSlot& slot, std::size_t n, float value) {
  for (std::size_t i = 0; i < n; ++i) slot.g[i] = slot.written ? slot.g[i] + value : value;
}

}  // namespace

TEST_CASE("a few rows of a large table take little memory, and all rows no more than the table") {
  for (const std::size_t rows : {std::size_t{3}, std::size_t{100000}}) {
    const auto heap = std::make_shared<Heap>(0);
    RowGradients gradients(rows, 16, heap);
    gradients.use_row(1);
    CHECK(heap->allocated <= std::max(rows * 64 / 2, std::size_t{3 * 64}));
    for (std::uint32_t row = 0; row < rows; ++row) gradients.use_row(row);
    CHECK(heap->allocated == rows * 64);
  }
}

TEST_CASE("gradients of devices count with those of the same thread, and come home in a merge") {
  auto device = std::make_shared<Heap>(0), other = std::make_shared<Heap>(1);
  {
    ParameterCollection pc;
    auto p = pc.add_parameters({3}), idle = pc.add_parameters({2});
    auto rows = pc.add_lookup_parameters(200, {2}), whole = pc.add_lookup_parameters(3, {2});
    GradientBuffers& buffers = p.stored().bank->gradients;
    plant(p, {1, 2, 3});
    plant_row(rows, 150, {1, 1});
    for (const auto& memory : {device, other}) {
      GradientBuffer& buffer = buffers.mine(memory);
      CHECK(&buffer != &buffers.mine());
      put(buffer.use(p.stored().index, 3), 3, 10);
      for (unsigned row = 0; row < 160; ++row)
        put(buffer.rows(0, 200, 2).use_row(row), 2, static_cast<float>(row));
      put(buffer.rows(1, 3, 2).use_whole(), 6, 5);
      put(buffer.rows(1, 3, 2).use_row(2), 2, 1);
    }
    CHECK(as_vector(p.gradients()) == Floats{21, 22, 23});
    CHECK(as_vector(idle.gradients()) == Floats{0, 0});
    CHECK(rows.row_gradient(150) == Floats{301, 301});
    CHECK(rows.row_gradient(7) == Floats{14, 14});
    CHECK(rows.row_gradient(160) == Floats{0, 0});
    CHECK(whole.row_gradient(0) == Floats{10, 10});
    CHECK(whole.row_gradient(2) == Floats{12, 12});
    CHECK(buffers.in_order().size() == 1);
    buffers.merge();
    CHECK(as_vector(p.gradients()) == Floats{21, 22, 23});
    CHECK(rows.row_gradient(150) == Floats{301, 301});
    CHECK(whole.row_gradient(2) == Floats{12, 12});
    CHECK(device->held > 0);
    // The next pass there starts again.
    CHECK_FALSE(buffers.mine(device).use(p.stored().index, 3).written);
    CHECK_FALSE(buffers.mine(device).rows(0, 200, 2).use_row(7).written);
  }
  CHECK(device->held == 0);
  CHECK(other->held == 0);
}

TEST_CASE("rows on a device lie in few pieces of memory, and all come home") {
  auto device = std::make_shared<Heap>(0);
  const auto copy_to_host = [&](std::size_t rows, std::size_t size, std::uint32_t used) {
    RowGradients there(rows, size, device), home(rows, size);
    for (std::uint32_t row = 0; row < used; ++row)
      put(there.use_row(row), size, static_cast<float>(row + 1));
    const int reads = device->reads;
    there.add_to(home);
    for (std::uint32_t row = 0; row < used; ++row)
      for (const std::size_t i : {std::size_t{0}, size - 1})
        CHECK(home.find(row)[i] == static_cast<float>(row + 1));
    CHECK(device->reads - reads == device->held);
    return device->held;
  };
  CHECK(copy_to_host(200, 10000, 150) == 3);  // 64 rows are 2.4 MiB
  CHECK(copy_to_host(200, 10000, 64) == 1);
  CHECK(copy_to_host(10000, 100, 8192) == 1);  // 2 MiB are 5,243 rows
  CHECK(copy_to_host(10000, 100, 8193) == 2);
  CHECK(device->held == 0);
}

TEST_CASE("values go to a device when it asks, and come home when the host does") {
  auto device = std::make_shared<Heap>(0);
  {
    ParameterCollection pc;
    auto p = pc.add_parameters({2}, ParameterInitConst(3.0f));
    ParameterStorageBase& s = p.stored();
    float* const there = values_on(s, device);
    CHECK(there[1] == 3);
    CHECK(values_on(s, device) == there);
    CHECK(device->writes == 1);
    p.set_value({5, 6});
    CHECK(values_on(s, device) == there);
    CHECK(there[1] == 6);
    CHECK(device->writes == 2);
    there[0] = 7;  // an update
    const std::uint64_t before = s.bank->changes;
    changed_on(s, *device);
    CHECK(s.bank->changes > before);
    CHECK(values_on(s, device) == there);
    CHECK(device->writes == 2);
    CHECK(device->reads == 0);
    for (int k = 0; k < 3; ++k) s.copy_to_host();
    CHECK(device->reads == 1);
    CHECK(as_vector(p.values()) == Floats{7, 6});
    CHECK(device->reads == 1);
    p.scale(2);
    CHECK(values_on(s, device)[0] == 14);
  }
  CHECK(device->held == 0);
}

TEST_CASE("a device gets values from another that has newer ones than the host") {
  auto first = std::make_shared<Heap>(0), second = std::make_shared<Heap>(1);
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, ParameterInitConst(3.0f));
  ParameterStorageBase& s = p.stored();
  float* const a = values_on(s, first);
  float* const b = values_on(s, second);
  CHECK(second->received == 1);  // no need to ask the host
  CHECK(*b == 3);
  *a = 5;
  changed_on(s, *first);
  CHECK(values_on(s, first) == a);
  CHECK(first->received == 0);
  CHECK(*values_on(s, second) == 5);
  CHECK(second->received == 2);
  CHECK(second->writes == 0);
  *values_on(s, second) = 6;
  changed_on(s, *second);
  CHECK(*values_on(s, first) == 6);
  s.copy_to_host();
  CHECK(*s.data == 6);
  CHECK(first->reads + second->reads == 1);
}

TEST_CASE("a buffer is the only one if no other has gradients, on whichever device") {
  auto device = std::make_shared<Heap>(0);
  ParameterCollection pc;
  auto p = pc.add_parameters({2});
  GradientBuffers& all = p.stored().bank->gradients;
  CHECK(all.only() == nullptr);
  all.mine();
  GradientBuffer& there = all.numbered(1, device);
  put(there.use(0, 2), 2, 1);
  CHECK(all.only() == &there);
  put(all.numbered(2, device).use(0, 2), 2, 10);
  CHECK(all.only() == nullptr);
  const GradientBuffer* const sum = all.merge();
  CHECK(sum->memory() == nullptr);
  CHECK(sum->find(0)[1] == 11);
  CHECK(all.only() == sum);
}

}  // namespace device_memory_test
