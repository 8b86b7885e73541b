#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace program {

/// Width of the terminal on standard output, 80 if it is no terminal.
std::size_t help_columns();

/// Wraps a text to lines of at most `columns` characters, if its words are short enough; all lines
/// but the first are indented by `indent` spaces, and the first starts at column `begun`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent,
                    std::size_t begun);

/// Name of the value of an option: N for whole numbers, X for other numbers, else FILE, DIR or
/// TEXT.
std::string value_name(const CLI::Option& option);

/// Description of an option with its default.
std::string option_help(const CLI::Option& option);

/// For CLI::Option::check: the values that completion offers. Accepts all values, since the program
/// has better error messages.
CLI::Validator choices(const std::vector<std::string>& names);

/// Values of an option with `choices` or CLI::IsMember; empty for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

/// Adds --version to a named program, and sets the format of the help of the program and its future
/// commands: at most `columns` wide, options by groups.
void set_help(CLI::App& app, std::size_t columns = help_columns());

/// Moves --help to the end of the options, and appends the examples, one a line, to the text.
void end_help(CLI::App& app, const std::vector<std::string>& examples);

}  // namespace program
