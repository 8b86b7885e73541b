#include "examples/nlp/common/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <utility>

namespace nlp {
namespace {

constexpr std::size_t kWidestBar = 40;
constexpr std::size_t kNarrowestBar = 5;
constexpr std::size_t kUsualColumns = 80;
constexpr double kRedrawSeconds = 0.1;

double fraction(const Step& step) {
  if (step.total == 0) return 1.0;
  return std::min(1.0, static_cast<double>(step.done) / static_cast<double>(step.total));
}

std::string percentage(const Step& step) {
  char text[16];
  std::snprintf(text, sizeof text, "%d %%", static_cast<int>(100.0 * fraction(step)));
  return text;
}

/// ", 41,200 words/s, 12 s left, loss 0.31" as far as it is known.
std::string details(const Step& step) {
  std::string text;
  const double per_second = rate(step);
  if (per_second > 0) {
    text += with_commas(static_cast<std::size_t>(std::llround(per_second))) + " " + step.unit +
            "/s, " + duration(seconds_left(step)) + " left";
  }
  if (!step.note.empty()) text += (text.empty() ? "" : ", ") + step.note;
  return text;
}

}  // namespace

std::string with_commas(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string duration(double seconds) {
  char text[40];
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1f s", std::max(0.0, seconds));
    return text;
  }
  const long long whole = std::llround(std::min(seconds, 1e15));
  if (whole < 60) {
    std::snprintf(text, sizeof text, "%lld s", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  }
  return text;
}

double rate(const Step& step) {
  if (step.seconds <= 0 || step.done <= step.done_before) return 0;
  return static_cast<double>(step.done - step.done_before) / step.seconds;
}

double seconds_left(const Step& step) {
  if (step.done >= step.total) return 0;
  const double per_second = rate(step);
  return per_second > 0 ? static_cast<double>(step.total - step.done) / per_second : -1.0;
}

std::string bar_line(const Step& step, std::size_t columns) {
  const std::string head = step.label + " ";
  const std::string tail = " " + percentage(step) + "  " + details(step);
  std::string line = head;
  const std::size_t used = head.size() + 2 + tail.size();
  if (columns >= used + kNarrowestBar) {
    const std::size_t width = std::min(kWidestBar, columns - used);
    const auto full = static_cast<std::size_t>(fraction(step) * static_cast<double>(width));
    line += "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
  }
  line += tail;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() > columns) line.resize(columns);
  return line;
}

std::string plain_line(const Step& step) {
  std::string line = step.label + ": " + percentage(step) + " (" + with_commas(step.done) + " of " +
                     with_commas(step.total) + " " + step.unit + ")";
  const std::string rest = details(step);
  if (!rest.empty()) line += ", " + rest;
  return line;
}

Progress::Progress(const Output& output, std::string label, std::string unit, std::size_t total,
                   std::size_t done_before, std::size_t steps)
    : output_(output),
      started_(output.clock ? output.clock() : 0.0),
      drawn_(started_),
      steps_(steps) {
  step_.label = std::move(label);
  step_.unit = std::move(unit);
  step_.total = total;
  step_.done = done_before;
  step_.done_before = done_before;
  printed_ = static_cast<std::size_t>(fraction(step_) * static_cast<double>(steps_));
}

Progress::~Progress() { finish(); }

void Progress::update(std::size_t done, const std::string& note) {
  if (output_.stream == nullptr) return;
  step_.done = done;
  const double now = output_.clock ? output_.clock() : 0.0;
  step_.seconds = now - started_;
  if (output_.terminal) {
    if (now - drawn_ < kRedrawSeconds) return;
    step_.note = note;
    *output_.stream << '\r' << bar_line(step_, output_.columns ? output_.columns() : kUsualColumns)
                    << "\x1b[K" << std::flush;
    drawn_ = now;
    shown_ = true;
    return;
  }
  const auto due = static_cast<std::size_t>(fraction(step_) * static_cast<double>(steps_));
  if (due <= printed_ || done >= step_.total) return;
  printed_ = due;
  step_.note = note;
  *output_.stream << plain_line(step_) << '\n' << std::flush;
}

void Progress::finish() {
  if (output_.terminal && shown_) *output_.stream << "\r\x1b[K" << std::flush;
  shown_ = false;
}

Progress::Output standard_error_output() {
  Progress::Output output;
  output.stream = &std::cerr;
  output.terminal = isatty(STDERR_FILENO) != 0;
  output.columns = [] {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1u
                 : kUsualColumns;  // the last column would wrap on some terminals
  };
  output.clock = [start = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  return output;
}

}  // namespace nlp
