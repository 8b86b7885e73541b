#include "kernels/cpu/matrix.h"

#include <algorithm>

#include "dynet-like/base/flush_subnormals.h"
#include "kernels/cpu/eigen.h"
#include "kernels/cpu/elementary.h"
#include "kernels/cpu/lstm_sequence.h"
#include "kernels/cpu/product_kinds.h"
#include "kernels/cpu/recurrent.h"
#include "kernels/cpu/softmax.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Shapes of the products with operands w and x of the nodes of a batch: W is m x k, x is k x n.
template <class T>
class Shapes {
 public:
  Shapes(const Batch<T>& b, std::size_t w, std::size_t x)
      : m(b.dim(w).rows()),
        k(b.dim(w).cols()),
        batch(b.dim().bd),
        w_batch(b.dim(w).bd),
        x_batch(b.dim(x).bd),
        n_(b.dim(x).cols()),
        b_(b.node(0).form->batch.value.ragged.any() ? &b : nullptr),
        x_(x) {}

  std::size_t m, k;
  std::size_t batch, w_batch, x_batch;

  /// Columns of x of node i.
  std::size_t n(std::size_t i) const { return b_ ? b_->dim(x_, i).cols() : n_; }
  std::size_t of_w(std::size_t e) const { return w_batch == 1 ? 0 : e * m * k; }

  /// Appends the columns of batch element e of node i, whose x and y are at these addresses.
  template <class F>
  void push(Columns<T>& to, std::size_t i, std::size_t e, T* x, T* y, bool adds, F&& full) const {
    const std::size_t columns = n(i);
    x += x_batch == 1 ? 0 : e * k * columns;
    y += e * m * columns;
    for (std::size_t c = 0; c < columns; ++c) to.push(x + c * k, y + c * m, adds, full);
  }

 private:
  std::size_t n_;
  const Batch<T>* b_;  // null: all have n_ columns
  std::size_t x_;
};

// Calls run(W, columns) once per run of nodes and batch elements that share W, or more often for
// very many columns. Covers the first `elements` of nodes with `wanted(i)`.
template <class T, class Wanted, class Add, class Run>
void for_columns(const Shapes<T>& s, std::size_t count, std::size_t elements, T* const* w,
                 T* const* x, T* const* y, std::size_t offset, Wanted wanted, Add add, Run run) {
  Columns<T> columns;
  const T* of = nullptr;
  const auto flush = [&](Columns<T>& all) {
    if (all.count) run(of, all);
    all.count = 0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!wanted(i)) continue;
    for (std::size_t e = 0; e < elements; ++e) {
      const T* const here = w[i] + s.of_w(e);
      if (here != of) flush(columns);
      of = here;
      s.push(columns, i, e, x[i], y[i] + offset, add(i), flush);
    }
  }
  flush(columns);
}

// y (+)= W x for all nodes, or y = start + W x; y: `offset` elements from those of `ys`.
template <class Products, class T>
void multiply_nodes(const Products& by, const Batch<T>& b, std::size_t w, std::size_t x, bool add,
                    T* const* ys, std::size_t offset = 0, const T* start = nullptr) {
  const ProductsWith<Products, T> products(by, b, w);
  const Shapes<T> s(b, w, x);
  for_columns<T>(
      s, b.count, s.batch, b.ins + w * b.count, b.ins + x * b.count, ys, offset,
      [](std::size_t) { return true; }, [&](std::size_t) { return add; },
      [&](const T* of, const Columns<T>& c) {
        products.multiply(s.m, s.k, c.count, of, c.x, c.y, c.add, start);
      });
}

// dW (+)= sum of d y x' over the nodes [i, i + nodes) and batch elements [e, e + elements).
template <class Products, class T>
void sum_outer(const Products& by, const GradientBatch<T>& b, const Shapes<T>& s, std::size_t x,
               T* dw, bool add, std::size_t i, std::size_t nodes, std::size_t e,
               std::size_t elements) {
  Columns<T> columns;
  const auto flush = [&](Columns<T>& c) {
    by.multiply_outer(s.m, s.k, c.count, add, dw, c.y, c.x);
    add = true;
    c.count = 0;
  };
  for (std::size_t j = i; j < i + nodes; ++j)
    for (std::size_t f = e; f < e + elements; ++f)
      s.push(columns, j, f, b.ins[x * b.count + j], b.d_outs[j], false, flush);
  if (columns.count || !add) flush(columns);
}

// d x (+)= W' d y. Columns that share a destination with an earlier column run last, one by one.
template <class Products, class T>
void sum_transposed(const Products& by, const GradientBatch<T>& b, const Shapes<T>& s,
                    std::size_t w, std::size_t x) {
  const ProductsWith<Products, T> products(by, b, w);
  const auto run = [&](const T* of, const Columns<T>& c) {
    products.multiply_transposed(s.m, s.k, c.count, of, c.y, c.x, c.add);
  };
  const auto again = [&](std::size_t i) { return b.write(x, i) == Write::again; };
  const bool one_for_all = s.x_batch == 1;
  bool any_again = one_for_all && s.batch > 1;
  for_columns<T>(
      s, b.count, one_for_all ? 1 : s.batch, b.ins + w * b.count, b.d_ins + x * b.count, b.d_outs,
      0,
      [&](std::size_t i) {
        if (!b.d_in(x, i)) return false;
        any_again |= again(i);
        return !again(i);
      },
      [&](std::size_t i) { return b.add(x, i); }, run);
  if (!any_again) return;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(x, i)) continue;
    const std::size_t first = again(i) ? 0 : one_for_all ? 1 : s.batch;
    for (std::size_t e = first; e < s.batch; ++e) {
      Columns<T> columns;
      s.push(columns, i, e, b.d_in(x, i), b.d_outs[i], true, [&](auto& c) {
        run(b.in(w, i) + s.of_w(e), c);
        c.count = 0;
      });
      if (columns.count) run(b.in(w, i) + s.of_w(e), columns);
    }
  }
}

// d W (+)= d y x', then d x (+)= W' d y. All nodes share one W, or each has its own.
template <class Products, class T>
void multiply_nodes_backward(const Products& by, const GradientBatch<T>& b, std::size_t w,
                             std::size_t x) {
  const Shapes<T> s(b, w, x);
  if (s.w_batch == 1 && b.d_in(w, 0)) {
    sum_outer(by, b, s, x, b.d_in(w, 0), b.add(w, 0), 0, b.count, 0, s.batch);
  } else {
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; b.d_in(w, i) && e < s.batch; ++e)
        sum_outer(by, b, s, x, b.d_in(w, i) + s.of_w(e), b.add(w, i), i, 1, e, 1);
  }
  sum_transposed(by, b, s, w, x);
}

// Sums of products of size(i) elements for each batch element of node i, `offset` elements from the
// addresses `ys`.
template <class Products, class T, class Size>
void affine_forward_by(const Products& by, const Batch<T>& b, T* const* ys, std::size_t offset,
                       Size size) {
  const BatchRule& rule = b.node(0).form->batch.value;
  const std::size_t first = rule.first_pair;
  bool add = b.accumulates;
  // The first product starts from the bias if possible, which saves a pass over the values.
  const T* start = nullptr;
  if (first > 0 && !b.accumulates) {
    const Dim& bias = b.dim(first - 1);
    const std::size_t rows = bias.batch_size();
    if (bias.bd == 1 && b.arity > first + 1 && b.terms.has(rule.term_of(first)) &&
        rows == b.dim(first).rows()) {
      start = b.in(first - 1, 0);
    } else {
      for (std::size_t i = 0; i < b.count; ++i)
        for (std::size_t e = 0; e < b.dim().bd; ++e) {
          const T* from = b.in(first - 1, i) + (bias.bd == 1 ? 0 : e * rows);
          for (std::size_t at = 0; at < size(i); at += rows)
            std::copy_n(from, rows, ys[i] + offset + e * size(i) + at);
        }
      add = true;
    }
  }
  for (std::size_t k = first; k + 1 < b.arity; k += 2)
    if (b.terms.has(rule.term_of(k))) {
      multiply_nodes(by, b, k, k + 1, add, ys, offset, start);
      add = true;
      start = nullptr;
    }
}

// d (+)= the sum of the columns of `count` batch elements, from e on, of the nodes [i, end).
template <class T, class Size>
void sum_columns(const GradientBatch<T>& b, std::size_t i, std::size_t end, std::size_t e,
                 std::size_t count, Size size_of, bool add, T* d, std::size_t rows) {
  using L = Lanes<T>;
  constexpr std::size_t kTile = 4;  // vectors of rows
  const auto sum = [&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t row,
                                      auto part) {
    typename L::V sums[R];
    for (std::size_t r = 0; r < R; ++r)  // -0 + x is x, also for x = -0
      sums[r] = add ? L::load(d + row + r * L::kWidth, part) : -typename L::V{};
    bool any = add;
    for (std::size_t j = i; j < end; ++j) {
      const T *x = b.d_out(j) + e * size_of(j) + row, *const last = x + count * size_of(j);
      any |= x < last;
      for (; x < last; x += rows)
        for (std::size_t r = 0; r < R; ++r) sums[r] += L::load(x + r * L::kWidth, part);
    }
    for (std::size_t r = 0; r < R; ++r)
      L::store(d + row + r * L::kWidth, any ? sums[r] : typename L::V{}, part);
  };
  std::size_t row = 0;
  for (; row + kTile * L::kWidth <= rows; row += kTile * L::kWidth)
    sum(std::integral_constant<std::size_t, kTile>(), row, typename L::All());
  each_vector<T>(rows - row, [&](std::size_t at, auto part) {
    sum(std::integral_constant<std::size_t, 1>(), row + at, part);
  });
}

// The gradient of the bias, repeated in each column of sums of size(i) elements.
template <class T, class Size>
void bias_gradient(const GradientBatch<T>& b, std::size_t k, Size size_of) {
  const Dim& bias = b.dim(k);
  const std::size_t rows = bias.batch_size();
  const std::size_t elements = bias.bd;  // with a bias each, which is summed over its columns
  for (std::size_t i = 0, end = 0; i < b.count; i = end) {
    T* const d = b.d_in(k, i);
    end = i + 1;
    while (elements == 1 && end < b.count && b.d_in(k, end) == d) ++end;  // nodes with one bias
    if (!d) continue;
    for (std::size_t e = 0; e < elements; ++e)
      sum_columns(b, i, end, e, b.dim().bd / elements, size_of, b.add(k, i), d + e * rows, rows);
  }
}

template <class Products, class T, class Size>
void affine_backward_by(const Products& by, const GradientBatch<T>& b, Size size) {
  const FlushSubnormals flush;
  const std::size_t first = b.node(0).form->batch.value.first_pair,
                    end = std::min(b.end, b.arity - 1);
  if (b.first < first) bias_gradient(b, first - 1, size);
  for (std::size_t k = std::max(b.first, first); k < end; k += 2)
    multiply_nodes_backward(by, b, k, k + 1);
}

// Operations on sums of products that lie in the scratch of a node.
struct InnerSums {
  using Forward = void (*)(const Batch<T>&);
  using Backward = void (*)(const GradientBatch<T>&);

  Forward forward;     // from the sums to the values
  Backward backward;   // from the gradients of the values to those of the sums
  std::size_t offset;  // of the sums in the scratch, in sizes of the value

  template <class Products>
  void run(const Products& by, const Batch<T>& b) const {
    affine_forward_by(by, b, b.auxs, offset * b.dim().size(), size(b));
    if (b.terms.complete()) forward(b);
  }
  template <class Products>
  void run(const Products& by, const GradientBatch<T>& b) const {
    if (b.terms.complete()) backward(b);
    GradientBatch<T> sums = b;
    sums.d_outs = b.d_sums;
    affine_backward_by(by, sums, size(b));
  }
  static auto size(const Batch<T>& b) {  // of a batch element
    return [n = b.node(0).form->sums(b.graph, b.node(0)) / b.dim().bd](std::size_t) { return n; };
  }
};
constexpr InnerSums kOfStep{lstm_cell_forward, lstm_cell_backward, 2};  // where the gates will be
constexpr InnerSums kOfLoss{class_loss_forward, class_loss_backward, 0};

// Elements of a batch element of a node's value.
auto size_of_value(const Batch<T>& b) {
  return [&b](std::size_t i) { return b.node(i).dim.batch_size(); };
}

}  // namespace

void affine_forward(const Batch<T>& b) {
  affine_forward_by(ExactProducts<T>{b.prepared}, b, b.outs, 0, size_of_value(b));
}
void affine_backward(const GradientBatch<T>& b) {
  affine_backward_by(ExactProducts<T>{b.prepared}, b, size_of_value(b));
}
void lstm_step_forward(const Batch<T>& b) { kOfStep.run(ExactProducts<T>{b.prepared}, b); }
void lstm_step_backward(const GradientBatch<T>& b) { kOfStep.run(ExactProducts<T>{b.prepared}, b); }
void linear_cross_entropy_forward(const Batch<T>& b) {
  kOfLoss.run(ExactProducts<T>{b.prepared}, b);
}
void linear_cross_entropy_backward(const GradientBatch<T>& b) {
  kOfLoss.run(ExactProducts<T>{b.prepared}, b);
}

template <class T>
const RoundedKernels<T>* bf16_kernels([[maybe_unused]] ForwardKernel<T> exact) {
#ifdef DYNET_HAS_BF16
  if constexpr (std::is_same_v<T, float>) {
    using F = const Batch<T>&;
    using B = const GradientBatch<T>&;
    static constexpr struct {
      ForwardKernel<T> exact;
      RoundedKernels<T> rounded;
    } kAll[] = {
        {affine_forward,
         {[](F b) { affine_forward_by(Bf16Products{b.prepared}, b, b.outs, 0, size_of_value(b)); },
          [](B b) { affine_backward_by(Bf16Products{b.prepared}, b, size_of_value(b)); }}},
        {lstm_sequence_forward, {lstm_sequence_bf16_forward<T>, lstm_sequence_bf16_backward<T>}},
        {lstm_step_forward,
         {[](F b) { kOfStep.run(Bf16Products{b.prepared}, b); },
          [](B b) { kOfStep.run(Bf16Products{b.prepared}, b); }}},
        {linear_cross_entropy_forward,
         {[](F b) { kOfLoss.run(Bf16Products{b.prepared}, b); },
          [](B b) { kOfLoss.run(Bf16Products{b.prepared}, b); }}},
    };
    for (const auto& k : kAll)
      if (k.exact == exact && bf16_unit() != Bf16Unit::none) return &k.rounded;
  }
#endif
  return nullptr;
}

template const RoundedKernels<T>* bf16_kernels(ForwardKernel<T>);

}  // namespace dynet::cpu::DYNET_ISA
