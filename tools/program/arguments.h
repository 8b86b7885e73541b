#pragma once

#include <CLI/CLI.hpp>

namespace program {

/// Reads the arguments of a program. False if they asked for its help or its version, which is
/// printed. Throws UsageError; an option that there is not, with one like it that there is, before
/// one that is missing.
bool parse(CLI::App& app, int argc, char** argv);

}  // namespace program
