#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "dynet-like/graph/expression.h"

namespace dynet::python {

/// Gives the interpreter's lock away for as long as it lives: for work that may take long. Where no
/// other thread can want it the lock is kept, for to give it away and to take it back takes as long
/// as to make a node.
class Unlocked {
 public:
  /// For work that calls no Python from other threads.
  Unlocked();
  /// For a pass over the graph of an expression.
  explicit Unlocked(const Expression& e);

 private:
  std::optional<nanobind::gil_scoped_release> release_;
};

}  // namespace dynet::python
