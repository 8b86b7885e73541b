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

/// A moment in a piece of work.
struct Step {
  std::string label;     ///< "epoch 2"
  std::string unit;      ///< "words"
  std::size_t done = 0;  ///< units
  std::size_t total = 0;
  std::size_t done_before = 0;  ///< units done before the clock started, as after a resume
  double seconds = 0;           ///< since the clock started
  std::string note;             ///< "loss 0.31", may be empty
};

/// Units per second so far, 0 if no time has passed.
double rate(const Step& step);
/// Seconds to go at that rate; 0 when done, negative if unknown.
double seconds_left(const Step& step);

/// One line without the end of line, at most `columns` wide:
/// "epoch 2 [#####.....]  50 %  41,200 words/s, 0:12 left, loss 0.31". The bar shrinks first, then
/// the end is cut.
std::string bar_line(const Step& step, std::size_t columns);

/// The same for a log: "epoch 2: 50 % (102,300 of 204,577 words), 41,200 words/s, 12 s left, ...".
std::string plain_line(const Step& step);

/// Shows how far a piece of work is. On a terminal a bar that is redrawn in place, at most ten
/// times a second, and taken away at the end; otherwise a plain line after each of `steps` equal
/// steps but the last, whose result the caller prints.
class Progress {
 public:
  struct Output {
    std::ostream* stream = nullptr;  ///< null: nothing is shown
    bool terminal = false;
    std::function<std::size_t()> columns;  ///< that a line may fill, asked before each; null: 80
    std::function<double()> clock;         ///< seconds from any start, never going back
  };

  Progress(const Output& output, std::string label, std::string unit, std::size_t total,
           std::size_t done_before = 0, std::size_t steps = 4);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units, those before the start included, are finished.
  void update(std::size_t done, const std::string& note = "");
  /// Ends the display; the destructor does so too.
  void finish();

 private:
  Output output_;
  Step step_;
  double started_;
  double drawn_;  ///< when the bar was last drawn
  std::size_t steps_;
  std::size_t printed_;
  bool shown_ = false;
};

/// Progress on standard error: a bar if it is a terminal, plain lines otherwise.
Progress::Output standard_error_output();

}  // namespace nlp
