#include "tools/program/stop_signals.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "tools/program/new_files.h"

namespace program {
namespace {

// Signal handlers can only access lock-free atomics.
std::atomic<int> stop_signal{0};
std::atomic<std::int64_t> stop_time{0};  ///< milliseconds, time of arrival
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "handlers of signals must not wait");

/// Time in ms in which two signals count as one: programs such as timeout(1), which stop a process
/// and its process group, send the signal twice.
constexpr std::int64_t kOneMoment = 300;

constexpr char kNotice[] = "\nstopping as soon as all is saved; a second signal ends at once\n";

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

extern "C" void stop_soon(int signal) {
  const int error = errno;
  int none = 0;
  if (stop_signal.compare_exchange_strong(none, signal)) {
    stop_time = milliseconds();
    // Failure of the notice is ignored.
    if (::write(STDERR_FILENO, kNotice, sizeof kNotice - 1) < 0) errno = error;
  } else if (milliseconds() - stop_time >= kOneMoment) {
    remove_new_files();
    ::signal(signal, SIG_DFL);
    raise(signal);  // the program ends after the handler returns
  }
  errno = error;
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  struct sigaction action = {};
  action.sa_handler = stop_soon;
  action.sa_flags = static_cast<int>(SA_RESTART);
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (sigaction(kSignals[i], nullptr, &before_[i]) == 0 && before_[i].sa_handler != SIG_IGN)
      sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int StopSignals::received() { return stop_signal; }

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

}  // namespace program
