#pragma once

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/op.h"

/// A kernel template in both precisions, as a form field.
#define DYNET_FORWARD(...) \
  ::dynet::Forward { __VA_ARGS__<float>, __VA_ARGS__<double> }
/// The same for a backward kernel.
#define DYNET_BACKWARD(...) \
  ::dynet::Backward { __VA_ARGS__<float>, __VA_ARGS__<double> }

namespace dynet {

/// For forms whose value the executor provides, or whose gradient stops or goes nowhere.
inline constexpr Forward kNoForward{nullptr, nullptr};
inline constexpr Backward kNoBackward{nullptr, nullptr};

/// The forms of one header of operations.
using OpFamily = std::span<const OpForm* const>;

}  // namespace dynet
