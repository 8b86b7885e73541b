#pragma once

#include <string>

#include "dynet-like/graph/node.h"

namespace dynet {

/// `file:line`
std::string to_string(const SourceLocation& at);
/// `{2,3}  tanh, node 42, made at file:line`, or the parameter's name.
std::string describe(const GraphStore& graph, NodeId id);
/// One line for each operand of a node.
std::string describe_operands(const GraphStore& graph, std::span<const NodeId> args);

}  // namespace dynet
