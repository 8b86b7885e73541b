#pragma once

#include <signal.h>

#include <array>
#include <exception>

namespace program {

/// As long as it lives, a first SIGINT, SIGTERM or SIGHUP only asks the program to stop where
/// nothing is lost, and a second one ends it at once, as `run` says; what is ignored stays ignored.
/// There is one at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The signal that came to the one that lives, or to the last one; 0: none.
  static int received();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// "SIGINT"
const char* signal_name(int signal);

/// Thrown where a program that was asked to stop has done so: `run` ends it by that signal.
class Stopped : public std::exception {
 public:
  explicit Stopped(int signal) : signal_(signal) {}
  int signal() const { return signal_; }
  const char* what() const noexcept override { return "stopped by a signal"; }

 private:
  int signal_;
};

}  // namespace program
