#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/expression.h"
#include "dynet-like/graph/graph_state.h"
#include "dynet-like/graph/op.h"

// Errors of functions that make or evaluate nodes, with their messages.

namespace dynet {

/// Throws ArgumentError unless a live handle's node has its result.
void check_result(const char* who, const Expression& e, SourceLocation at);

[[noreturn, gnu::cold]] void throw_bad_handle(const std::string& who, const Expression& e,
                                              const GraphState* graph, SourceLocation at);
[[noreturn, gnu::cold]] void throw_rule_broken(const char* name, const RuleBroken& broken,
                                               const GraphStore& graph,
                                               std::span<const NodeId> args, SourceLocation at);
/// The operands are on different devices.
[[noreturn, gnu::cold]] void throw_devices_differ(const char* name, const GraphStore& graph,
                                                  std::span<const NodeId> args, SourceLocation at);
/// The value or gradient was not stored and cannot be recomputed.
[[noreturn, gnu::cold]] void throw_not_kept(const ArgumentError& e, const GraphStore& graph,
                                            NodeId id, SourceLocation at);
[[noreturn, gnu::cold]] void throw_not_kept(const GradientError& e, const GraphStore& graph,
                                            NodeId id, SourceLocation at);
[[noreturn, gnu::cold]] void throw_bad_operand(const char* name, std::size_t k, const Expression& e,
                                               const GraphState* graph, SourceLocation at);
[[noreturn, gnu::cold]] void throw_no_operand(const char* name, SourceLocation at);
[[noreturn, gnu::cold]] void throw_too_large(const OpForm& form, SourceLocation at);

}  // namespace dynet
