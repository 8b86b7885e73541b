#pragma once

#include <iosfwd>
#include <string>

#include "dynet-like/base/device.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/shape/tensor.h"

namespace dynet {

class ComputationGraph;
struct GraphState;

/// A handle to a result of a node: small, freely copied. Use after its graph was cleared, reverted
/// or destroyed throws StaleExpressionError.
struct Expression {
  ComputationGraph* pg = nullptr;  ///< its graph
  VariableIndex i = 0;             ///< its index in the graph
  std::uint32_t result = 0;        ///< which result of the node; 1: the second one
  std::uint64_t serial = 0;        ///< serial number of its node, unique in `state`
  GraphState* state = nullptr;     ///< outlives the graph, so that stale handles are detected

  Expression() = default;
  /// Node i of a graph as it is now. Throws ArgumentError for a null pointer, IndexError.
  Expression(ComputationGraph* graph, VariableIndex node,
             SourceLocation at = SourceLocation::current());

  /// The value, computed if needed together with all nodes made before it. View and reference live
  /// until the graph is cleared or destroyed; a later call updates the view behind the reference.
  /// Throws StaleExpressionError, NumericError, OutOfMemoryError.
  const Tensor& value(SourceLocation at = SourceLocation::current()) const;
  /// The gradient from the last backward pass; zero if the loss does not depend on this node. Of an
  /// operation with two results, such as lstm_cell, each has the gradient through its own users.
  /// The gradient of a parameter is the sum over this thread's passes since the last update. The
  /// reference lives as long as that of `value`. Throws GradientError if there was no pass, or the
  /// node is newer.
  const Tensor& gradient(SourceLocation at = SourceLocation::current()) const;
  /// The shape. The reference lives until the graph is cleared or destroyed.
  const Dim& dim(SourceLocation at = SourceLocation::current()) const;
  bool is_stale() const;
  /// Name of the device of its value, such as "CPU" or "GPU:0". Throws StaleExpressionError.
  std::string get_device_name(SourceLocation at = SourceLocation::current()) const;
};

/// Prints operation, shape, source location, value (computed if needed), and the gradient if there
/// is one.
std::ostream& operator<<(std::ostream& out, const Expression& e);

/// An operand of an infix operator, with the source location of the operator.
struct LocatedExpression {
  const Expression& x;                    ///< the operand
  SourceLocation at;                      ///< location of the operator
  LocatedExpression(const Expression& e,  // NOLINT: implicit
                    SourceLocation where = SourceLocation::current())
      : x(e), at(where) {}
};

}  // namespace dynet
