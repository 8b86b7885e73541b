#pragma once

#include <string>

namespace dynet {

/// Writes to the standard error stream, as some functions of DyNet's do. Nothing else in the
/// library prints.
void print_to_standard_error(const std::string& text);
/// From now on nothing that is written to std::cout goes anywhere, or again it does.
void silence_standard_output(bool silent);

}  // namespace dynet
