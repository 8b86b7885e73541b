#include "dynet-like/base/workers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace dynet {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Until `done`, or for about as long as falling asleep and waking up takes.
template <class F>
bool spin(F done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  do
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause();
    }
  while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

Workers::Workers(unsigned threads) {
  try {
    for (unsigned t = 1; t < threads; ++t) threads_.emplace_back([this] { loop(); });
  } catch (...) {
    stop_ = true;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& t : threads_) t.join();
    throw;
  }
}

Workers::~Workers() {
  stop_ = true;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool Workers::is_one_of_us() const {
  const std::thread::id me = std::this_thread::get_id();
  return caller_.load(std::memory_order_relaxed) == me ||
         std::any_of(threads_.begin(), threads_.end(),
                     [&](const std::thread& t) { return t.get_id() == me; });
}

void Workers::run(unsigned jobs, const std::function<void(unsigned)>& f) {
  if (is_one_of_us()) return run_alone(jobs, f);
  const std::lock_guard one_call(calls_);
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  try {
    share_out(jobs, f);
  } catch (...) {
    caller_.store({}, std::memory_order_relaxed);
    throw;
  }
  caller_.store({}, std::memory_order_relaxed);
}

// Inside a job the others are busy.
void Workers::run_alone(unsigned jobs, const std::function<void(unsigned)>& f) {
  std::exception_ptr failed;
  for (unsigned job = 0; job < jobs; ++job) try {
      f(job);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
}

void Workers::share_out(unsigned jobs, const std::function<void(unsigned)>& f) {
  f_ = &f;
  done_.store(0, std::memory_order_relaxed);
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  open_.store(std::uint64_t{round} << 32 | jobs, std::memory_order_release);
  if (!threads_.empty() && jobs > 1) {
    round_.store(round, std::memory_order_release);
    round_.notify_all();
  }
  work(round);
  const auto done = [&] { return done_.load(std::memory_order_acquire) == jobs; };
  while (!spin(done)) {
    const unsigned some = done_.load(std::memory_order_acquire);
    if (some != jobs) done_.wait(some, std::memory_order_acquire);
  }
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

void Workers::loop() {
  for (std::uint32_t seen = 0;;) {
    if (!spin([&] { return round_.load(std::memory_order_acquire) != seen; }))
      round_.wait(seen, std::memory_order_acquire);
    if (stop_) return;
    seen = round_.load(std::memory_order_acquire);
    work(seen);
  }
}

// Does jobs of this round as long as there are any left.
void Workers::work(std::uint32_t round) {
  for (std::uint64_t open = open_.load(std::memory_order_acquire);;) {
    const auto left = static_cast<std::uint32_t>(open);
    if (open >> 32 != round || left == 0) return;
    if (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
      continue;
    const unsigned job = left - 1;
    try {
      (*f_)(job);
    } catch (...) {
      const std::lock_guard lock(failed_mutex_);
      if (!failed_ || job < failed_job_) {
        failed_ = std::current_exception();
        failed_job_ = job;
      }
    }
    done_.fetch_add(1, std::memory_order_acq_rel);
    done_.notify_one();
    open = open_.load(std::memory_order_acquire);
  }
}

}  // namespace dynet
