#include "dynet-like/base/workers.h"

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

void Workers::run(unsigned jobs, const std::function<void(unsigned)>& f) {
  f_ = &f;
  jobs_ = jobs;
  next_.store(0, std::memory_order_relaxed);
  idle_.store(0, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work();
  const auto all = static_cast<unsigned>(threads_.size());
  const auto done = [&] { return idle_.load(std::memory_order_acquire) == all; };
  while (!spin(done)) {
    const unsigned idle = idle_.load(std::memory_order_acquire);
    if (idle != all) idle_.wait(idle, std::memory_order_acquire);
  }
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

void Workers::loop() {
  for (std::uint32_t seen = 0;;) {
    if (!spin([&] { return round_.load(std::memory_order_acquire) != seen; }))
      round_.wait(seen, std::memory_order_acquire);
    if (stop_) return;
    ++seen;
    work();
    idle_.fetch_add(1, std::memory_order_acq_rel);
    idle_.notify_one();
  }
}

void Workers::work() {
  for (unsigned job; (job = next_.fetch_add(1, std::memory_order_relaxed)) < jobs_;) try {
      (*f_)(job);
    } catch (...) {
      const std::lock_guard lock(failed_mutex_);
      if (!failed_ || job < failed_job_) {
        failed_ = std::current_exception();
        failed_job_ = job;
      }
    }
}

}  // namespace dynet
