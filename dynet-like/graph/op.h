#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/graph/node.h"
#include "dynet-like/shape/rules.h"

namespace dynet {

/// A form field without a default: leaving it out does not compile.
template <class T>
struct Required {
  template <class U>
  constexpr Required(U v) : value(v) {}  // NOLINT: implicit, so that forms read plainly
  constexpr operator T() const { return value; }
  T value;
};

/// What a shape rule sees: the operands' shapes and the attributes of the node to be made.
struct Operands {
  shape::Dims dims;
  const void* attr = nullptr;
  const void* payload = nullptr;

  const Dim& operator[](std::size_t k) const { return *dims[k]; }
  template <class A>
  const A& as() const {
    return *static_cast<const A*>(attr);
  }
};

/// Parts of a sum of products, as bits; parts from 31 on go with the last bit.
struct Parts {
  std::uint32_t bits = ~std::uint32_t{0};

  static constexpr std::uint32_t bit(std::size_t part) {
    return std::uint32_t{1} << (part < 31 ? part : 31);
  }
  constexpr bool has(std::size_t part) const { return bits & bit(part); }
  constexpr bool all() const { return bits == ~std::uint32_t{0}; }
};

/// A batch of nodes that run as one: same form, same operand shapes, same signature attributes. `T`
/// is float for training and double for gradient checks. A kernel never sees one node apart from a
/// batch of one.
template <class T>
struct Batch {
  const GraphStore& graph;
  const NodeId* ids;
  std::size_t count;  ///< nodes
  std::size_t arity;
  T* const* outs;        ///< value of node i
  T* const* ins;         ///< value of operand k of node i at k * count + i
  T* const* auxs;        ///< scratch kept from forward to backward, as the form asks
  std::uint64_t epoch;   ///< grows when the graph is run anew: part of every random draw
  Parts parts = {};      ///< of a sum of products: what is to be computed now
  bool goes_on = false;  ///< and whether `outs` hold the other parts already

  const Node& node(std::size_t i) const { return graph.nodes[ids[i]]; }
  const Dim& dim() const { return node(0).dim; }
  const Dim& dim(std::size_t k) const { return graph.nodes[graph.args[node(0).first_arg + k]].dim; }
  T* out(std::size_t i) const { return outs[i]; }
  const T* in(std::size_t k, std::size_t i) const { return ins[k * count + i]; }
  T* aux(std::size_t i) const { return auxs[i]; }
  template <class A>
  const A& attr(std::size_t i = 0) const {
    return graph.attr<A>(node(i));
  }
  template <class A, class P>
  const P* payload(std::size_t i) const {
    return graph.payload<A, P>(node(i));
  }
  /// The memory of node values is one block, node after node.
  static bool contiguous(T* const* p, std::size_t n, std::size_t size) {
    for (std::size_t i = 1; i < n; ++i)
      if (p[i] != p[0] + i * size) return false;
    return true;
  }
};

/// How a kernel writes a gradient.
enum class Write : std::uint8_t {
  store,
  add,    ///< to what is there
  again,  ///< add to what this very call has stored or added for an earlier node
};

/// The same with gradients. A kernel goes through operands in order and finishes one before the
/// next: the memory of two may be the same.
template <class T>
struct GradientBatch : Batch<T> {
  T* const* d_outs;  ///< gradient of node i
  T* const* d_ins;   ///< gradient of operand k of node i at k * count + i; null if nobody needs it
  const Write* writes;  ///< at the same place
  /// Of a sum of products: by operand the transpose of a matrix that all nodes share, or null.
  const T* const* transposed;
  /// Of a sum of products: which share, of how many, of the elements of what all nodes share is to
  /// be written now.
  unsigned share = 0, shares = 1;

  const T* d_out(std::size_t i) const { return d_outs[i]; }
  T* d_in(std::size_t k, std::size_t i) const { return d_ins[k * this->count + i]; }
  Write write(std::size_t k, std::size_t i) const { return writes[k * this->count + i]; }
  bool add(std::size_t k, std::size_t i) const { return write(k, i) != Write::store; }
};

template <class T>
using ForwardKernel = void (*)(const Batch<T>&);
template <class T>
using BackwardKernel = void (*)(const GradientBatch<T>&);

/// A kernel in both precisions.
struct Forward {
  ForwardKernel<float> f;
  ForwardKernel<double> d;
};
struct Backward {
  BackwardKernel<float> f;
  BackwardKernel<double> d;
};

/// Which nodes may run together. Nodes of one batch agree in form, operand shapes, arity and the
/// first `signature_bytes` of their attributes; what comes behind belongs to each node.
struct BatchRule {
  static constexpr std::size_t kNone = ~std::size_t{0};

  bool batches;
  std::size_t signature_bytes;
  const char* why_not;  ///< the reason, if it never batches
  /// For sums of products: where the pairs of operands (W, x) begin. The node's value is the sum of
  /// all W x and, if there is an operand before the pairs, of that. The sum may be made in parts.
  std::size_t first_pair;

  static constexpr BatchRule each(std::size_t signature_bytes = 0) {
    return {true, signature_bytes, nullptr, kNone};
  }
  static constexpr BatchRule never(const char* reason) { return {false, 0, reason, kNone}; }
  /// Nodes that share every W and the operand before the pairs run as one product; the gradient of
  /// what they share is summed over all of them at once, when nothing else is left to do.
  static constexpr BatchRule products(std::size_t first_pair) {
    return {true, 0, nullptr, first_pair};
  }

  constexpr bool has_products() const { return first_pair != kNone; }
  /// Whether operand k must be the same node in the whole batch.
  constexpr bool shares(std::size_t k) const {
    return has_products() && (k < first_pair || (k - first_pair) % 2 == 0);
  }
  /// The part of the sum that operand k belongs to.
  constexpr std::size_t part_of(std::size_t k) const {
    return k < first_pair ? 0 : first_pair + (k - first_pair) / 2;
  }
};

/// What the backward kernel reads, so that a memory plan may free the rest.
enum class Reads : std::uint8_t {
  nothing = 0,
  inputs = 1,
  output = 2,
  both = 3,
  /// The output; and element i of it depends on element i of the only operand alone, so that it may
  /// be computed where the operand lies.
  output_in_place = 6,
};
constexpr bool reads_output(Reads r) { return static_cast<unsigned>(r) & 2; }

/// How the executor gives a node its value.
enum class Kind : std::uint8_t {
  compute,    ///< by its forward kernel, in memory of its own
  parameter,  ///< the parameter's own memory
  lookup,     ///< a row of a table in place, or several gathered
  alias,      ///< the memory of operand 0
};

/// How many scratch elements a node keeps from forward to backward.
using AuxRule = std::size_t (*)(const GraphStore&, const Node&);
std::size_t no_aux(const GraphStore&, const Node&);

/// An operation: one filled-in form, one place for everything that it is.
struct OpForm {
  Required<const char*> name;  ///< as the user writes it
  Required<Kind> kind;
  Required<Dim (*)(const Operands&)> shape;
  Required<BatchRule> batch;
  Required<Reads> reads;
  Required<AuxRule> aux;
  Required<bool> passes_gradient;  ///< false: nothing below it gets a gradient through it
  Required<Forward> forward;
  Required<Backward> backward;
};

}  // namespace dynet
