#pragma once

#include <string>

namespace dynet {

/// Writes to the standard error stream, as some functions of DyNet's do. Nothing else in the
/// library prints.
void print_to_standard_error(const std::string& text);

}  // namespace dynet
