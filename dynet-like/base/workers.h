#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dynet {

/// Threads that share out work, kept between calls: handing work over takes well under a
/// microsecond while calls follow each other closely, and idle threads sleep.
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
  /// threads wait for each other; one from inside a job of the same Workers, also by a graph that
  /// they help to run, does all its jobs on the thread that makes it.
  void run(unsigned jobs, const std::function<void(unsigned job)>& f);

 private:
  bool is_one_of_us() const;
  void run_alone(unsigned jobs, const std::function<void(unsigned)>& f);
  void share_out(unsigned jobs, const std::function<void(unsigned)>& f);
  void loop();
  void work(std::uint32_t round);

  std::vector<std::thread> threads_;
  std::mutex calls_;                       // held while a call shares out its jobs
  std::atomic<std::thread::id> caller_{};  // who makes it
  // What is being run: a job that is claimed is one less in `open_`, whose upper half counts the
  // calls of `run`, so that a thread that comes late claims nothing of the next one. `f_` is looked
  // at only by who has claimed a job.
  const std::function<void(unsigned)>* f_ = nullptr;
  std::atomic<std::uint64_t> open_{0};
  std::atomic<unsigned> done_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<bool> stop_{false};
  std::mutex failed_mutex_;
  unsigned failed_job_ = 0;
  std::exception_ptr failed_;
};

}  // namespace dynet
