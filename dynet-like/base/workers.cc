#include "dynet-like/base/workers.h"

#include <algorithm>
#include <utility>

namespace dynet {

Workers::Workers(unsigned threads) {
  try {
    for (unsigned t = 1; t < threads; ++t)
      threads_.emplace_back([this] {
        std::unique_lock lock(mutex_);
        while (!stop_) {
          work(lock);
          work_.wait(lock, [&] { return stop_ || next_ < jobs_; });
        }
      });
  } catch (...) {
    stop();
    throw;
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool Workers::is_one_of_us() const {
  const std::thread::id me = std::this_thread::get_id();
  return caller_.load(std::memory_order_relaxed) == me ||
         std::any_of(threads_.begin(), threads_.end(),
                     [&](const std::thread& t) { return t.get_id() == me; });
}

void Workers::run(unsigned jobs, const std::function<void(unsigned)>& f) {
  if (!is_one_of_us()) return share_out(jobs, f);
  std::exception_ptr failed;
  for (unsigned job = 0; job < jobs; ++job) try {
      f(job);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
}

void Workers::share_out(unsigned jobs, const std::function<void(unsigned)>& f) {
  const std::lock_guard one_call(calls_);
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  f_ = &f;
  next_ = 0;
  jobs_ = jobs;
  if (jobs > 1) work_.notify_all();
  work(lock);
  done_.wait(lock, [&] { return running_ == 0; });
  caller_.store({}, std::memory_order_relaxed);
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

// Runs jobs until none is left. The lock is released while a job runs.
void Workers::work(std::unique_lock<std::mutex>& lock) {
  while (next_ < jobs_) {
    const unsigned job = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr failed;
    try {
      (*f_)(job);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    if (failed && (!failed_ || job < failed_job_)) {
      failed_ = failed;
      failed_job_ = job;
    }
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace dynet
