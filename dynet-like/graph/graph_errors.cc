#include "dynet-like/graph/graph_errors.h"

#include "dynet-like/graph/describe.h"

namespace dynet {
namespace {

std::string not_kept(const Error& e, const GraphStore& graph, NodeId id, SourceLocation at) {
  return std::string(e.what()) + "\n  expression: " + describe(graph, id) + "\n  at " +
         to_string(at);
}

}  // namespace

void throw_bad_handle(const std::string& who, const Expression& e, const GraphState* graph,
                      SourceLocation at) {
  const char* rule = !e.state ? "is empty: it belongs to no graph"
                     : graph && e.state != graph && !e.is_stale()
                         ? "belongs to another graph than the first operand"
                         : "is stale: its graph was cleared, reverted or destroyed";
  throw StaleExpressionError(who + " " + rule + "\n  at " + to_string(at), at);
}

void check_result(const char* who, const Expression& e, SourceLocation at) {
  const GraphStore& g = e.state->store;
  if (e.result == 1 && g.nodes[e.i].form->second_result) return;
  throw ArgumentError(std::string(who) + ": an expression has no result " +
                          std::to_string(e.result) + "\n  expression: " + describe(g, e.i) +
                          "\n  at " + to_string(at),
                      at);
}

void throw_rule_broken(const char* name, const RuleBroken& broken, const GraphStore& graph,
                       std::span<const NodeId> args, SourceLocation at) {
  const std::string what = std::string(name) + ": " + broken.rule + describe_operands(graph, args) +
                           "\n  at " + to_string(at);
  switch (broken.kind) {
    case RuleBroken::Kind::shape:
      throw ShapeError(what, at);
    case RuleBroken::Kind::index:
      throw IndexError(what, at);
    default:
      throw ArgumentError(what, at);
  }
}

void throw_devices_differ(const char* name, const GraphStore& graph, std::span<const NodeId> args,
                          SourceLocation at) {
  throw DeviceError(std::string(name) +
                        ": the operands are on different devices, to_device copies them" +
                        describe_operands(graph, args) + "\n  at " + to_string(at),
                    at);
}

void throw_not_kept(const ArgumentError& e, const GraphStore& graph, NodeId id, SourceLocation at) {
  throw ArgumentError(not_kept(e, graph, id, at), at);
}

void throw_not_kept(const GradientError& e, const GraphStore& graph, NodeId id, SourceLocation at) {
  throw GradientError(not_kept(e, graph, id, at), at);
}

void throw_bad_operand(const char* name, std::size_t k, const Expression& e,
                       const GraphState* graph, SourceLocation at) {
  throw_bad_handle(std::string(name) + ": operand " + std::to_string(k + 1), e, graph, at);
}

void throw_no_operand(const char* name, SourceLocation at) {
  throw ArgumentError(std::string(name) + ": needs at least one operand\n  at " + to_string(at),
                      at);
}

void throw_too_large(const OpForm& form, SourceLocation at) {
  throw OutOfMemoryError(
      std::string(form.name) + ": the graph has too many nodes\n  at " + to_string(at), at);
}

}  // namespace dynet
