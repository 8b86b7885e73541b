#pragma once

#include <string>

namespace dynet {

/// Writes to the standard error stream, for functions of DyNet that do. The rest of the library
/// does not print.
void print_to_standard_error(const std::string& text);

}  // namespace dynet
