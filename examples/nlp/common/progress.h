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

/// Shows how far a piece of work is: "epoch 2: 50 % (102,300 of 204,577 words), 41,200 words/s, 12
/// s left, loss 0.31". On a terminal this is one line, cut to the width, redrawn in place at most
/// four times a second, and taken away at the end. Elsewhere a line follows each of `steps` equal
/// steps but the last, whose result the caller prints.
class Progress {
 public:
  struct Output {
    std::ostream* stream = nullptr;  ///< null: nothing is shown
    bool terminal = false;
    std::function<std::size_t()>
        columns;                    ///< that a line on a terminal may fill, asked before each
    std::function<double()> clock;  ///< seconds from any start, never going back
  };

  /// `done_before` units were done before the work started, as in a run that is resumed.
  Progress(Output output, std::string label, std::string unit, std::size_t total,
           std::size_t done_before = 0, std::size_t steps = 4);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units, those before the start included, are finished.
  void update(std::size_t done, const std::string& note = "");

 private:
  /// How many of `parts` equal parts of the work are whole.
  std::size_t parts_done(std::size_t done, std::size_t parts) const;

  Output output_;
  std::string label_, unit_;
  std::size_t total_, done_before_, steps_, printed_;
  double started_, drawn_;
  bool shown_ = false;
};

/// Standard error, whether it is a terminal or not.
Progress::Output standard_error_output();

}  // namespace nlp
