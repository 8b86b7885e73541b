#pragma once

#include <functional>
#include <string>

namespace program {

constexpr int kWrongUsage = 2;

/// Prints "<name>: <message>" on standard error, in one line; control characters become '?'.
void complain(const std::string& name, const std::string& message);

/// The `main` of a program: runs the action and returns the exit status: that of the action,
/// `failed` if it throws, and kWrongUsage for a UsageError. Exceptions are printed in one line.
///
/// Standard output is std::cout, buffered in large pieces; write errors throw OutputError when they
/// occur, or at the end, and so fail the program with the system's reason. If the reader closed the
/// pipe, the program ends silently like by SIGPIPE. Exceeding a file size limit is an ordinary
/// write error, without a signal. Unfinished files of dynet::NewFile with `files()` are removed if
/// SIGINT, SIGTERM or SIGHUP ends the program; see StopSignals for saving work first. A closed
/// standard stream fails, and is never confused with a file that is opened later.
int run(const std::string& name, int failed, const std::function<int()>& action);

}  // namespace program
