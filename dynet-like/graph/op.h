#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/required.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/shape/rules.h"

namespace dynet {

/// Input of a shape rule: the operands' shapes and the attributes of the node to be made.
struct Operands {
  shape::Dims dims;               ///< shapes of the operands
  const void* attr = nullptr;     ///< the attributes
  const void* payload = nullptr;  ///< what lies behind them

  /// The shape of operand k.
  const Dim& operator[](std::size_t k) const { return *dims[k]; }
  /// The attributes.
  template <class A>
  const A& as() const {
    return *static_cast<const A*>(attr);
  }
};

/// Terms of a sum of products, as bits; terms from 31 on share the last bit.
struct Terms {
  std::uint32_t bits = ~std::uint32_t{0};  ///< all of them

  /// The bit of a part.
  static constexpr std::uint32_t bit(std::size_t part) {
    return std::uint32_t{1} << (part < 31 ? part : 31);
  }
  /// Whether a part is among them, and whether all are.
  constexpr bool has(std::size_t part) const { return bits & bit(part); }
  constexpr bool all() const { return bits == ~std::uint32_t{0}; }
};

/// A batch of nodes that run as one: same form, same operand shapes, same batch attributes. `T`
/// is float for training and double for gradient checks. A kernel never sees one node apart from a
/// batch of one.
template <class T>
struct Batch {
  const GraphStore& graph;   ///< where the nodes are
  const NodeId* ids;         ///< their numbers
  std::size_t count;         ///< nodes
  std::size_t arity;         ///< operands of each
  T* const* outs;            ///< value of node i
  T* const* ins;             ///< value of operand k of node i at k * count + i
  T* const* auxs;            ///< scratch kept from forward to backward, as the form asks
  std::uint64_t run;         ///< grows when the graph is run again: part of every random draw
  Terms terms = {};          ///< of a sum of products: what is to be computed now
  bool accumulates = false;  ///< and whether `outs` hold all terms before these already

  /// Node i; the shape of each node, where the user made node i, and the shape of operand k of
  /// each.
  const Node& node(std::size_t i) const { return graph.nodes[ids[i]]; }
  const Dim& dim() const { return node(0).dim; }
  SourceLocation at(std::size_t i) const { return graph.at(node(i)); }
  const Dim& dim(std::size_t k) const { return dim(k, 0); }
  /// Shape of operand k of node i; nodes differ in it only where the form's batches are ragged.
  const Dim& dim(std::size_t k, std::size_t i) const {
    return graph.nodes[graph.args[node(i).first_arg + k]].dim;
  }
  /// Value of node i, value of its operand k, and its scratch.
  T* out(std::size_t i) const { return outs[i]; }
  const T* in(std::size_t k, std::size_t i) const { return ins[k * count + i]; }
  T* aux(std::size_t i) const { return auxs[i]; }
  /// The attributes of node i.
  template <class A>
  const A& attr(std::size_t i = 0) const {
    return graph.attr<A>(node(i));
  }
  /// Payload behind the attributes of node i.
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
  T* const* d_ins;   ///< gradient of operand k of node i at k * count + i; null if it is not needed
  const Write* writes;  ///< at the same place
  /// Sums of products only: by operand the transpose of a matrix that all nodes share, or null.
  const T* const* transposed;
  /// Sums of products only: operands in [first, end) get gradients in this call. `d_ins` is null
  /// for the rest, so a kernel may ignore the range, but then takes time for all operands.
  std::size_t first = 0, end = ~std::size_t{0};

  /// Gradient of node i, and address for the gradient of its operand k, or null if not needed.
  const T* d_out(std::size_t i) const { return d_outs[i]; }
  T* d_in(std::size_t k, std::size_t i) const { return d_ins[k * this->count + i]; }
  /// How that is written, and whether it is added.
  Write write(std::size_t k, std::size_t i) const { return writes[k * this->count + i]; }
  bool add(std::size_t k, std::size_t i) const { return write(k, i) != Write::store; }
};

/// Writes the values of a batch.
template <class T>
using ForwardKernel = void (*)(const Batch<T>&);
/// Writes or adds the gradients of a batch's operands.
template <class T>
using BackwardKernel = void (*)(const GradientBatch<T>&);

/// A kernel in both precisions; in float there may be one for each instruction set.
struct Forward {
  PerIsa<ForwardKernel<float>> f;  ///< in float
  ForwardKernel<double> d;         ///< in double
};
struct Backward {
  PerIsa<BackwardKernel<float>> f;  ///< in float
  BackwardKernel<double> d;         ///< in double
};

/// Sizes in which the nodes of one batch may differ, such as the words of a sentence: the rows or
/// the columns of operands and of the value. Bit k is operand k, the last bit the value.
struct Ragged {
  static constexpr std::uint32_t kValue = std::uint32_t{1} << 31;  ///< the bit of the value

  std::uint32_t rows = 0;  ///< where rows may differ
  std::uint32_t cols = 0;  ///< where columns may

  /// Bit of operand k; 0 for operands from 31 on, whose sizes are never free.
  static constexpr std::uint32_t operand(std::size_t k) {
    return k < 31 ? std::uint32_t{1} << k : 0;
  }
  constexpr bool any() const { return (rows | cols) != 0; }
  /// Whether values differ, so that the memory of a batch is no block of equal parts.
  constexpr bool in_value() const { return ((rows | cols) & kValue) != 0; }
  /// Whether two shapes, of operand k or of the value, may be in one batch; `which` is the bit.
  bool agree(std::uint32_t which, const Dim& a, const Dim& b) const;
  /// Whether the same sizes are free.
  friend constexpr bool operator==(const Ragged&, const Ragged&) = default;
};

inline bool Ragged::agree(std::uint32_t which, const Dim& a, const Dim& b) const {
  const auto is_free = [&](unsigned i) { return i < 2 && ((i == 0 ? rows : cols) & which) != 0; };
  for (unsigned i = 0; i < std::max(a.nd, b.nd); ++i)
    if (a[i] != b[i] && !is_free(i)) return false;
  return a.bd == b.bd;
}

/// Which nodes may run together. Nodes of one batch agree in form, operand shapes, arity and the
/// first `attribute_bytes` of their attributes; what comes behind belongs to each node.
struct BatchRule {
  /// No pairs.
  static constexpr std::size_t kNone = ~std::size_t{0};

  bool batches;                 ///< whether nodes ever run together
  std::size_t attribute_bytes;  ///< of the attributes, which must agree
  const char* why_not;          ///< the reason, if it never batches
  /// For sums of products: where the pairs of operands (W, x) begin. The node's value is the sum of
  /// all W x and, if there is an operand before the pairs, of that. It is made from left to right,
  /// in one order whatever the batch; the first terms may be added up earlier than the rest.
  std::size_t first_pair;
  /// In which sizes they may differ all the same.
  Ragged ragged = {};

  /// Nodes run together that agree in so many bytes of their attributes.
  static constexpr BatchRule each(std::size_t attribute_bytes = 0) {
    return {true, attribute_bytes, nullptr, kNone};
  }
  /// The same, but for some sizes. A kernel finds the shapes of each node by `dim(k, i)`.
  static constexpr BatchRule sequences(Ragged ragged, std::size_t attribute_bytes = 0) {
    return {true, attribute_bytes, nullptr, kNone, ragged};
  }
  /// Every node runs alone.
  static constexpr BatchRule never(const char* reason) { return {false, 0, reason, kNone}; }
  /// Nodes that share every W and the operand before the pairs run as one product; the gradient of
  /// what they share is summed over all of them at once, when nothing else is left to do. On a
  /// device a batch may have products W x of different W, see Node::kOwnMatrix.
  static constexpr BatchRule products(std::size_t first_pair) {
    return {true, 0, nullptr, first_pair};
  }

  /// Whether this is a sum of products.
  constexpr bool has_products() const { return first_pair != kNone; }
  /// Whether operand k must be the same node in the whole batch, unless nodes have matrices of
  /// their own.
  constexpr bool shares(std::size_t k) const {
    return has_products() && (k < first_pair || (k - first_pair) % 2 == 0);
  }
  /// The part of the sum that operand k belongs to.
  constexpr std::size_t term_of(std::size_t k) const {
    return k < first_pair ? 0 : first_pair + (k - first_pair) / 2;
  }
};

/// Values that the backward kernel reads, so that a memory plan may free the rest.
enum class Reads : std::uint8_t {
  nothing = 0,
  inputs = 1,
  output = 2,
  both = 3,
  /// The output; and element i of it depends on element i of the only operand alone, so that it may
  /// be computed where the operand lies, and the operand's gradient where its own gradient lies.
  output_in_place = 6,
};
/// Whether the backward kernel sees the value that the forward kernel has written.
constexpr bool reads_output(Reads r) { return static_cast<unsigned>(r) & 2; }

/// How the executor gives a node its value.
enum class Kind : std::uint8_t {
  compute,    ///< by its forward kernel, in memory of its own
  parameter,  ///< the parameter's own memory
  lookup,     ///< a row of a table in place, or several gathered
  alias,      ///< the memory of operand 0
  transfer,   ///< copied from operand 0, which is on another device; see TransferAttr
};

/// Attributes of a transfer, all of them batch attributes: the nodes of a batch go the same way.
struct TransferAttr {
  Device* to;    ///< where the copy lies
  Device* from;  ///< where operand 0 lies
};

/// How many scratch elements a node keeps from forward to backward.
using AuxRule = std::size_t (*)(const GraphStore&, const Node&);
std::size_t no_aux(const GraphStore&, const Node&);

namespace cuda {
struct Kernels;  // kernels/cuda/kernels.h
}

/// How an operation runs on a CUDA device.
struct CudaRule {
  const cuda::Kernels* kernels;  ///< null if there are none, or if the library has no CUDA in it
  const char* why_not;           ///< the reason, if there are none

  /// By these kernels.
  static constexpr CudaRule by(const cuda::Kernels* kernels) { return {kernels, nullptr}; }
  /// Its value and gradient are memory that is there already.
  static constexpr CudaRule by_executor() { return {nullptr, nullptr}; }
  /// On the CPU only.
  static constexpr CudaRule never(const char* reason) { return {nullptr, reason}; }
};

/// The definition of an operation (an op definition): one filled-in form, one source for everything
/// that it is.
struct OpForm {
  Required<const char*> name;  ///< as the user writes it
  Required<Kind> kind;         ///< how it gets its value
  Required<Dim (*)(const Operands&)>
      shape;                  ///< the shape, of nothing else than it is given; throws RuleBroken
  Required<BatchRule> batch;  ///< which nodes may run together
  Required<Reads> reads;      ///< what backward reads
  Required<AuxRule> aux;      ///< scratch from forward to backward
  Required<bool> passes_gradient;  ///< false: nothing below it gets a gradient through it
  Required<Forward> forward;       ///< computes values
  Required<Backward> backward;     ///< computes gradients of operands
  Required<CudaRule> cuda;         ///< the same on a CUDA device
};

}  // namespace dynet
