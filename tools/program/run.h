#pragma once

#include <functional>
#include <string>

namespace program {

constexpr int kWrongUsage = 2;

/// Shows one line on standard error, "<name>: <message>"; what would control a terminal is shown
/// as '?'.
void complain(const std::string& name, const std::string& message);

/// The `main` of a program: runs the action and returns the exit status, which is what the action
/// returns, `failed` if it throws, and kWrongUsage if that is a UsageError. An exception is shown
/// in one line.
///
/// Standard output is std::cout, in large pieces; what cannot be written throws OutputError where
/// it is written, or at the end, and so fails the program with the system's reason. If nobody
/// reads any further, the program ends in silence as SIGPIPE ends it. A full quota is an error of
/// writing as any other, and no signal. What dynet::NewFile has begun with `files()` is removed
/// if SIGINT, SIGTERM or SIGHUP ends the program; see StopSignals for work that is saved first.
/// A standard stream that is closed fails, and is
/// never mistaken for a file that is opened later.
int run(const std::string& name, int failed, const std::function<int()>& action);

}  // namespace program
