#include "tools/program/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iostream>
#include <new>

#include "dynet-like/base/printable.h"
#include "tools/program/descriptor.h"
#include "tools/program/errors.h"
#include "tools/program/new_files.h"
#include "tools/program/profile.h"
#include "tools/program/stop_signals.h"

namespace program {
namespace {

const char* const kName = "standard output";

/// Opens closed standard streams, so that later files do not get their descriptors. The
/// replacements are opened in the wrong direction, so that using them fails.
void open_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

extern "C" void remove_and_end(int signal) {
  remove_new_files();
  raise(signal);  // SA_RESETHAND: the program ends after the handler returns
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  struct sigaction before = {};
  // Signals ignored at the start, as under nohup, remain ignored.
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(signal, &action, nullptr);
}

void handle_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, remove_and_end);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
}

/// Ends the program by a signal, visible to its parent.
int end_by(int signal) {
  ::signal(signal, SIG_DFL);
  raise(signal);
  return 128 + signal;  // the signal is blocked: the status used by shells
}

/// Makes std::cout throw OutputError during its lifetime.
class StandardOutput {
 public:
  StandardOutput()
      : buffer_(DescriptorBuffer::copy_of(STDOUT_FILENO, kName), kName),
        before_(std::cout.rdbuf(&buffer_)) {
    std::cout.exceptions(std::ios::badbit);
    // A tied stream would report errors of std::cout as its own.
    std::cin.tie(nullptr);
    std::cerr.tie(nullptr);
  }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  ~StandardOutput() {
    std::cout.exceptions(std::ios::goodbit);
    std::cout.rdbuf(before_);
  }
  void finish() { buffer_.finish(); }

 private:
  DescriptorBuffer buffer_;
  std::streambuf* before_;
};

int act(const std::function<int()>& action) {
  StandardOutput output;
  profile_by_environment();
  const int status = action();
  write_profile();
  output.finish();
  return status;
}

}  // namespace

void complain(const std::string& name, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::cerr << name << ": " << dynet::printable(line) << std::endl;
}

int run(const std::string& name, int failed, const std::function<int()>& action) {
  open_standard_streams();
  handle_signals();
  int status = failed;
  std::string problem;
  try {
    return act(action);
  } catch (const OutputError& error) {
    if (error.error() == EPIPE) return end_by(SIGPIPE);
    problem = error.what();
  } catch (const Stopped& stopped) {
    return end_by(stopped.signal());
  } catch (const UsageError& error) {
    status = kWrongUsage;
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "out of memory";
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "an unknown error";
  }
  complain(name, problem);
  return status;
}

}  // namespace program
