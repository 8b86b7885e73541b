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

constexpr double kRedrawSeconds = 0.25;

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

Progress::Progress(Output output, std::string label, std::string unit, std::size_t total,
                   std::size_t done_before, std::size_t steps)
    : output_(std::move(output)),
      label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      done_before_(done_before),
      steps_(steps),
      printed_(parts_done(done_before, steps)),
      started_(output_.stream ? output_.clock() : 0),
      drawn_(started_) {}

Progress::~Progress() {
  if (shown_) *output_.stream << "\r\x1b[K" << std::flush;
}

std::size_t Progress::parts_done(std::size_t done, std::size_t parts) const {
  return total_ == 0 ? parts : std::min(done, total_) * parts / total_;
}

void Progress::update(std::size_t done, const std::string& note) {
  if (!output_.stream) return;
  const double now = output_.clock(), seconds = now - started_;
  const std::size_t step = parts_done(done, steps_);
  if (output_.terminal ? now - drawn_ < kRedrawSeconds : step <= printed_ || done >= total_) return;
  drawn_ = now;
  printed_ = step;
  std::string line = label_ + ": " + std::to_string(parts_done(done, 100)) + " % (" +
                     with_commas(done) + " of " + with_commas(total_) + " " + unit_ + ")";
  if (seconds > 0 && done > done_before_) {
    const double per_second = static_cast<double>(done - done_before_) / seconds;
    const auto left = static_cast<double>(total_ - std::min(done, total_));
    line += ", " + with_commas(static_cast<std::size_t>(std::llround(per_second))) + " " + unit_ +
            "/s, " + duration(left / per_second) + " left";
  }
  if (!note.empty()) line += ", " + note;
  shown_ = output_.terminal;
  if (shown_)
    *output_.stream << '\r' << line.substr(0, output_.columns()) << "\x1b[K" << std::flush;
  else
    *output_.stream << line << '\n' << std::flush;
}

Progress::Output standard_error_output() {
  Progress::Output output;
  output.stream = &std::cerr;
  output.terminal = isatty(STDERR_FILENO) != 0;
  output.columns = [] {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return (known ? size.ws_col : 80u) - 1u;  // some terminals wrap after the last column
  };
  output.clock = [start = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  return output;
}

}  // namespace nlp
