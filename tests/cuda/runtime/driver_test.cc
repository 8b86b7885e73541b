// kernels/cuda/driver.cc over a runtime that is played: which calls it makes, and what becomes of
// their errors.

#include "kernels/cuda/driver.h"

#include "kernels/cuda/cublas.h"
#include "kernels/cuda/memory_pool.h"
#include "tests/cuda/runtime/runtime.h"
#include "tests/support/prelude.h"

using namespace dynet;
using namespace dynet::cuda;
using Calls = std::vector<std::string>;

namespace {

fake::Runtime& rt() { return fake::runtime(); }

/// The calls that f makes, with streams and events of its own by their order in the text.
template <class F>
Calls calls_of(F f) {
  rt().calls.clear();
  f();
  return rt().calls;
}

/// Text of the error that f throws. CUDA's last error must be cleared.
template <class Error, class F>
std::string error_of(const char* call, int error, F f) {
  rt().errors[call] = {error};
  const std::string text = message<Error>(f);
  CHECK(rt().errors[call].empty());
  CHECK(rt().last == cudaSuccess);
  rt().errors.clear();
  return text;
}

Product product(const float* a, const float* b, float* c) {
  return {true, false, 3, 4, 5, a, 6, b, 7, c, 8, 1};
}

void launch(Driver& d, std::size_t shared = 0) {
  int number = 17;
  void* values[] = {&number};
  const std::size_t sizes[] = {sizeof number};
  d.launch(&number, nullptr, {5, 64, shared}, {values, sizes, 1});
}

}  // namespace

TEST_CASE("devices that cannot be used are left out, and the others have CUDA's numbers") {
  CHECK(device_count() == 3);
  CHECK_THROWS_AS(make_driver(3), DeviceError);
  CHECK_THROWS_AS(make_driver(-1), DeviceError);
  const auto d = make_driver(1);
  CHECK(rt().device == 2);
  CHECK(d->memory() == memory_of(1));
  CHECK(memory_of(1)->number() == 1);
  rt().errors["cudaGetDeviceCount"] = {cudaErrorNoDevice};
  CHECK(device_count() == 0);
  CHECK(rt().last == cudaSuccess);
}

TEST_CASE("each call works on its driver's device, its errors are typed, and CUDA has none left") {
  const auto a = make_driver(0), b = make_driver(2);
  float x[8] = {};
  const auto& memory = memory_of(0);
  auto* const there = static_cast<float*>(memory->allocate(sizeof x));
  const std::vector<std::pair<const char*, std::function<void()>>> calls{
      {"cudaSetDevice", [&] { a->mark(0); }},
      {"cudaMemcpyAsync", [&] { a->upload(there, x, 4); }},
      {"cudaMemcpyAsync", [&] { a->fetch(x, there, 4); }},
      {"cudaMemcpyAsync", [&] { a->copy(there, there + 4, 4); }},
      {"cudaStreamSynchronize", [&] { a->download(x, there, 4); }},
      {"cudaLaunchKernel", [&] { launch(*a); }},
      {"cudaFuncSetAttribute", [&] { launch(*a, 50000); }},
      {"cudaEventRecord", [&] { a->mark(0); }},
      {"cudaEventRecord", [&] { a->wait_for(*b); }},
      {"cudaEventSynchronize", [&] { a->wait(0); }},
      {"cudaStreamWaitEvent", [&] { a->wait_for(*b); }},
      {"cudaStreamWaitEvent", [&] { a->wait_for(*b->marked(1)); }},
      {"cudaMemcpy", [&] { memory->read(x, there, 4); }},
      {"cudaMemcpy", [&] { memory->write(there, x, 4); }},
      {"cudaDeviceSynchronize", [&] { memory->read(x, there, 4); }},
      {"cudaMemcpyAsync", [&] { memory->receive(there, *memory_of(1), there, 4); }},
      {"cudaStreamCreate", [&] { make_driver(0); }},
      {"cudaEventCreate", [&] { make_driver(0); }}};
  const std::size_t streams = rt().streams.size(), events = rt().events.size();
  const auto from_another_device = [&](const std::function<void()>& run) {
    b->mark(0);
    CHECK(rt().device == 3);
    CHECK_NOTHROW(run());  // the played runtime looks whether streams are of the current device
  };
  for (const auto& [call, run] : calls) {
    CAPTURE(call);
    CHECK_THAT(error_of<DeviceError>(call, cudaErrorIllegalAddress, run),
               Catch::Contains("words of CUDA (name of CUDA)"));
    from_another_device(run);
  }
  from_another_device([&] { a->multiply(product(x, x, x)); });
  from_another_device([&] { a->free_pinned(a->allocate_pinned(4)); });
  from_another_device([&] { memory->trim(); });
  CHECK(rt().streams.size() == streams);
  CHECK(rt().events.size() == events);
  CHECK_THAT(error_of<OutOfMemoryError>("cudaHostAlloc", cudaErrorMemoryAllocation,
                                        [&] { a->allocate_pinned(4); }),
             Catch::Contains("out of memory, pinned memory"));
  memory->free(there);
}

TEST_CASE("without memory on the device the pool gives back what it has, and asks again") {
  const auto& memory = memory_of(1);
  constexpr std::size_t kLarge = std::size_t{100} << 20;
  memory->free(memory->allocate(kLarge));
  CHECK(rt().held(2) == kLarge);
  rt().errors["cudaMalloc"] = {cudaErrorMemoryAllocation};
  void* const p = memory->allocate(2 * kLarge);
  CHECK(rt().held(2) == 2 * kLarge);
  rt().errors["cudaMalloc"] = {cudaErrorMemoryAllocation, cudaErrorMemoryAllocation};
  const std::string text = message<OutOfMemoryError>([&] { memory->allocate(kLarge); });
  const std::size_t all = rt().left, left = all - rt().held(2);
  CHECK_THAT(text,
             Catch::Contains(std::to_string(kLarge) + " bytes asked for on device 2, which has " +
                             std::to_string(left) + " of " + std::to_string(all) + " left"));
  CHECK(rt().last == cudaSuccess);
  CHECK(calls_of([&] { memory->free(p); }).empty());  // asynchronous
  // The next owner comes after the one that used it.
  CHECK(calls_of([&] { CHECK(memory->allocate(kLarge) == p); }) == Calls{"set 1 in legacy 2"});
  memory->free(p);
  CHECK(calls_of([&] { memory->trim(); }) ==
        Calls{"synchronize 2", "cudaFree " + std::to_string(2 * kLarge)});
  CHECK(rt().held(2) == 0);
}

TEST_CASE("a limit of one device's pool is not another's") {
  constexpr std::size_t kLarge = std::size_t{100} << 20;
  const std::size_t before = pool_of(1).set_limit(kLarge);
  memory_of(0)->free(memory_of(0)->allocate(2 * kLarge));
  const Calls calls = calls_of([&] {
    CHECK_THROWS_WITH(memory_of(1)->allocate(2 * kLarge),
                      "out of memory on device 2: 209715200 bytes asked for, 0 of at most "
                      "104857600 in use");
  });
  CHECK(calls.empty());  // CUDA is not asked
  memory_of(1)->free(memory_of(1)->allocate(kLarge));
  CHECK(pool_of(1).set_limit(before) == kLarge);
  memory_of(0)->trim();
  memory_of(1)->trim();
}

TEST_CASE("a kernel that cannot be loaded for want of memory is started again when there is some") {
  const auto d = make_driver(1);
  d->memory()->free(d->memory()->allocate(1));
  CHECK(rt().held(2) > 0);
  rt().errors["cudaLaunchKernel"] = {cudaErrorMemoryAllocation};
  launch(*d);
  CHECK(rt().held(2) == 0);
  rt().errors["cudaLaunchKernel"] = {cudaErrorMemoryAllocation, cudaErrorMemoryAllocation};
  CHECK_THROWS_AS(launch(*d), OutOfMemoryError);
  CHECK(rt().errors["cudaLaunchKernel"].empty());
}

TEST_CASE("kernels start early where they wait for the one before by themselves") {
  const auto new_device = make_driver(0), old_device = make_driver(1);  // 9.0 and 8.0
  const auto updates = make_driver(0, StreamKind::updates);
  CHECK_THAT(calls_of([&] { launch(*new_device); })[0], Catch::StartsWith("early launch "));
  CHECK_THAT(calls_of([&] { launch(*old_device); })[0], Catch::StartsWith("launch "));
  CHECK_THAT(calls_of([&] { launch(*updates); })[0], Catch::StartsWith("launch "));
}

TEST_CASE("a product of nothing is zero, or adds nothing") {
  const auto d = make_driver(0);
  std::vector<float> c(40, 1);
  Product p = product(nullptr, nullptr, c.data());
  p.k = 0;
  p.batch = 2;
  p.step_c = 20;
  p.n = 2;
  const unsigned products = rt().products;
  d->multiply(p);
  CHECK(std::count(c.begin(), c.end(), 1.0f) == 40);
  p.beta = 0;
  d->multiply(p);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t column = i % 20 / 8, row = i % 20 % 8;
    CHECK(c[i] == (column < 2 && row < 3 ? 0.0f : 1.0f));
  }
  CHECK(rt().products == products);
}

TEST_CASE("factors that cuBLAS does not find are an error of the device") {
  const auto d = make_driver(0);
  float a[9], c[9];
  int pivots[3], info[1];
  float *const as[] = {a}, *const cs[] = {c};
  for (const char* call : {"cublasSgetrfBatched", "cublasSgetriBatched"}) {
    rt().errors[call] = {CUBLAS_STATUS_EXECUTION_FAILED};
    CHECK_THROWS_AS(d->factor({3, 1, as, pivots, info, cs}), DeviceError);
    CHECK(rt().errors[call].empty());
  }
}

TEST_CASE("cuBLAS without memory is out of memory, and not a fault of the device") {
  float x[64] = {};
  const auto multiply = [&] { make_driver(0)->multiply(product(x, x, x)); };
  const std::size_t left = rt().left;
  const auto fails = [&](std::vector<int> errors) { rt().errors["cublasCreate"] = errors; };

  fails({CUBLAS_STATUS_NOT_INITIALIZED});
  CHECK_THROWS_AS(multiply(), DeviceError);
  CHECK(rt().errors["cublasCreate"].empty());
  fails({CUBLAS_STATUS_ALLOC_FAILED});
  CHECK_THROWS_AS(multiply(), OutOfMemoryError);

  rt().left = (std::size_t{200} << 20) + rt().held(0);
  for (const int status : {CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED}) {
    rt().last = cudaErrorMemoryAllocation;
    fails({status, status});
    CHECK_THROWS_AS(multiply(), OutOfMemoryError);
    CHECK(rt().last == cudaSuccess);
    CHECK(rt().errors["cublasCreate"].empty());
  }
  // The pool's unused memory is freed for cuBLAS.
  memory_of(0)->free(memory_of(0)->allocate(1));
  CHECK(rt().held(0) > 0);
  fails({CUBLAS_STATUS_NOT_INITIALIZED});
  CHECK_NOTHROW(multiply());
  CHECK(rt().held(0) == 0);
  rt().left = left;

  for (const char* call : {"cublasSetMathMode", "cublasSetStream", "cublasGemm"}) {
    CHECK_THAT(error_of<DeviceError>(call, CUBLAS_STATUS_EXECUTION_FAILED, multiply),
               Catch::Contains("words of cuBLAS (cuBLAS)"));
    CHECK(rt().handles.empty());
  }
}

TEST_CASE("a stream waits for another one, and nobody else does") {
  const auto a = make_driver(0), b = make_driver(2);
  const Calls calls = calls_of([&] { a->wait_for(*b); });
  REQUIRE(calls.size() == 2);
  const std::string event = calls[0].substr(7, calls[0].find(' ', 7) - 7);
  const std::string of_b = calls[0].substr(calls[0].rfind(' ') + 1),
                    of_a = calls[1].substr(0, calls[1].find(' '));
  CHECK(calls[0] == "record " + event + " in " + of_b);
  CHECK(calls[1] == of_a + " waits for " + event);
  CHECK(of_a != of_b);
  // Marks are told apart, by driver and by number.
  const Calls marks = calls_of([&] {
    for (unsigned k = 0; k < Driver::kMarks; ++k) b->mark(k);
    a->wait_for(*b->marked(1));
    b->wait(1);
    a->wait(1);
  });
  REQUIRE(marks.size() == 6);
  const std::string second = marks[1].substr(7, marks[1].find(' ', 7) - 7);
  CHECK(marks[1] == "record " + second + " in " + of_b);
  CHECK((marks[0] != marks[1] && marks[1] != marks[2] && marks[0] != marks[2]));
  CHECK(marks[3] == of_a + " waits for " + second);
  CHECK(marks[4] == "wait for " + second);
  CHECK(marks[5] != marks[4]);
}

TEST_CASE("updates are in the stream that CUDA orders with all others") {
  const auto d = make_driver(2, StreamKind::updates);
  const Calls calls = calls_of([&] { launch(*d); });
  REQUIRE(calls.size() == 1);
  CHECK_THAT(calls[0], Catch::EndsWith(" in legacy 3"));
  const std::size_t streams = rt().streams.size();
  make_driver(2, StreamKind::updates);
  CHECK(rt().streams.size() == streams);
}

TEST_CASE("memory goes between devices after what both did, and before what both do") {
  const auto &from = memory_of(1), &to = memory_of(2);
  void *const a = from->allocate(8), *const b = to->allocate(8);
  std::memset(a, 5, 8);
  Calls calls = calls_of([&] { to->receive(b, *from, a, 8); });
  CHECK(std::memcmp(a, b, 8) == 0);
  REQUIRE(calls.size() == 5);
  CHECK_THAT(calls[0], Catch::EndsWith(" in legacy 2"));
  CHECK_THAT(calls[1], Catch::StartsWith("legacy 3 waits for "));
  CHECK(calls[2] == "copy 8 of kind 4 in legacy 3");
  CHECK_THAT(calls[3], Catch::EndsWith(" in legacy 3"));
  CHECK_THAT(calls[4], Catch::StartsWith("legacy 2 waits for "));
  CHECK((rt().ways.count({2, 3}) == 1 && rt().ways.count({3, 2}) == 0));
  CHECK(rt().last == cudaSuccess);
  to->receive(b, *from, a, 8);  // the way is open already
  CHECK(rt().last == cudaSuccess);
  from->free(a);
  to->free(b);
}

TEST_CASE("memory is read and written when all work is done, and pinned memory freed then") {
  const auto& memory = memory_of(0);
  const auto d = make_driver(0);
  float x[2] = {1, 2}, y[2] = {};
  auto* const p = memory->allocate(8);
  CHECK(calls_of([&] { memory->write(p, x, 8); }) ==
        Calls{"synchronize 0", "copy 8 of kind 1", "synchronize 0"});
  CHECK(calls_of([&] { memory->read(y, p, 8); }) ==
        Calls{"synchronize 0", "copy 8 of kind 2", "synchronize 0"});
  CHECK((y[0] == 1 && y[1] == 2));
  CHECK(calls_of([&] { memory->read(y, p, 0); }).size() == 2);
  CHECK(calls_of([&] { d->upload(p, x, 0); }).empty());
  memory->free(p);
  void* const pinned = d->allocate_pinned(24);
  const Calls calls = calls_of([&] { d->free_pinned(pinned); });
  REQUIRE(calls.size() == 2);
  CHECK_THAT(calls[0], Catch::StartsWith("synchronize stream "));
  CHECK(calls[1] == "cudaFreeHost 24");
}

TEST_CASE("drivers leave nothing behind") {
  const std::size_t streams = rt().streams.size(), events = rt().events.size();
  float x[64] = {};
  {
    const auto d = make_driver(0);
    d->multiply(product(x, x, x));
    CHECK(rt().handles.size() == 1);
    CHECK(rt().streams.size() == streams + 1);
  }
  CHECK(rt().handles.empty());
  CHECK(rt().streams.size() == streams);
  CHECK(rt().events.size() == events);
}

TEST_CASE("a driver makes no calls when it is destroyed after CUDA has ended") {
  float x[64] = {};
  auto d = make_driver(0);
  d->multiply(product(x, x, x));
  void* const pinned = d->allocate_pinned(8);
  void* const p = d->memory()->allocate(8);
  rt().ended = true;
  const Calls calls = calls_of([&] {
    d->memory()->free(p);
    d->free_pinned(pinned);
    d.reset();  // the played cuBLAS takes no call now
  });
  CHECK(calls.empty());
  rt().ended = false;
  REQUIRE(rt().handles.size() == 1);
  cublas().destroy(static_cast<cublasHandle_t>(const_cast<void*>(*rt().handles.begin())));
  CHECK(rt().handles.empty());
}
