#include "dynet-like/serve/batcher.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>

#include "tests/support/catch.h"

namespace batcher_test {

using namespace dynet::serve;
using dynet::ArgumentError;
using Batches = std::vector<std::vector<int>>;

namespace {

/// Doubles numbers. A negative one fails its batch; zero makes the worker wait for `go_on`.
struct Doubling {
  explicit Doubling(BatchLimits limits = {}) : limits_(limits) {}
  std::vector<int> operator()(std::span<const int> numbers) {
    batches.emplace_back(numbers.begin(), numbers.end());
    std::vector<int> doubled;
    for (const int number : numbers) {
      if (number < 0) throw std::domain_error("negative");
      if (number == 0) {
        is_waiting.release();
        go_on.acquire();
      }
      doubled.push_back(2 * number);
    }
    return doubled;
  }
  std::future<int> submit(int number, const RequestTerms& terms = {}) {
    return batcher.submit(number, terms);
  }
  /// Keeps the worker from the queue until `go_on` is released.
  std::future<int> occupy() {
    std::future<int> zero = submit(0);
    is_waiting.acquire();
    return zero;
  }

  BatchLimits limits_;
  std::counting_semaphore<> is_waiting{0}, go_on{0};
  Batches batches;
  Batcher<int, int> batcher{[this](std::span<const int> numbers) { return (*this)(numbers); },
                            limits_};
};

}  // namespace

TEST_CASE("Batcher makes a batch of the requests that are queued, within its bounds") {
  Doubling doubling({.most_requests = 4, .most_weight = 10, .wait = {}});
  std::future<int> first = doubling.occupy();
  std::vector<std::future<int>> rest;
  for (const int weight : {1, 1, 1, 1, 9, 2, 30, 1})
    rest.push_back(doubling.submit(weight, {.weight = static_cast<std::size_t>(weight)}));
  CHECK(doubling.batcher.queued() == 8);
  doubling.go_on.release();
  CHECK(first.get() == 0);
  std::vector<int> answers;
  for (std::future<int>& answer : rest) answers.push_back(answer.get());
  CHECK(answers == std::vector<int>{2, 2, 2, 2, 18, 4, 60, 2});
  doubling.batcher.stop();
  CHECK(doubling.batches == Batches{{0}, {1, 1, 1, 1}, {9}, {2}, {30}, {1}});
}

TEST_CASE("Batcher waits for a full batch") {
  Doubling doubling({.most_requests = 3, .wait = std::chrono::hours(1)});
  std::vector<std::future<int>> answers;
  for (int i = 1; i <= 3; ++i) answers.push_back(doubling.submit(i));
  for (int i = 1; i <= 3; ++i) CHECK(answers[static_cast<std::size_t>(i) - 1].get() == 2 * i);
  std::future<int> last = doubling.submit(4);
  doubling.batcher.stop();  // ends the wait
  CHECK(last.get() == 8);
  CHECK(doubling.batches == Batches{{1, 2, 3}, {4}});
}

TEST_CASE("Batcher refuses what exceeds its queue, a deadline or its life") {
  Doubling doubling({.most_queued = 2, .wait = {}});
  std::future<int> first = doubling.occupy();
  const auto now = std::chrono::steady_clock::now();
  std::future<int> late = doubling.submit(1, {.deadline = now});
  std::future<int> good = doubling.submit(2, {.deadline = now + std::chrono::hours(1)});
  CHECK_THROWS_AS(doubling.submit(3), QueueFull);
  std::future<int> part = doubling.submit(4, {.continues = true});
  doubling.go_on.release();
  CHECK_THROWS_AS(late.get(), DeadlineExceeded);
  CHECK(good.get() == 4);
  CHECK(part.get() == 8);
  doubling.batcher.stop();
  doubling.batcher.stop();
  CHECK_THROWS_AS(doubling.submit(5), Stopped);
  CHECK(doubling.batches == Batches{{0}, {2, 4}});
  CHECK_THROWS_AS(Doubling({.most_queued = 0}), ArgumentError);
  CHECK_THROWS_AS(Doubling({.most_requests = 0}), ArgumentError);
}

TEST_CASE("Batcher: a request that fails gets its exception, its neighbours their answers") {
  Doubling doubling({.wait = {}});
  std::future<int> first = doubling.occupy(), one = doubling.submit(1), bad = doubling.submit(-1),
                   two = doubling.submit(2);
  doubling.go_on.release();
  CHECK(one.get() == 2);
  CHECK_THROWS_AS(bad.get(), std::domain_error);
  CHECK(two.get() == 4);
  CHECK(doubling.submit(3).get() == 6);
  CHECK_THROWS_AS(doubling.submit(-3).get(), std::domain_error);
  doubling.batcher.stop();
  CHECK(doubling.batches == Batches{{0}, {1, -1, 2}, {1}, {-1}, {2}, {3}, {-3}});
  Batcher<int, int> careless([](std::span<const int>) { return std::vector<int>(2); });
  CHECK_THROWS_AS(careless.submit(1).get(), ArgumentError);
}

TEST_CASE("Batcher answers each of many threads, whose requests may only be moved") {
  constexpr int kThreads = 32, kRequests = 200;
  using Request = std::unique_ptr<int>;
  Batcher<Request, int> batcher(
      [](std::span<const Request> requests) {
        std::vector<int> answers;
        for (const Request& request : requests) answers.push_back(*request + 1);
        return answers;
      },
      {.wait = std::chrono::microseconds(50)});
  std::atomic<int> right = 0, ready = 0, refused = 0;
  std::latch all_but_some(kThreads * kRequests / 2);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kRequests; ++i) {
        const int number = thread * kRequests + i;
        try {
          right += batcher.submit(std::make_unique<int>(number), {}, [&] { ++ready; }).get() ==
                   number + 1;
        } catch (const Stopped&) {
          ++refused;
        }
        if (i < kRequests / 2) all_but_some.count_down();
      }
    });
  all_but_some.wait();
  batcher.stop();
  for (std::thread& thread : threads) thread.join();
  CHECK(right + refused == kThreads * kRequests);
  CHECK(right >= kThreads * kRequests / 2);
  CHECK(right == ready);
}

TEST_CASE("A draining Batcher takes only what continues accepted requests, and does not wait") {
  Doubling doubling({.wait = std::chrono::hours(1)});
  std::future<int> first = doubling.submit(1);
  doubling.batcher.drain();
  CHECK(first.get() == 2);
  CHECK_THROWS_AS(doubling.submit(2), Stopped);
  CHECK(doubling.submit(3, {.continues = true}).get() == 6);
  doubling.batcher.stop();
  CHECK_THROWS_AS(doubling.submit(4, {.continues = true}), Stopped);
}

}  // namespace batcher_test
