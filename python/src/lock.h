#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "dynet-like/graph/expression.h"

namespace dynet::python {

/// Releases the interpreter lock during its lifetime, for long work. Keeps the lock if no other
/// thread can want it, since releasing and reacquiring it costs as much as creating a node.
class Unlocked {
 public:
  /// For work that calls no Python on other threads.
  Unlocked();
  /// For a pass over the graph of an expression.
  explicit Unlocked(const Expression& e);

 private:
  std::optional<nanobind::gil_scoped_release> release_;
};

}  // namespace dynet::python
