#include "kernels/cpu/recurrent.h"

#include "kernels/cpu/elementary.h"
#include "kernels/cpu/lstm_cell.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Operand k of every node at batch element e; an operand with a batch of one repeats. Without a
// minibatch, its shape is not looked up.
struct Operand {
  Operand(const Batch<T>& b, std::size_t k)
      : step(b.dim().bd == 1 || b.dim(k).bd == 1 ? 0 : b.dim(k).batch_size()) {}
  template <class P>
  P* at(P* p, std::size_t e) const {
    return p + e * step;
  }
  // True if the write for element e adds: a shared operand accumulates from its second element on.
  bool adds(bool first_adds, std::size_t e) const { return first_adds || (step == 0 && e > 0); }
  std::size_t step;
};

}  // namespace

void lstm_activate_forward(const Batch<T>& b) {
  const auto bias = static_cast<T>(b.attr<LstmGatesAttr>().forget_bias);
  const std::size_t h = b.dim().batch_size() / 4;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      for (std::size_t j = 0; j < 4; ++j) {
        const T* const x = b.in(0, i) + (4 * e + j) * h;
        T* const y = b.out(i) + (4 * e + j) * h;
        const T add = j == 1 ? bias : T(0);
        if (j < 3)
          map_vectors(y, x, h, [=](auto v) { return logistic(v + add); });
        else
          map_vectors(y, x, h, [](auto v) { return tanh(v); });
      }
}

void lstm_activate_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size() / 4;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t part = 0; b.d_in(0, i) && part < 4 * b.dim().bd; ++part) {
      const T *const y = b.out(i) + part * h, *const dy = b.d_out(i) + part * h;
      T* const dx = b.d_in(0, i) + part * h;
      if (part % 4 < 3)
        write(b.add(0, i), dx, h, [=](auto of) { return of(dy) * of(y) * (T(1) - of(y)); });
      else
        write(b.add(0, i), dx, h,
              [=](auto of) { return of(dy) * ((T(1) - of(y)) * (T(1) + of(y))); });
    }
}

namespace {

// Calls f(node, batch element) for all of a batch.
template <class F>
void each_element(const Batch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) f(i, e);
}

// Writes the gradients of operand k: f(i, e) is a function of the loader for `write`.
template <class F>
void write_gradients(const GradientBatch<T>& b, std::size_t k, F f) {
  const Operand to(b, k);
  each_element(b, [&](std::size_t i, std::size_t e) {
    if (b.d_in(k, i))
      write(to.adds(b.add(k, i), e), to.at(b.d_in(k, i), e), b.dim().batch_size(), f(i, e));
  });
}

}  // namespace

void gated_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  each_element(b, [&](std::size_t i, std::size_t e) {
    const T *const x = Operand(b, 0).at(b.in(0, i), e), *const s = Operand(b, 1).at(b.in(1, i), e);
    T* const gate = b.aux(i) + e * n;
    map_vectors(gate, s, n, [](auto v) { return logistic(v); });
    write(false, b.out(i) + e * n, n, [=](auto of) { return of(x) * of(gate); });
  });
}

void gated_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  write_gradients(b, 0, [&](std::size_t i, std::size_t e) {
    const T *const dy = b.d_out(i) + e * n, *const gate = b.aux(i) + e * n;
    return [=](auto of) { return of(dy) * of(gate); };
  });
  write_gradients(b, 1, [&](std::size_t i, std::size_t e) {
    const T *const dy = b.d_out(i) + e * n, *const gate = b.aux(i) + e * n,
                   *const x = Operand(b, 0).at(b.in(0, i), e);
    return [=](auto of) { return of(dy) * of(x) * of(gate) * (T(1) - of(gate)); };
  });
}

void coupled_update_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  each_element(b, [&](std::size_t i, std::size_t e) {
    const auto operand = [&](std::size_t k) { return Operand(b, k).at(b.in(k, i), e); };
    T *const z = b.aux(i) + e * n, *const u = z + b.dim().size();
    map_vectors(z, operand(0), n, [](auto v) { return logistic(v); });
    map_vectors(u, operand(1), n, [](auto v) { return tanh(v); });
    const T* const c = operand(2);
    write(false, b.out(i) + e * n, n,
          [=](auto of) { return of(z) * of(u) + (T(1) - of(z)) * of(c); });
  });
}

void coupled_update_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  const auto z_of = [&](std::size_t i, std::size_t e) { return b.aux(i) + e * n; };
  write_gradients(b, 0, [&](std::size_t i, std::size_t e) {
    const T *const dy = b.d_out(i) + e * n, *const z = z_of(i, e), *const u = z + b.dim().size(),
                   *const c = Operand(b, 2).at(b.in(2, i), e);
    return [=](auto of) { return of(dy) * (of(u) - of(c)) * of(z) * (T(1) - of(z)); };
  });
  write_gradients(b, 1, [&](std::size_t i, std::size_t e) {
    const T *const dy = b.d_out(i) + e * n, *const z = z_of(i, e), *const u = z + b.dim().size();
    return [=](auto of) { return of(dy) * of(z) * ((T(1) - of(u)) * (T(1) + of(u))); };
  });
  write_gradients(b, 2, [&](std::size_t i, std::size_t e) {
    const T *const dy = b.d_out(i) + e * n, *const z = z_of(i, e);
    return [=](auto of) { return of(dy) * (T(1) - of(z)); };
  });
}

namespace {

// Batch element e of node i of an LSTM cell. Operands are the K previous cells, then the sums of
// the gates i, f_1 ... f_K, o, g: one behind the other as one operand, an operand for each, or
// those of a sum of products, which lies where the gates will.
struct CellElement {
  CellElement(const Batch<T>& batch, std::size_t node, std::size_t element)
      : b(batch),
        i(node),
        e(element),
        children(b.attr<LstmGatesAttr>().children),
        inner(b.node(0).form->sums),
        h(b.dim().batch_size()),
        c(b.aux(i) + e * h),
        t(c + b.dim().size()),
        gates(b.aux(i) + 2 * b.dim().size() + e * (3 + children) * h) {}

  const Batch<T>& b;
  std::size_t i, e, children;
  bool inner;  // whether the sum is that of products
  std::size_t h;
  T *c, *t, *gates;

  T* gate(std::size_t j) const { return gates + j * h; }
  /// Whether gate j's sum is part of one vector.
  bool one() const { return inner || b.arity == children + 1; }
  /// Operand with the sum of gate j, and where that is in `all`, a list like `ins`.
  std::size_t operand(std::size_t j) const { return one() ? children : children + j; }
  template <class P>
  P* sum(P* const* all, std::size_t j) const {
    const std::size_t k = operand(j);
    return Operand(b, k).at(all[k * b.count + i], e) + (one() ? j * h : 0);
  }
  const T* sum(std::size_t j) const { return inner ? gate(j) : sum(b.ins, j); }
  const T* previous(std::size_t k) const { return cell(b.ins, k); }
  T* d_sum(const GradientBatch<T>& of, std::size_t j) const {
    return inner ? of.d_sums[i] + e * (3 + children) * h + j * h : sum(of.d_ins, j);
  }
  T* cell(T* const* all, std::size_t k) const { return Operand(b, k).at(all[k * b.count + i], e); }
};

}  // namespace

[[gnu::noinline]] void update_cell(std::size_t n, const T* i, const T* g, const T* f,
                                   const T* before, T* c) {
  write(false, c, n, [=](auto of) { return of(i) * of(g) + of(f) * of(before); });
}

void lstm_cell_forward(const Batch<T>& b) {
  const auto forget_bias = static_cast<T>(b.attr<LstmGatesAttr>().forget_bias);
  each_element(b, [&](std::size_t i, std::size_t e) {
    const CellElement s(b, i, e);
    cell_forward(s, forget_bias, b.out(i) + e * s.h);
  });
}

namespace {

// Writes the gradients of the operands [first, end) of a batch element.
void cell_gradients(const GradientBatch<T>& b, std::size_t i, std::size_t e, std::size_t first,
                    std::size_t end) {
  const CellElement s(b, i, e);
  const auto is_sum = [&](std::size_t k) { return s.inner && k == s.children; };
  // The target of operand k, if it is wanted.
  const auto target = [&](std::size_t k, auto at) {
    if (k < first || k >= end || (!is_sum(k) && !b.d_in(k, i))) return Target{};
    return Target{at(), !is_sum(k) && Operand(b, k).adds(b.add(k, i), e)};
  };
  cell_backward(
      s, b.d_outs[i] ? b.d_outs[i] + e * s.h : nullptr,
      b.d_seconds[i] ? b.d_seconds[i] + e * s.h : nullptr,
      [&](std::size_t k) { return target(k, [&] { return s.cell(b.d_ins, k); }); },
      [&](std::size_t j) { return target(s.operand(j), [&] { return s.d_sum(b, j); }); });
}

}  // namespace

// Node by node if no target is written twice, or if it is one of the same operand; otherwise
// operand by operand.
void lstm_cell_backward(const GradientBatch<T>& b) {
  const bool inner = b.node(0).form->sums;
  const std::size_t own = inner ? b.attr<LstmGatesAttr>().children : b.arity, all = own + inner;
  bool stores = true;
  for (std::size_t to = 0; to < own * b.count; ++to)
    stores = stores && (!b.d_ins[to] || b.writes[to] == Write::store);
  const std::size_t step = stores || all == 2 ? all : 1;  // a cell and sums differ in size
  for (std::size_t first = 0; first < all; first += step)
    each_element(
        b, [&](std::size_t i, std::size_t e) { cell_gradients(b, i, e, first, first + step); });
}

}  // namespace dynet::cpu::DYNET_ISA
