#include "dynet-like/compat/print.h"

#include <iostream>

namespace dynet {

void print_to_standard_error(const std::string& text) { std::cerr << text << std::flush; }

}  // namespace dynet
