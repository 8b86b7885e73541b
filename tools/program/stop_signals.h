#pragma once

#include <signal.h>

#include <array>
#include <exception>

namespace program {

/// During its lifetime, a first SIGINT, SIGTERM or SIGHUP only requests a stop at a safe point, and
/// a second one ends the program immediately, see `run`; ignored signals remain ignored. At most
/// one object may exist.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// Signal received during the lifetime of the current or last object; 0: none.
  static int received();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// "SIGINT"
const char* signal_name(int signal);

/// Thrown by a program that has stopped as requested: `run` ends it by that signal.
class Stopped : public std::exception {
 public:
  explicit Stopped(int signal) : signal_(signal) {}
  int signal() const { return signal_; }
  const char* what() const noexcept override { return "stopped by a signal"; }

 private:
  int signal_;
};

}  // namespace program
