// Work that operations put into a queue before any of it runs.

#include "kernels/cuda/queue.h"

#ifndef DYNET_TEST_GPU
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#endif

#include "kernels/cuda/copy.h"
#include "tests/cuda/device.h"

using namespace dynet;

TEST_CASE("a temporary is nobody else's before the kernels that use it have run", "[cuda]") {
  cuda::Queue q(cuda::make_driver(0));
  DeviceAllocator& memory = *q.driver().memory();
  q.begin_operation();
  cuda::fill_numbers(q, q.temporary(16), 16, 1, false);
  q.begin_operation();
  constexpr std::size_t kLarge = std::size_t{1} << 22;  // does not fit where the first one lies
  cuda::fill_numbers(q, q.temporary(kLarge), kLarge, 1, false);
  // Memory that was given back would be handed out again, to one of these.
  std::vector<void*> others;
  for (std::size_t size = 64; size <= std::size_t{1} << 20; size *= 2) {
    others.push_back(memory.allocate(size));
    memory.write(others.back(), Floats(16).data(), 16 * sizeof(float));
  }
  q.flush();
  q.wait();
  for (void* other : others) {
    float values[16];
    memory.read(values, other, sizeof values);
    CHECK(std::count(values, values + 16, 0.0f) == 16);
    memory.free(other);
  }
}

TEST_CASE("numbers go from device to device when they are there, and without the host", "[cuda]") {
  if (cuda::device_count() < 2) {
    skip("there is one device");
    return;
  }
  constexpr std::size_t kMany = std::size_t{1} << 20;
  cuda::Queue from(cuda::make_driver(0)), to(cuda::make_driver(1));
  from.begin_operation();
  to.begin_operation();
  float* const here = from.temporary(kMany);
  float* const there = to.temporary(kMany);
  for (float value : {1.0f, 2.0f}) {
    cuda::fill_numbers(from, here, kMany, value, false);
    from.flush();
    to.driver().wait_for(from.driver());
    to.driver().copy(there, here, kMany * sizeof(float));
    from.driver().wait_for(to.driver());  // the next numbers come when these are read
  }
  Floats arrived(kMany);
  to.read(arrived.data(), there, kMany);
  CHECK(std::count(arrived.begin(), arrived.end(), 2.0f) == static_cast<std::ptrdiff_t>(kMany));
}

TEST_CASE("write_after waits for the writer before one that has not written", "[cuda]") {
  constexpr std::size_t kMany = 300;
  for (unsigned order = 0; order < 20; ++order) {
    test::set_order(order);
    cuda::Queue a(cuda::make_driver(0)), b(cuda::make_driver(0)), c(cuda::make_driver(0));
    DeviceAllocator& memory = *a.driver().memory();
    auto* const p = static_cast<float*>(memory.allocate(kMany * sizeof(float)));
    std::shared_ptr<const cuda::Mark> writer;
    a.write_after(writer);
    cuda::fill_numbers(a, p, kMany, 1, false);
    a.flush();
    b.write_after(writer);  // and then there was an error
    c.write_after(writer);
    cuda::fill_numbers(c, p, kMany, 2, true);
    c.flush();
    Floats got(kMany);
    c.read(got.data(), p, kMany);
    CHECK(std::count(got.begin(), got.end(), 3.0f) == static_cast<std::ptrdiff_t>(kMany));
    memory.free(p);
  }
}

TEST_CASE("copy_tensors sums tensors with one destination and skips null destinations", "[cuda]") {
  cuda::Queue q(cuda::make_driver(0));
  DeviceAllocator& memory = *q.driver().memory();
  constexpr std::size_t kSize = 16, kPlaces = 3;
  auto* const numbers = static_cast<float*>(memory.allocate(2 * kPlaces * kSize * sizeof(float)));
  Floats values(2 * kPlaces * kSize);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / kSize);
  memory.write(numbers, values.data(), values.size() * sizeof(float));
  float* const places = numbers + kPlaces * kSize;  // with 3, 4 and 5
  const float* const from[] = {numbers,         numbers + kSize, numbers + 2 * kSize,
                               numbers + kSize, numbers,         numbers + kSize};
  float* const to[] = {places, nullptr, places + 2 * kSize, places, nullptr, places + 2 * kSize};
  const Write how[] = {Write::add, Write::store, Write::store, Write::add, Write::add, Write::add};
  q.begin_operation();
  cuda::copy_tensors(q, 6, kSize, from, to, how);
  const float* const more[] = {numbers + kSize, numbers + kSize, numbers + 2 * kSize};
  float* const there[] = {places + kSize, places + 2 * kSize, places + kSize};
  const Write added[] = {Write::store, Write::add, Write::add};
  q.begin_operation();
  cuda::copy_tensors(q, 3, kSize, more, there, added);
  // More than one thread adds up, behind others.
  std::vector<const float*> ones(40, numbers + kSize);
  std::vector<float*> many(40, places + kSize);
  std::fill_n(many.begin(), 3, places);
  const std::vector<Write> adds(40, Write::add);
  q.begin_operation();
  cuda::copy_tensors(q, 40, kSize, ones.data(), many.data(), adds.data());
  float got[kPlaces * kSize];
  q.read(got, places, kPlaces * kSize);
  for (std::size_t e = 0; e < kSize; ++e) {
    CHECK(got[e] == 4 + 3);
    CHECK(got[kSize + e] == 3 + 37);
    CHECK(got[2 * kSize + e] == 4);
  }
  memory.free(numbers);
}

#ifndef DYNET_TEST_GPU
TEST_CASE("a kernel of the emulation reaches no memory that is not there", "[cuda]") {
  enum What { right, behind, gone, gone_and_another };
  const auto survives = [](What what) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGSEGV, SIG_DFL);
      cuda::Queue q(cuda::make_driver(0));
      DeviceAllocator& memory = *q.driver().memory();
      constexpr std::size_t kSize = 64;  // numbers, the least that is handed out
      auto* const p = static_cast<float*>(memory.allocate(kSize * sizeof(float)));
      if (what == gone || what == gone_and_another) memory.free(p);
      if (what == gone_and_another) memory.allocate(kSize * sizeof(float));
      cuda::fill_numbers(q, p, what == behind ? kSize + 1 : kSize, 1, false);
      q.flush();
      q.wait();
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  CHECK(survives(right));
  for (const What what : {behind, gone, gone_and_another}) CHECK_FALSE(survives(what));
}
#endif
