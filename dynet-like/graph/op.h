#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/isa.h"
#include "dynet-like/base/required.h"
#include "dynet-like/graph/node.h"
#include "dynet-like/shape/rules.h"

namespace dynet {

class PreparedMatrices;

/// Input of a shape rule: the operands' shapes and the attributes of the new node.
struct Operands {
  shape::Dims dims;               ///< shapes of the operands
  const void* attr = nullptr;     ///< the attributes
  const void* payload = nullptr;  ///< data after the attributes

  /// The shape of operand k.
  const Dim& operator[](std::size_t k) const { return *dims[k]; }
  /// The attributes.
  template <class A>
  const A& as() const {
    return *static_cast<const A*>(attr);
  }
};

/// Terms of a sum of products, as bits; terms from kLast on share the last bit.
struct Terms {
  static constexpr std::size_t kLast = 31;  ///< the last bit
  std::uint32_t bits = ~std::uint32_t{0};   ///< initially all terms

  /// The bit of a term.
  static constexpr std::uint32_t bit(std::size_t part) {
    return std::uint32_t{1} << (part < kLast ? part : kLast);
  }
  /// Whether a term is included, and whether all are.
  constexpr bool has(std::size_t part) const { return bits & bit(part); }
  constexpr bool all() const { return bits == ~std::uint32_t{0}; }
  /// Whether no later step adds terms: then the values are complete.
  constexpr bool complete() const { return has(kLast); }
};

/// A batch of nodes that run as one: equal form, operand shapes and batch attributes. `T` is float
/// for training and double for gradient checks. A single node is a batch of one.
template <class T>
struct Batch {
  const GraphStore& graph;  ///< graph of the nodes
  const NodeId* ids;        ///< node i of the batch is graph.nodes[ids[i]]
  std::size_t count;        ///< number of nodes
  std::size_t arity;        ///< operands of each node
  T* const* outs;           ///< value of node i
  T* const* ins;            ///< value of operand k of node i at k * count + i
  T* const* auxs;           ///< scratch of node i, kept from forward to backward (OpForm::aux)
  std::uint64_t run;        ///< incremented when all values are dropped; part of every random draw
  PreparedMatrices* prepared = nullptr;  ///< sums of products on the CPU: copies for this pass
  Terms terms = {};                      ///< of a sum of products: the terms to compute
  bool accumulates = false;              ///< `outs` already hold the sum of the earlier terms

  /// Node i, shape of each node, source location of node i, shape of operand k of each node.
  const Node& node(std::size_t i) const { return graph.nodes[ids[i]]; }
  const Dim& dim() const { return node(0).dim; }
  SourceLocation at(std::size_t i) const { return graph.at(node(i)); }
  const Dim& dim(std::size_t k) const { return dim(k, 0); }
  /// Shape of operand k of node i; equal for all nodes unless the form's batches are ragged.
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
  /// Payload of node i.
  template <class A, class P>
  const P* payload(std::size_t i) const {
    return graph.payload<A, P>(node(i));
  }
  /// Whether n values of `size` elements form one block, in order.
  static bool contiguous(T* const* p, std::size_t n, std::size_t size) {
    for (std::size_t i = 1; i < n; ++i)
      if (p[i] != p[0] + i * size) return false;
    return true;
  }
};

/// How a kernel writes a gradient.
enum class Write : std::uint8_t {
  store,
  add,    ///< to the stored gradient
  again,  ///< add to a gradient that this call has written for an earlier node
};

/// A batch with gradients. A kernel finishes the gradients of operand k before those of operand k +
/// 1: two operands may share memory.
template <class T>
struct GradientBatch : Batch<T> {
  T* const* d_outs;  ///< gradient of node i
  T* const* d_ins;   ///< gradient of operand k of node i at k * count + i; null if it is not needed
  const Write* writes;  ///< of d_ins, at the same index
  /// Sums of products only: operands in [first, end) get gradients in this call. `d_ins` is null
  /// for all other operands, so a kernel may ignore the range, at the cost of a scan over all
  /// operands.
  std::size_t first = 0, end = ~std::size_t{0};
  /// Operations with two results only: gradient of the second result of node i. It or `d_outs` is
  /// null for a result that the loss does not depend on.
  T* const* d_seconds = nullptr;
  /// Operations on a sum of products only (OpForm::sums): gradient of the sum of node i. The step
  /// with complete terms stores it; calls for shared operands, whose terms are none, read it.
  T* const* d_sums = nullptr;

  /// Gradient of node i; address of the gradient of operand k of node i, or null if not needed.
  const T* d_out(std::size_t i) const { return d_outs[i]; }
  T* d_in(std::size_t k, std::size_t i) const { return d_ins[k * this->count + i]; }
  /// How the gradient of operand k of node i is written, and whether it is added.
  Write write(std::size_t k, std::size_t i) const { return writes[k * this->count + i]; }
  bool add(std::size_t k, std::size_t i) const { return write(k, i) != Write::store; }
};

/// Writes the values of a batch.
template <class T>
using ForwardKernel = void (*)(const Batch<T>&);
/// Stores or adds the gradients of a batch's operands.
template <class T>
using BackwardKernel = void (*)(const GradientBatch<T>&);

/// Forward kernels: in float, with one for each instruction set if they differ, and in double.
struct Forward {
  PerIsa<ForwardKernel<float>> f;  ///< in float
  ForwardKernel<double> d;         ///< in double
};
struct Backward {
  PerIsa<BackwardKernel<float>> f;  ///< in float
  BackwardKernel<double> d;         ///< in double
};

/// Sizes that may differ among the nodes of a batch, such as the number of words of a sentence:
/// rows or columns of operands and of the value. Bit k is operand k, the last bit the value.
struct Ragged {
  static constexpr std::uint32_t kValue = std::uint32_t{1} << 31;  ///< the bit of the value

  std::uint32_t rows = 0;  ///< operands and value with free rows
  std::uint32_t cols = 0;  ///< operands and value with free columns

  /// Bit of operand k; 0 for operands from 31 on, whose sizes are never free.
  static constexpr std::uint32_t operand(std::size_t k) {
    return k < 31 ? std::uint32_t{1} << k : 0;
  }
  constexpr bool any() const { return (rows | cols) != 0; }
  /// Whether values may differ in size: then they are not equally spaced in memory.
  constexpr bool in_value() const { return ((rows | cols) & kValue) != 0; }
  /// Whether shapes a and b may be in one batch, for the operand or the value with the bit `which`.
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

/// Batching rule of a form. Nodes of one batch agree in form, arity, operand shapes and batch
/// attributes: the first `attribute_bytes` of their attributes.
struct BatchRule {
  /// No pairs.
  static constexpr std::size_t kNone = ~std::size_t{0};

  bool batches;                 ///< whether nodes are ever batched
  std::size_t attribute_bytes;  ///< size of the batch attributes
  const char* why_not;          ///< reason if nodes are never batched
  /// For sums of products: first operand of the pairs (W, x), else kNone. The value is the sum of
  /// all W x and of the operand before the pairs, if there is one; with OpForm::sums, a function of
  /// this sum and of the operands before it. Terms are added from left to right in every batch; the
  /// first terms may be added in an earlier step.
  std::size_t first_pair;
  /// Sizes that may differ within a batch.
  Ragged ragged = {};

  /// Nodes run together if their first `attribute_bytes` of attributes agree.
  static constexpr BatchRule each(std::size_t attribute_bytes = 0) {
    return {true, attribute_bytes, nullptr, kNone};
  }
  /// Like `each`, but `ragged` sizes may differ. A kernel reads the shapes of each node by `dim(k,
  /// i)`.
  static constexpr BatchRule sequences(Ragged ragged, std::size_t attribute_bytes = 0) {
    return {true, attribute_bytes, nullptr, kNone, ragged};
  }
  /// Every node runs alone.
  static constexpr BatchRule never(const char* reason) { return {false, 0, reason, kNone}; }
  /// Nodes that share every W and the operand before the pairs run as one product. The gradient of
  /// a shared operand is deferred and computed for all its uses at once. On a device, products W x
  /// of different W may be in one batch, see Node::kOwnMatrix.
  static constexpr BatchRule products(std::size_t first_pair, std::size_t attribute_bytes = 0) {
    return {true, attribute_bytes, nullptr, first_pair};
  }

  /// Like `products`, with x of any number of columns.
  static constexpr BatchRule products_of_columns(std::size_t first_pair) {
    BatchRule rule = products(first_pair);
    rule.ragged.cols = Ragged::kValue;
    for (std::size_t k = first_pair + 1; Ragged::operand(k) != 0; k += 2)
      rule.ragged.cols |= Ragged::operand(k);
    return rule;
  }

  /// Whether this is a sum of products.
  constexpr bool has_products() const { return first_pair != kNone; }
  /// Whether operand k must be one node for the whole batch, unless nodes have kOwnMatrix.
  constexpr bool shares(std::size_t k) const {
    return has_products() && (k < first_pair ? k + 1 == first_pair : (k - first_pair) % 2 == 0);
  }
  /// The term of a sum of products that contains operand k. Operands before the sum belong to its
  /// last step.
  constexpr std::size_t term_of(std::size_t k) const {
    if (k + 1 < first_pair) return Terms::kLast;
    return k < first_pair ? 0 : (first_pair > 0 ? 1 : 0) + (k - first_pair) / 2;
  }
};

/// Values that the backward kernel reads; a plan may reuse the memory of all other values.
enum class Reads : std::uint8_t {
  nothing = 0,
  inputs = 1,
  output = 2,
  both = 3,
  /// The output. Its element i depends only on element i of the single operand, so the value may
  /// overwrite the operand, and the operand's gradient may overwrite the gradient of the output.
  output_in_place = 6,
};
/// Whether the backward kernel reads the value of the node.
constexpr bool reads_output(Reads r) { return static_cast<unsigned>(r) & 2; }

/// How a node obtains its value.
enum class Kind : std::uint8_t {
  compute,    ///< by its forward kernel, in memory of its own
  parameter,  ///< the parameter's own memory
  lookup,     ///< a row of a table in place, or several gathered
  alias,      ///< the memory of operand 0
  transfer,   ///< copied from operand 0, which is on another device; see TransferAttr
};

/// Attributes of a transfer. All are batch attributes: a batch has one source and one target.
struct TransferAttr {
  Device* to;    ///< device of the copy
  Device* from;  ///< device of operand 0
};

/// Number of scratch elements that a node keeps from forward to backward.
using AuxRule = std::size_t (*)(const GraphStore&, const Node&);
std::size_t no_aux(const GraphStore&, const Node&);

namespace cuda {
struct Kernels;  // kernels/cuda/kernels.h
}

/// How an operation runs on a CUDA device.
struct CudaRule {
  const cuda::Kernels* kernels;  ///< null if there are none, or in a library without CUDA
  const char* why_not;           ///< reason if there are none

  /// Runs these kernels.
  static constexpr CudaRule by(const cuda::Kernels* kernels) { return {kernels, nullptr}; }
  /// Needs no kernel: value and gradient are existing memory.
  static constexpr CudaRule by_executor() { return {nullptr, nullptr}; }
  /// Runs on the CPU only.
  static constexpr CudaRule never(const char* reason) { return {nullptr, reason}; }
};

/// Definition of an operation (an op definition): one record of everything that the library knows
/// about it.
struct OpForm {
  Required<const char*> name;                ///< as the user writes it
  Kind kind = Kind::compute;                 ///< how it gets its value
  Required<Dim (*)(const Operands&)> shape;  ///< pure function; throws RuleBroken
  Required<BatchRule> batch;                 ///< which nodes may run together
  Required<Reads> reads;                     ///< what backward reads
  Required<AuxRule> aux;                     ///< scratch from forward to backward
  bool passes_gradient = true;               ///< false: operands get no gradient through this node
  Required<Forward> forward;                 ///< computes values
  Required<Backward> backward;               ///< computes gradients of operands
  Required<CudaRule> cuda;                   ///< kernels for CUDA devices
  /// Alias of the second result, if there are two, for operands that must be nodes; null if there
  /// is one. Both results have the node's shape; the second one lies at the start of the scratch.
  const OpForm* second_result = nullptr;
  /// Size of the sum of products from which the value is computed, if it is not the value itself;
  /// else null. The sum lies in the scratch.
  AuxRule sums = nullptr;
  /// For forward kernels on a CPU that may overwrite operand 0 with the end of the scratch: number
  /// of scratch elements before it, a function of the operand's shape; else null. Backward reads
  /// the scratch instead of the operand.
  std::size_t (*scratch_before_operand)(const Dim& operand) = nullptr;
  /// Spares the shape rule: whether a node with the operand shapes and batch attributes of an
  /// earlier one, which had this shape, is valid and has that shape, too; null: not known.
  bool (*has_shape)(const Dim& shape, const Operands& operands) = nullptr;
};

}  // namespace dynet
