#pragma once

#include <CLI/CLI.hpp>

namespace program {

/// Parses the arguments of a program. False after printing the help, the version, or a text of
/// describe.h. Throws UsageError; unknown options, with a similar existing one, are reported before
/// missing options.
bool parse(CLI::App& app, int argc, char** argv);

}  // namespace program
