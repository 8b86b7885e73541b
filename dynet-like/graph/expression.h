#pragma once

#include <iosfwd>
#include <string>

#include "dynet-like/base/device.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ComputationGraph;
struct GraphState;

/// A handle to a node: small, freely copied. Using one after its graph was cleared, reverted or
/// destroyed throws StaleExpressionError.
struct Expression {
  ComputationGraph* pg = nullptr;  ///< its graph
  VariableIndex i = 0;             ///< its index in the graph
  std::uint64_t serial = 0;        ///< its node's, never used twice
  GraphState* state = nullptr;     ///< outlives the graph, so that a stale handle can be told

  Expression() = default;
  /// Node i of a graph, as it is now. Throws ArgumentError for a null pointer, IndexError.
  Expression(ComputationGraph* graph, VariableIndex node,
             SourceLocation at = SourceLocation::current());

  /// Its value, computed if need be, with everything made before it. The view and the reference
  /// live until the graph is cleared or destroyed; asked again, the reference shows the value as it
  /// is then. Throws StaleExpressionError, NumericError, OutOfMemoryError.
  const Tensor& value(SourceLocation at = SourceLocation::current()) const;
  /// Its gradient from the last backward pass; zero if the loss does not depend on it. That of a
  /// parameter is the sum that this thread's passes have added up since the last update. The
  /// reference is as that of `value`. Throws GradientError if there was no pass, or it was made
  /// later.
  const Tensor& gradient(SourceLocation at = SourceLocation::current()) const;
  /// Its shape. The reference lives until the graph is cleared or destroyed.
  const Dim& dim(SourceLocation at = SourceLocation::current()) const;
  bool is_stale() const;
  /// Name of its value's device, such as "CPU" or "GPU:0". Throws StaleExpressionError.
  std::string get_device_name(SourceLocation at = SourceLocation::current()) const;
};

/// Its operation, shape, place in the program, value (computed if need be), and its gradient if
/// there is one.
std::ostream& operator<<(std::ostream& out, const Expression& e);

/// An operand of an infix operator: remembers where the operator was written.
struct LocatedExpression {
  const Expression& x;                    ///< the operand
  SourceLocation at;                      ///< where the operator is
  LocatedExpression(const Expression& e,  // NOLINT: implicit
                    SourceLocation where = SourceLocation::current())
      : x(e), at(where) {}
};

}  // namespace dynet
