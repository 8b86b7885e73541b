#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace nlp {

/// Counts of a server since its start, in the text format of Prometheus
/// (https://prometheus.io/docs/instrumenting/exposition_formats). All members but `add_batch`
/// belong to one thread.
class Metrics {
 public:
  /// `program`: with which the names begin.
  explicit Metrics(std::string program) : program_(std::move(program)) {}

  /// An answer with its status, and the time since the request was read.
  void add_answer(unsigned status, std::chrono::duration<double> time);
  /// Texts that were processed together; may be called by any thread.
  void add_batch(std::size_t texts);
  void add_reload(bool succeeded);

  /// The text; `queued` texts wait now.
  std::string text(std::size_t queued) const;

 private:
  /// Upper bounds of the intervals of a histogram, in seconds; the last interval has none.
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                         0.5,   1.0,  2.5,   5.0,  10.0};

  const std::string program_;
  std::map<unsigned, std::uint64_t> answers_;  ///< by status
  std::array<std::uint64_t, kBounds.size() + 1> intervals_ = {};
  double seconds_ = 0;
  std::atomic<std::uint64_t> batches_ = 0, texts_ = 0;
  std::uint64_t reloads_ = 0, failed_reloads_ = 0;
};

}  // namespace nlp
