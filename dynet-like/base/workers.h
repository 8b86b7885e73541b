#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dynet {

/// Thread pool that runs numbered jobs; the threads persist between calls.
///
/// Samples of one update on several threads, with a result independent of the number of threads:
///
///     Workers workers(threads);
///     workers.run(4, [&](unsigned shard) {
///       ComputationGraph cg;
///       cg.set_gradient_buffer(shard);   // gradients are summed in order of shards
///       cg.set_seed(...);              // for graphs with random nodes
///       cg.backward(loss of the samples of this shard);
///     });
///     trainer.update();
class Workers {
 public:
  /// Pool of `threads` threads, including the caller of `run`.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Number of threads, including the caller.
  unsigned threads() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls f(job) once for every job below `jobs`, on any of the threads, and returns after all
  /// jobs. Exceptions: rethrows that of the lowest failed job. Concurrent calls run one after
  /// another; a call from inside a job of the same Workers runs all its jobs on the calling thread.
  void run(unsigned jobs, const std::function<void(unsigned job)>& f);

 private:
  void stop();
  bool is_one_of_us() const;
  void share_out(unsigned jobs, const std::function<void(unsigned)>& f);
  void work(std::unique_lock<std::mutex>& lock);

  std::vector<std::thread> threads_;
  std::mutex calls_;                       // held during `run`
  std::atomic<std::thread::id> caller_{};  // thread inside `run`
  // State of the current `run`, guarded by `mutex_`.
  std::mutex mutex_;
  std::condition_variable work_, done_;
  const std::function<void(unsigned)>* f_ = nullptr;
  unsigned next_ = 0, jobs_ = 0, running_ = 0;
  unsigned failed_job_ = 0;
  std::exception_ptr failed_;
  bool stop_ = false;
};

}  // namespace dynet
