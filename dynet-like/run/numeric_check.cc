#include "dynet-like/run/numeric_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet {
namespace {

template <class T>
bool all_finite(const T* v, std::size_t n) {
  return std::all_of(v, v + n, [](T x) { return std::isfinite(x); });
}

template <class T>
std::string bad_value(const T* v, std::size_t n) {
  const T* const bad = std::find_if(v, v + n, [](T x) { return !std::isfinite(x); });
  return (std::isnan(*bad) ? std::string("NaN") : std::string("infinity")) + " at element " +
         std::to_string(bad - v);
}

template <class T>
bool masked(const GraphStore& graph, Devices<T>& devices, const Recording<T>& recording, NodeId id,
            const T* value) {
  const Node& n = graph.nodes[id];
  constexpr T kMasked = -std::numeric_limits<T>::infinity();
  const auto is_masked = [=](T x) { return x == kMasked; };
  if (!std::all_of(value, value + n.dim.size(),
                   [=](T x) { return std::isfinite(x) || is_masked(x); }))
    return false;
  const auto args = graph.args_of(n);
  if (args.empty()) return n.form->kind == Kind::compute;
  for (std::size_t k = 0; k < args.size(); ++k) {
    const NodeId a = args[k];
    const std::size_t size = graph.nodes[a].dim.size();
    const T* const at = (n.reads_second(k) ? recording.aux : recording.value)[a];
    const T* const x = devices.of(a).backend.read(at, size);
    if (size == 0 || std::any_of(x, x + size, is_masked)) return true;
  }
  return false;
}

}  // namespace

template <class T>
void check_value(const GraphStore& graph, Devices<T>& devices, const Recording<T>& recording,
                 NodeId id) {
  const Node& n = graph.nodes[id];
  const std::size_t size = n.dim.size();
  const T* value = devices.of(id).backend.read(recording.value[id], size);
  if (all_finite(value, size)) {
    if (!n.form->second_result) return;
    value = devices.of(id).backend.read(recording.aux[id], size);
    if (all_finite(value, size)) return;
  }
  const std::string bad = bad_value(value, size);  // before operands are read over it
  if (masked(graph, devices, recording, id, value)) return;
  throw NumericError(
      std::string(n.form->name) + ": the value has a " + bad + "\n  value: " + describe(graph, id) +
          describe_operands(graph, graph.args_of(n)) + "\n  at " + to_string(graph.at(n)),
      graph.at(n));
}

template <class T>
void check_gradient(const GraphStore& graph, Devices<T>& devices, NodeId id, const T* gradient,
                    NodeId operand) {
  const Node& n = graph.nodes[id];
  const std::size_t size = graph.nodes[operand].dim.size();
  gradient = devices.of(operand).backend.read(gradient, size);
  if (all_finite(gradient, size)) return;
  throw NumericError(std::string(n.form->name) + ": backward gave the gradient of an operand a " +
                         bad_value(gradient, size) + "\n  operand: " + describe(graph, operand) +
                         "\n  value: " + describe(graph, id) + "\n  at " + to_string(graph.at(n)),
                     graph.at(n));
}

#define DYNET_INSTANTIATE(T)                                                              \
  template void check_value(const GraphStore&, Devices<T>&, const Recording<T>&, NodeId); \
  template void check_gradient(const GraphStore&, Devices<T>&, NodeId, const T*, NodeId);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)
#undef DYNET_INSTANTIATE

}  // namespace dynet
