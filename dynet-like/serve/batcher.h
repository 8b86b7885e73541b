#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"

namespace dynet::serve {

/// Refusal of a request since as many as allowed are queued.
struct QueueFull : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// Refusal of a request whose deadline passed while it was queued.
struct DeadlineExceeded : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};
/// Refusal of a request after Batcher::stop.
struct Stopped : StandardError<std::runtime_error> {
  using StandardError::StandardError;
};

/// Bounds of a Batcher.
struct BatchLimits {
  std::size_t most_queued = 1024;  ///< requests that wait
  std::size_t most_requests = 64;  ///< of a batch
  /// Total weight of a batch, unless it is a single request.
  std::size_t most_weight = std::numeric_limits<std::size_t>::max();
  /// How long the first request of a batch waits for further ones.
  std::chrono::microseconds wait{2000};
};

/// Terms of one request.
struct RequestTerms {
  std::size_t weight = 1;  ///< in the units of BatchLimits::most_weight
  /// A request that is still queued at this time is not processed.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Next part of a request that was accepted before: accepted even if the queue is full.
  bool continues = false;
};

/// Queue of the requests of many threads. One worker thread processes them in batches, in the order
/// of their arrival:
///
///     Batcher<Sentence, Tags> tagger([&](std::span<const Sentence> s) { return tag(model, s); });
///     Tags tags = tagger.submit(sentence).get();  // on any number of threads
///
/// The worker begins a batch when it is full, or when its first request has waited as long as the
/// limits say; requests that arrive during a batch make the next one. All members may be called by
/// any thread.
template <class Request, class Answer>
class Batcher {
 public:
  /// Returns an answer for each request, in order. Called by one thread, and again with each single
  /// request of a batch that it threw an exception for.
  using Process = std::function<std::vector<Answer>(std::span<const Request> requests)>;

  explicit Batcher(Process process, const BatchLimits& limits = {});
  ~Batcher() { stop(); }
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// Queues a request. Its future gets the answer, the exception that `process` threw for this
  /// request alone, or DeadlineExceeded; then the worker calls `when_ready`, which must neither
  /// throw nor call `stop`. Throws QueueFull and Stopped.
  std::future<Answer> submit(Request request, const RequestTerms& terms = {},
                             std::function<void()> when_ready = {});

  /// Refuses further requests but those that continue others, and begins batches without waiting.
  void drain();
  /// Refuses further requests, and returns when all queued ones are answered.
  void stop();

  /// Number of requests that wait.
  std::size_t queued() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Item {
    Request request;
    RequestTerms terms;
    std::function<void()> when_ready;
    Clock::time_point arrival;
    std::promise<Answer> promise = {};

    void refuse(const std::exception_ptr& error) {
      promise.set_exception(error);
      if (when_ready) when_ready();
    }
  };

  void work();
  bool has_full_batch() const;
  std::vector<Item> take_batch(std::vector<Item>& expired);
  void answer(std::vector<Item>& batch);
  std::vector<Answer> process(std::span<const Request> requests) const;

  const Process process_;
  const BatchLimits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::size_t weight_ = 0;  ///< of the queue
  bool draining_ = false, stopping_ = false;
  std::mutex joining_;
  std::thread worker_;
};

template <class Request, class Answer>
Batcher<Request, Answer>::Batcher(Process process, const BatchLimits& limits)
    : process_(std::move(process)), limits_(limits) {
  if (!process_) throw ArgumentError("a Batcher needs a function that processes requests");
  if (limits.most_queued == 0 || limits.most_requests == 0)
    throw ArgumentError("a Batcher needs room for a request in its queue and in its batches");
  worker_ = std::thread([this] { work(); });
}

template <class Request, class Answer>
std::future<Answer> Batcher<Request, Answer>::submit(Request request, const RequestTerms& terms,
                                                     std::function<void()> when_ready) {
  Item item{std::move(request), terms, std::move(when_ready), Clock::now()};
  std::future<Answer> answer = item.promise.get_future();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_ || (draining_ && !terms.continues))
      throw Stopped("the batcher is stopping and accepts no requests");
    if (queue_.size() >= limits_.most_queued && !terms.continues)
      throw QueueFull(std::to_string(queue_.size()) + " requests are queued, as many as allowed");
    queue_.push_back(std::move(item));
    weight_ += terms.weight;
  }
  changed_.notify_one();
  return answer;
}

template <class Request, class Answer>
void Batcher<Request, Answer>::drain() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    draining_ = true;
  }
  changed_.notify_one();
}

template <class Request, class Answer>
void Batcher<Request, Answer>::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    draining_ = stopping_ = true;
  }
  changed_.notify_one();
  const std::lock_guard<std::mutex> lock(joining_);
  if (worker_.joinable()) worker_.join();
}

template <class Request, class Answer>
std::size_t Batcher<Request, Answer>::queued() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.size();
}

template <class Request, class Answer>
bool Batcher<Request, Answer>::has_full_batch() const {
  return queue_.size() >= limits_.most_requests || weight_ >= limits_.most_weight;
}

template <class Request, class Answer>
void Batcher<Request, Answer>::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Clock::time_point begin = queue_.front().arrival + limits_.wait;
    changed_.wait_until(lock, begin, [&] { return draining_ || has_full_batch(); });
    std::vector<Item> expired, batch = take_batch(expired);
    lock.unlock();
    for (Item& item : expired)
      item.refuse(std::make_exception_ptr(
          DeadlineExceeded("the deadline passed while the request was queued")));
    if (!batch.empty()) answer(batch);
    lock.lock();
  }
}

template <class Request, class Answer>
auto Batcher<Request, Answer>::take_batch(std::vector<Item>& expired) -> std::vector<Item> {
  std::vector<Item> batch;
  std::size_t weight = 0;
  const Clock::time_point now = Clock::now();
  while (!queue_.empty() && batch.size() < limits_.most_requests) {
    Item& first = queue_.front();
    const std::size_t own = first.terms.weight;
    const bool is_expired = first.terms.deadline <= now;
    if (!is_expired && !batch.empty() && weight + own > limits_.most_weight) break;
    if (!is_expired) weight += own;
    (is_expired ? expired : batch).push_back(std::move(first));
    queue_.pop_front();
    weight_ -= own;
  }
  return batch;
}

template <class Request, class Answer>
std::vector<Answer> Batcher<Request, Answer>::process(std::span<const Request> requests) const {
  std::vector<Answer> answers = process_(requests);
  if (answers.size() != requests.size())
    throw ArgumentError("processing " + std::to_string(requests.size()) + " requests returned " +
                        std::to_string(answers.size()) + " answers");
  return answers;
}

template <class Request, class Answer>
void Batcher<Request, Answer>::answer(std::vector<Item>& batch) {
  std::vector<Request> requests;
  for (Item& item : batch) requests.push_back(std::move(item.request));
  const auto answer_range = [&](std::size_t begin, std::size_t end) -> std::exception_ptr {
    std::vector<Answer> answers;
    try {
      answers = process(std::span(requests).subspan(begin, end - begin));
    } catch (...) {
      return std::current_exception();
    }
    for (std::size_t i = begin; i < end; ++i) {
      batch[i].promise.set_value(std::move(answers[i - begin]));
      if (batch[i].when_ready) batch[i].when_ready();
    }
    return nullptr;
  };
  const std::exception_ptr failed = answer_range(0, batch.size());
  if (failed && batch.size() == 1) return batch[0].refuse(failed);
  for (std::size_t i = 0; failed && i < batch.size(); ++i)  // the fault of one fails no other
    if (const std::exception_ptr own = answer_range(i, i + 1)) batch[i].refuse(own);
}

}  // namespace dynet::serve
