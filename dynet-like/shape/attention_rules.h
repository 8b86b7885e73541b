#pragma once

#include "dynet-like/shape/rules.h"

// Shape rule of attention.

namespace dynet::shape {

/// Queries {d*heads,m}, keys {d*key_heads,n}, values {e*key_heads,n} and optional biases
/// {2*r+1,heads} give {e*heads,m}; batch sizes of one broadcast.
Dim attention(Dims xs, std::size_t heads, std::size_t key_heads);

}  // namespace dynet::shape
