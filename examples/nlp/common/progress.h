#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

namespace nlp {

/// "1,234,567"
std::string with_commas(std::size_t number);

/// Seconds as "0.4 s" (below ten), "42 s", "1:05" or "2:03:09".
std::string duration(double seconds);

/// Progress bar: "epoch 2: 50 % (102,300 of 204,577 words), 41,200 words/s, 12 s left, loss 0.31".
/// On a terminal it is one line, cut to the width, redrawn at most four times a second, and erased
/// at the end. Otherwise a line is printed after each of `steps` equal steps except the last, whose
/// result the caller prints.
class Progress {
 public:
  struct Output {
    std::ostream* stream = nullptr;  ///< null: no output
    bool terminal = false;
    std::function<std::size_t()> columns;  ///< width of a line on a terminal, read before each
    std::function<double()> clock;         ///< seconds from any start, monotonic
  };

  /// `done_before` units were finished before the start, as in a resumed run.
  Progress(Output output, std::string label, std::string unit, std::size_t total,
           std::size_t done_before = 0, std::size_t steps = 4);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units are finished, including those before the start.
  void update(std::size_t done, const std::string& note = "");

 private:
  /// Number of finished parts, of `parts` equal ones.
  std::size_t parts_done(std::size_t done, std::size_t parts) const;

  Output output_;
  std::string label_, unit_;
  std::size_t total_, done_before_, steps_, printed_;
  double started_, drawn_;
  bool shown_ = false;
};

/// Standard error, whether a terminal or not.
Progress::Output standard_error_output();

}  // namespace nlp
