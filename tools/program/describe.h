#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace program {

/// Manual page in the format of groff's man macros, from the options of the program and its
/// commands.
std::string manual_page(const CLI::App& app);

/// Completion scripts: of commands, options, files and folders, and values with a fixed set of
/// names.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

/// Prints one of the three texts if the only argument is --man-page, --bash-completion or
/// --zsh-completion; returns false for all other arguments.
bool describe(const CLI::App& app, int argc, char** argv);

}  // namespace program
