#pragma once

// Products of matrices with the columns of nodes, in each precision, by one interface.

#include <type_traits>

#include "dynet-like/base/prepared_matrices.h"
#include "dynet-like/graph/op.h"
#include "dynet-like/graph/parameter_nodes.h"
#include "kernels/cpu/bf16_product.h"
#include "kernels/cpu/int8_product.h"
#include "kernels/cpu/product.h"

namespace dynet::cpu::DYNET_ISA {

/// Product kernels for exact and for bf16-rounded numbers. `stays`: W is constant until the end of
/// the pass and may come again, so that a copy in another layout pays.
template <class T>
struct ExactProducts {
  PreparedMatrices* prepared;

  template <class... A>
  void multiply(bool /*stays*/, A... a) const {
    cpu::DYNET_ISA::multiply<T>(a...);
  }
  void multiply_transposed(bool stays, std::size_t m, std::size_t k, std::size_t n, const T* w,
                           const T* const* y, T* const* x, const bool* add) const {
    constexpr std::size_t kMany = 32;  // columns: with a copy of W' products read it faster
    const T* copy = nullptr;
    if (prepared && m > 1 && k > 1 && (stays || n >= kMany))
      copy = prepared->find<T>({w, m, k, PreparedMatrices::Layout::transposed}, n, kMany, m * k,
                               [&](T* to) { transpose(m, k, w, to); });
    if (copy)
      cpu::DYNET_ISA::multiply<T>(k, m, n, copy, y, x, add, nullptr);
    else
      cpu::DYNET_ISA::multiply_transposed<T>(m, k, n, w, y, x, add);
  }
  template <class... A>
  void multiply_outer(A... a) const {
    cpu::DYNET_ISA::multiply_outer<T>(a...);
  }
};
#ifdef DYNET_HAS_BF16
struct Bf16Products {
  PreparedMatrices* prepared;
  Bf16Unit unit = bf16_unit();

  template <class... A>
  void multiply(bool stays, A... a) const {
    multiply_bf16(unit, a..., stays ? prepared : nullptr);
  }
  template <class... A>
  void multiply_transposed(bool stays, A... a) const {
    multiply_transposed_bf16(unit, a..., stays ? prepared : nullptr);
  }
  template <class... A>
  void multiply_outer(A... a) const {
    multiply_outer_bf16(unit, a...);
  }
};
#endif

/// Columns of several nodes, batched into one product.
template <class T>
struct Columns {
  static constexpr std::size_t kMost = 256;

  std::size_t count = 0;
  T* x[kMost];
  T* y[kMost];
  bool add[kMost];

  /// Calls full(*this), which must empty it, when there is no more room.
  template <class F>
  void push(T* at_x, T* at_y, bool adds, F&& full) {
    x[count] = at_x;
    y[count] = at_y;
    add[count] = adds;
    if (++count == kMost) full(*this);
  }
};

/// Operand W of node i.
template <class T>
const Node& operand_of(const Batch<T>& b, std::size_t operand, std::size_t i) {
  return b.graph.nodes[b.graph.args[b.node(i).first_arg + operand]];
}
template <class T>
bool is_parameter(const Batch<T>& b, std::size_t operand, std::size_t i = 0) {
  return operand_of(b, operand, i).form->kind == Kind::parameter;
}

/// Products with operand W of node i, in 8 bits where it has such a form.
template <class Products, class T>
class ProductsWith {
 public:
  ProductsWith(const Products& by, const Batch<T>& b, std::size_t operand, std::size_t i = 0)
      : by_(by), stays_(is_parameter(b, operand, i)) {
    if constexpr (std::is_same_v<T, float>)
      if (stays_) {
        const Node& node = operand_of(b, operand, i);
        int8_ = b.graph.template attr<ParameterAttr>(node).parameter->int8();
      }
  }

  void multiply(std::size_t m, std::size_t k, std::size_t n, const T* w, const T* const* x,
                T* const* y, const bool* add, const T* start = nullptr) const {
    if constexpr (std::is_same_v<T, float>)
      if (int8_) return multiply_int8(*int8_, n, x, y, add, start);
    by_.multiply(stays_, m, k, n, w, x, y, add, start);
  }
  void multiply_transposed(std::size_t m, std::size_t k, std::size_t n, const T* w,
                           const T* const* y, T* const* x, const bool* add) const {
    by_.multiply_transposed(stays_, m, k, n, w, y, x, add);
  }

 private:
  const Products& by_;
  bool stays_;
  const Int8Matrix* int8_ = nullptr;
};

}  // namespace dynet::cpu::DYNET_ISA
