#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace program {

/// The columns of the terminal that standard output is, 80 if it is none.
std::size_t help_columns();

/// The text in lines of at most `columns` columns, if its words let it; all but the first begin
/// with `indent` spaces, and the first is `begun` columns long already. A character is a column.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent,
                    std::size_t begun);

/// Gives a program that has a name --version, and it and the commands that are added to it later a
/// help that fits into `columns`, with options by their groups.
void set_help(CLI::App& app, std::size_t columns = help_columns());

/// Puts --help at the end of the options, and these commands, one a line, at the end of its text.
void end_help(CLI::App& app, const std::vector<std::string>& examples);

}  // namespace program
