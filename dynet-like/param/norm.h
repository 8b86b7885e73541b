#pragma once

#include <cstddef>

namespace dynet {

/// The sum of squares of n floats: exact enough for any n, and right beyond the range of float.
double squared_norm(const float* v, std::size_t n);

}  // namespace dynet
