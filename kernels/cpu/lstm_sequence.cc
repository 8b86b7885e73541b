#include "kernels/cpu/lstm_sequence.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "dynet-like/base/flush_subnormals.h"
#include "kernels/cpu/eigen.h"
#include "kernels/cpu/lstm_cell.h"
#include "kernels/cpu/product_kinds.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Operands; the last two may be missing.
enum : std::size_t { kSequenceSums, kSequenceMatrix, kInitialOutput, kInitialCell };

/// A batch element of a node.
struct LstmSequence {
  LstmSequence(const Batch<T>& b, std::size_t i, std::size_t e)
      : node(i),
        element(e),
        h(b.dim(kSequenceMatrix, i).cols()),
        length(b.dim(kSequenceSums, i).cols()),
        sums(b.in(kSequenceSums, i) + e * 4 * h * length),
        y(b.out(i) + e * h * length),
        c(b.aux(i) + e * h * length),
        t(c + b.node(i).dim.size()),
        gates(b.aux(i) + 2 * b.node(i).dim.size() + e * 4 * h * length) {
    const auto& a = b.attr<LstmSequenceAttr>(i);
    forget_bias = static_cast<T>(a.forget_bias);
    reverse = a.reverse;
    if (b.arity == 2) return;
    h0 = b.ins[kInitialOutput * b.count + i] + (b.dim(kInitialOutput, i).bd == 1 ? 0 : e * h);
    c0 = b.in(kInitialCell, i) + (b.dim(kInitialCell, i).bd == 1 ? 0 : e * h);
  }

  std::size_t node, element, h, length;
  const T* sums;
  T *y, *c, *t, *gates;
  T forget_bias;
  bool reverse;
  T* h0 = nullptr;  // null: zeros, as c0
  const T* c0 = nullptr;

  std::size_t column(std::size_t step) const { return reverse ? length - 1 - step : step; }
  T* output_before(std::size_t step) const { return step > 0 ? y + column(step - 1) * h : h0; }
};

/// The cell of a step.
class LstmStep {
 public:
  LstmStep(const LstmSequence& s, std::size_t step, const T* zeros)
      : before_{step > 0 ? s.c + s.column(step - 1) * s.h
                : s.c0   ? s.c0
                         : zeros},
        gates_(s.gates + s.column(step) * 4 * s.h),
        sums_{gates_, gates_ + s.h, gates_ + 2 * s.h, gates_ + 3 * s.h},
        cell_{s.h,
              1,
              before_,
              sums_,
              gates_,
              s.c + s.column(step) * s.h,
              s.t + s.column(step) * s.h} {}
  LstmStep(const LstmStep&) = delete;
  LstmStep& operator=(const LstmStep&) = delete;

  const LstmCell<T>& cell() const { return cell_; }

 private:
  const T* before_[1];
  T* gates_;
  const T* sums_[4];
  LstmCell<T> cell_;
};

/// Sequences of nodes with one matrix, of one kind, and with one target of its gradient, the
/// longest first: those that take a step are the first ones.
struct SameMatrix {
  std::size_t first;  // node
  bool is_parameter;  // which may have 8 bits
  const T* w;
  T* d_w;
  std::vector<LstmSequence> sequences = {};

  std::size_t longest() const { return sequences.empty() ? 0 : sequences.front().length; }
};

std::vector<SameMatrix> by_matrix(const Batch<T>& b, T* const* d_w) {
  std::vector<SameMatrix> groups;
  for (std::size_t i = 0; i < b.count; ++i) {
    const T* const w = b.in(kSequenceMatrix, i);
    T* const d = d_w ? d_w[i] : nullptr;
    const bool p = is_parameter(b, kSequenceMatrix, i);
    auto to = std::find_if(groups.begin(), groups.end(), [=](const SameMatrix& g) {
      return g.w == w && g.d_w == d && g.is_parameter == p;
    });
    if (to == groups.end()) to = groups.insert(to, SameMatrix{i, p, w, d});
    for (std::size_t e = 0; e < b.node(i).dim.bd; ++e) to->sequences.emplace_back(b, i, e);
  }
  for (SameMatrix& g : groups)
    std::stable_sort(
        g.sequences.begin(), g.sequences.end(),
        [](const LstmSequence& a, const LstmSequence& c) { return a.length > c.length; });
  return groups;
}

template <class Products>
void sequence_forward_by(const Products& by, const Batch<T>& b) {
  const std::size_t h = b.dim().rows();
  const std::vector<T> zeros(h, T(0));
  for (const SameMatrix& g : by_matrix(b, nullptr)) {
    const ProductsWith<Products, T> products(by, b, kSequenceMatrix, g.first);
    Columns<T> columns;
    const auto multiply = [&](Columns<T>& c) {
      if (c.count) products.multiply(4 * h, h, c.count, g.w, c.x, c.y, c.add);
      c.count = 0;
    };
    std::size_t running = g.sequences.size();
    for (std::size_t step = 0; step < g.longest(); ++step) {
      while (g.sequences[running - 1].length <= step) --running;
      const std::span<const LstmSequence> now(g.sequences.data(), running);
      for (const LstmSequence& s : now) {
        const std::size_t at = 4 * h * s.column(step);
        if (s.sums != s.gates) std::copy_n(s.sums + at, 4 * h, s.gates + at);
        if (T* const before = s.output_before(step))
          columns.push(before, s.gates + at, true, multiply);
      }
      multiply(columns);
      for (const LstmSequence& s : now)
        cell_forward(LstmStep(s, step, zeros.data()).cell(), s.forget_bias,
                     s.y + s.column(step) * h);
    }
  }
}

/// Gradients of a batch: of the sums, and of h and c before the steps so far.
class SequenceGradients {
 public:
  explicit SequenceGradients(const GradientBatch<T>& b)
      : b_(b), h_(b.dim().rows()), zeros_(h_, T(0)) {
    std::size_t sums = 0;
    for (std::size_t i = 0; i < b.count; ++i)
      adds_ = adds_ || (b.d_in(kSequenceSums, i) && b.add(kSequenceSums, i));
    for (std::size_t i = 0; i < b.count; ++i)
      if (!in_place(i)) sums += b.dim(kSequenceSums, i).size();
    carried_.resize(2 * h_ * b.count * b.dim().bd, T(0));
    copies_.reset(new T[sums]);
    for (std::size_t i = 0, at = 0; i < b.count; ++i) {
      d_sums_.push_back(in_place(i) ? b.d_in(kSequenceSums, i) : copies_.get() + at);
      if (!in_place(i)) at += b.dim(kSequenceSums, i).size();
    }
  }

  /// Gradients of the sums at a column, and of the state before the last step that was computed.
  T* d_sums(const LstmSequence& s, std::size_t column) const {
    return d_sums_[s.node] + 4 * h_ * (s.element * s.length + column);
  }
  T* d_output(std::size_t node, std::size_t element) {
    return carried_.data() + 2 * h_ * (node * b_.dim().bd + element);
  }
  T* d_cell(std::size_t node, std::size_t element) { return d_output(node, element) + h_; }

  /// Computes the gradients of a step's sums, and of the cell before it.
  void run_step(const LstmSequence& s, std::size_t step) {
    const std::size_t column = s.column(step), at = (s.element * s.length + column) * h_;
    // The gradients of h and c are those of their users and of the next step.
    const bool last = step + 1 == s.length;
    const auto own = [=](const T* d) { return d ? d + at : nullptr; };
    T* const d_output = this->d_output(s.node, s.element);
    T* const d_cell = this->d_cell(s.node, s.element);
    T* const to = d_sums(s, column);
    const Target<T> of_cell{d_cell, false},
        of_sums[] = {{to, false}, {to + h_, false}, {to + 2 * h_, false}, {to + 3 * h_, false}};
    cell_backward(LstmStep(s, step, zeros_.data()).cell(),
                  {{last ? nullptr : d_output, own(b_.d_outs[s.node])},
                   {last ? nullptr : d_cell, own(b_.d_seconds[s.node])},
                   &of_cell,
                   of_sums});
  }

  /// Writes the gradients of the sums where they are not yet.
  void write_sums() const {
    for (std::size_t i = 0; i < b_.count; ++i)
      if (b_.d_in(kSequenceSums, i) && !in_place(i)) {
        const std::size_t n = b_.dim(kSequenceSums, i).size();
        store_or_add(b_.add(kSequenceSums, i), array(b_.d_in(kSequenceSums, i), n),
                     array(d_sums_[i], n));
      }
  }
  /// Writes the gradient of the initial state's part k.
  void write_initial(std::size_t k) {
    for (std::size_t i = 0; i < b_.count; ++i) {
      if (!b_.d_in(k, i)) continue;
      const bool one = b_.dim(k, i).bd == 1;
      for (std::size_t e = 0; e < b_.node(i).dim.bd; ++e)
        store_or_add(b_.add(k, i) || (one && e > 0), array(b_.d_in(k, i) + (one ? 0 : e * h_), h_),
                     array(k == kInitialOutput ? d_output(i, e) : d_cell(i, e), h_));
    }
  }

 private:
  /// Whether the gradients of the sums of a node are computed where they are wanted: nothing is
  /// added there before the gradients of matrices are known, which may have the same size.
  bool in_place(std::size_t i) const {
    return b_.d_in(kSequenceSums, i) && !adds_ &&
           b_.dim(kSequenceSums, i).size() != b_.dim(kSequenceMatrix, i).size();
  }

  const GradientBatch<T>& b_;
  std::size_t h_;
  bool adds_ = false;  // whether the gradient of sums is added for a node
  std::vector<T> zeros_;
  std::vector<T> carried_;  // by batch element of each node: of its output, then of its cell
  std::unique_ptr<T[]> copies_;
  std::vector<T*> d_sums_;  // by node
};

/// d W (+)= sum of d sums h', over all steps with an output before them.
template <class Products>
void add_matrix_gradient(const Products& by, const GradientBatch<T>& b, const SameMatrix& g,
                         const SequenceGradients& gradients) {
  const std::size_t h = b.dim().rows();
  bool add = b.add(kSequenceMatrix, g.first);
  Columns<T> columns;
  const auto multiply = [&](Columns<T>& c) {
    by.multiply_outer(4 * h, h, c.count, add, g.d_w, c.y, c.x);
    add = true;
    c.count = 0;
  };
  for (const LstmSequence& s : g.sequences)
    for (std::size_t step = 0; step < s.length; ++step)
      if (T* const before = s.output_before(step))
        columns.push(before, gradients.d_sums(s, s.column(step)), false, multiply);
  if (columns.count || !add) multiply(columns);  // without columns it stores zeros
}

template <class Products>
void sequence_backward_by(const Products& by, const GradientBatch<T>& b) {
  const FlushSubnormals flush;
  const std::size_t h = b.dim().rows();
  SequenceGradients gradients(b);
  const std::vector<SameMatrix> groups = by_matrix(b, b.d_ins + kSequenceMatrix * b.count);
  for (const SameMatrix& g : groups) {
    const ProductsWith<Products, T> products(by, b, kSequenceMatrix, g.first);
    Columns<T> columns;
    const auto multiply = [&](Columns<T>& c) {
      if (c.count) products.multiply_transposed(4 * h, h, c.count, g.w, c.y, c.x, c.add);
      c.count = 0;
    };
    std::size_t running = 0;
    for (std::size_t step = g.longest(); step-- > 0;) {
      while (running < g.sequences.size() && g.sequences[running].length > step) ++running;
      for (const LstmSequence& s : std::span(g.sequences.data(), running)) {
        gradients.run_step(s, step);
        if (s.output_before(step))
          columns.push(gradients.d_output(s.node, s.element), gradients.d_sums(s, s.column(step)),
                       false, multiply);
      }
      multiply(columns);
    }
  }
  gradients.write_sums();
  for (const SameMatrix& g : groups)
    if (g.d_w) add_matrix_gradient(by, b, g, gradients);
  for (std::size_t k = kInitialOutput; k < b.arity; ++k) gradients.write_initial(k);
}

}  // namespace

void lstm_sequence_forward(const Batch<T>& b) {
  sequence_forward_by(ExactProducts<T>{b.prepared}, b);
}
void lstm_sequence_backward(const GradientBatch<T>& b) {
  sequence_backward_by(ExactProducts<T>{b.prepared}, b);
}
#ifdef DYNET_HAS_BF16
template <class U>
void lstm_sequence_bf16_forward(const Batch<U>& b) {
  if constexpr (std::is_same_v<U, float>) sequence_forward_by(Bf16Products{b.prepared}, b);
}
template <class U>
void lstm_sequence_bf16_backward(const GradientBatch<U>& b) {
  if constexpr (std::is_same_v<U, float>) sequence_backward_by(Bf16Products{b.prepared}, b);
}
template void lstm_sequence_bf16_forward(const Batch<T>&);
template void lstm_sequence_bf16_backward(const GradientBatch<T>&);
#endif

}  // namespace dynet::cpu::DYNET_ISA
