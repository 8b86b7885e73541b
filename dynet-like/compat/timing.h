#pragma once

#include <chrono>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>

#include "dynet-like/compat/print.h"
#include "dynet-like/compat/standard.h"

namespace dynet {

/// Measures milliseconds since its construction.
class Timing {
 public:
  double stop() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Prints `[message 12.5 ms]` to the standard error stream at the end of its scope.
class Timer {
 public:
  explicit Timer(const std::string& message) : message_(message) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    std::ostringstream text;
    text << '[' << message_ << ' ' << timing_.stop() << " ms]\n";
    print_to_standard_error(text.str());
  }

 private:
  std::string message_;
  Timing timing_;
};

/// Milliseconds, summed by name.
class NamedTimer {
 public:
  void start(const std::string& name) { running_[name] = Timing(); }
  /// No effect if the name was not started.
  void stop(const std::string& name) {
    if (const auto t = running_.find(name); t != running_.end()) {
      totals_[name] += t->second.stop();
      running_.erase(t);
    }
  }
  double total(const std::string& name) const {
    const auto t = totals_.find(name);
    return t == totals_.end() ? 0 : t->second;
  }
  /// Prints a line for each name to the standard error stream.
  void show() const {
    std::ostringstream text;
    for (const auto& [name, ms] : totals_) text << name << ": " << ms << " ms\n";
    print_to_standard_error(text.str());
  }

 private:
  std::map<std::string, Timing> running_;
  std::map<std::string, double> totals_;
};

}  // namespace dynet
