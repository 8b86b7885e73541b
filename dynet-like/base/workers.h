#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dynet {

/// Threads that share out jobs, kept between calls.
///
/// Samples of one update on several threads, with the same result for any number of them:
///
///     Workers workers(threads);
///     workers.run(4, [&](unsigned shard) {
///       ComputationGraph cg;
///       cg.set_gradient_buffer(shard);   // gradients are added up shard by shard
///       cg.set_seed(...);              // if the graph draws at random
///       cg.backward(loss of the samples of this shard);
///     });
///     trainer.update();
class Workers {
 public:
  /// `threads` in all; the thread that calls `run` is one of them.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// How many there are, the caller's included.
  unsigned threads() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls f(job) once for every job below `jobs`, on any of the threads, and returns when all are
  /// done. If some throw, the exception of the first of those jobs is thrown then. Calls of several
  /// threads wait for each other; one from inside a job of the same Workers does all its jobs on
  /// the thread that makes it.
  void run(unsigned jobs, const std::function<void(unsigned job)>& f);

 private:
  void stop();
  bool is_one_of_us() const;
  void share_out(unsigned jobs, const std::function<void(unsigned)>& f);
  void work(std::unique_lock<std::mutex>& lock);

  std::vector<std::thread> threads_;
  std::mutex calls_;                       // held while a call shares out its jobs
  std::atomic<std::thread::id> caller_{};  // who makes it
  // The call that is being run, guarded by `mutex_`.
  std::mutex mutex_;
  std::condition_variable work_, done_;
  const std::function<void(unsigned)>* f_ = nullptr;
  unsigned next_ = 0, jobs_ = 0, running_ = 0;
  unsigned failed_job_ = 0;
  std::exception_ptr failed_;
  bool stop_ = false;
};

}  // namespace dynet
