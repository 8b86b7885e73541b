#include "kernels/cpu/recurrent.h"

#include <algorithm>

#include "kernels/cpu/elementary.h"

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

// Stores or adds f(of) for n elements, where of(p) loads the vector at p. Vectorized explicitly,
// since GCC's rounding in a plain loop depends on alignment.
template <class F>
void write(bool add, T* to, std::size_t n, F f) {
  each_vector<T>(n, [=](std::size_t at, auto part) {
    put(add, to + at, f([=](const T* p) { return Lanes<T>::load(p + at, part); }), part);
  });
}

// x in the lanes of elements [begin, end) of the vector at `at`, zero in the other lanes.
typename Lanes<T>::V between(T x, std::size_t begin, std::size_t end, std::size_t at) {
  using V = typename Lanes<T>::V;
  using Lane = LaneOf<Bits<V>>;
  const auto lane_of = [at](std::size_t i) {
    return static_cast<Lane>(std::min(std::max(i, at) - at, Lanes<T>::kWidth));
  };
  Bits<V> lane{};
  for (std::size_t i = 0; i < Lanes<T>::kWidth; ++i) lane[i] = static_cast<Lane>(i);
  const Bits<V> inside = (lane >= lane_of(begin)) & (lane < lane_of(end));
  return inside ? V{} + x : V{};
}

// The output gate, the last gate but one, of the gates at `gates`.
template <class P>
P* output_gate(const Batch<T>& b, P* gates) {
  return gates + b.dim(1).batch_size() - 2 * b.dim().batch_size();
}

}  // namespace

void lstm_activate_forward(const Batch<T>& b) {
  const auto& attr = b.attr<LstmGatesAttr>();
  const auto bias = static_cast<T>(attr.forget_bias);
  const std::size_t n = b.dim().batch_size(), h = n / (3 + attr.children), batch = b.dim().bd;
  const std::size_t f = attr.children * h;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const T* x = b.in(0, i) + e * n;
      T* y = b.out(i) + e * n;
      each_vector<T>(n - h, [=](std::size_t at, auto part) {
        const auto v = Lanes<T>::load(x + at, part) + between(bias, h, h + f, at);
        Lanes<T>::store(y + at, logistic(v), part);
      });
      map_vectors(y + n - h, x + n - h, h, [](auto v) { return tanh(v); });
    }
}

void lstm_activate_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size(), batch = b.dim().bd;
  const std::size_t h = n / (3 + b.attr<LstmGatesAttr>().children), g = n - h;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < batch; ++e) {
      const T *y = b.out(i) + e * n, *dy = b.d_out(i) + e * n;
      T* dx = b.d_in(0, i) + e * n;
      write(b.add(0, i), dx, g, [=](auto of) { return of(dy) * of(y) * (T(1) - of(y)); });
      dx += g, dy += g, y += g;
      write(b.add(0, i), dx, h,
            [=](auto of) { return of(dy) * ((T(1) - of(y)) * (T(1) + of(y))); });
    }
  }
}

void lstm_c_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd, children = b.arity - 1;
  const Operand gates(b, children);
  for (std::size_t k = 0; k < std::max<std::size_t>(children, 1); ++k) {
    const Operand cells(b, k);
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; e < batch; ++e) {
        const T *in = gates.at(b.in(children, i), e), *g = in + (2 + children) * h;
        const T *c = cells.at(b.in(k, i), e), *f = in + (1 + k) * h;
        T* const y = b.out(i) + e * h;
        if (children == 0)
          write(false, y, h, [=](auto of) { return of(in) * of(g); });
        else if (k == 0)
          write(false, y, h, [=](auto of) { return of(in) * of(g) + of(f) * of(c); });
        else
          write(true, y, h, [=](auto of) { return of(f) * of(c); });
      }
  }
}

namespace {

// Gradients of the previous cell and of the gates of node i, in one pass. Their sizes differ, so
// the operands cannot alias.
void one_child_backward(const GradientBatch<T>& b, std::size_t i) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand cells(b, 0), gates(b, 1);
  for (std::size_t e = 0; e < batch; ++e) {
    const T *c = cells.at(b.in(0, i), e), *in = gates.at(b.in(1, i), e), *dy = b.d_out(i) + e * h;
    T *const dc = cells.at(b.d_in(0, i), e), *const to = gates.at(b.d_in(1, i), e);
    const bool add_cell = cells.adds(b.add(0, i), e), add = gates.adds(b.add(1, i), e);
    if (!add) std::fill_n(to + 2 * h, h, T(0));
    each_vector<T>(h, [=](std::size_t at, auto part) {
      const auto of = [=](const T* p) { return Lanes<T>::load(p + at, part); };
      const auto d = of(dy);
      put(add_cell, dc + at, d * of(in + h), part);
      put(add, to + at, d * of(in + 3 * h), part);
      put(add, to + h + at, d * of(c), part);
      put(add, to + 3 * h + at, d * of(in), part);
    });
  }
}

}  // namespace

void lstm_c_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd, children = b.arity - 1;
  const Operand gates(b, children);
  bool all = children == 1;
  for (std::size_t i = 0; all && i < b.count; ++i) all = b.d_in(0, i) && b.d_in(1, i);
  if (all) {
    for (std::size_t i = 0; i < b.count; ++i) one_child_backward(b, i);
    return;
  }
  for (std::size_t k = 0; k < children; ++k) {
    const Operand cells(b, k);
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* dc = b.d_in(k, i))
        for (std::size_t e = 0; e < batch; ++e) {
          const T *f = gates.at(b.in(children, i), e) + (1 + k) * h, *dy = b.d_out(i) + e * h;
          write(cells.adds(b.add(k, i), e), cells.at(dc, e), h,
                [=](auto of) { return of(dy) * of(f); });
        }
  }
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dg = b.d_in(children, i))
      for (std::size_t e = 0; e < batch; ++e) {
        const T *in = gates.at(b.in(children, i), e), *g = in + (2 + children) * h;
        const T* dy = b.d_out(i) + e * h;
        T *const to = gates.at(dg, e), *const o = to + (1 + children) * h;
        const bool add = gates.adds(b.add(children, i), e);
        write(add, to, h, [=](auto of) { return of(dy) * of(g); });
        if (!add) std::fill_n(o, h, T(0));
        write(add, o + h, h, [=](auto of) { return of(dy) * of(in); });
      }
  for (std::size_t k = 0; k < children; ++k) {
    const Operand cells(b, k);
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* dg = b.d_in(children, i))
        for (std::size_t e = 0; e < batch; ++e) {
          const T *c = cells.at(b.in(k, i), e), *dy = b.d_out(i) + e * h;
          write(gates.adds(b.add(children, i), e), gates.at(dg, e) + (1 + k) * h, h,
                [=](auto of) { return of(dy) * of(c); });
        }
  }
}

void lstm_h_forward(const Batch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < batch; ++e) {
      const T *c = cells.at(b.in(0, i), e), *o = output_gate(b, gates.at(b.in(1, i), e));
      T* t = b.aux(i) + e * h;
      map_vectors(t, c, h, [](auto v) { return tanh(v); });
      write(false, b.out(i) + e * h, h, [=](auto of) { return of(o) * of(t); });
    }
}

void lstm_h_backward(const GradientBatch<T>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Operand cells(b, 0), gates(b, 1);
  for (std::size_t i = 0; i < b.count; ++i) {
    T *const d_cell = b.d_in(0, i), *const d_gates = b.d_in(1, i);
    for (std::size_t e = 0; e < batch; ++e) {
      const T *t = b.aux(i) + e * h, *o = output_gate(b, gates.at(b.in(1, i), e));
      const T* dy = b.d_out(i) + e * h;
      const bool add_cell = cells.adds(b.add(0, i), e), add = gates.adds(b.add(1, i), e);
      T* const dc = d_cell ? cells.at(d_cell, e) : nullptr;
      T* const to = d_gates ? gates.at(d_gates, e) : nullptr;
      T* const d_o = d_gates ? output_gate(b, to) : nullptr;
      if (to && !add) {
        std::fill(to, d_o, T(0));
        std::fill_n(d_o + h, h, T(0));
      }
      each_vector<T>(h, [=](std::size_t at, auto part) {
        const auto of = [=](const T* p) { return Lanes<T>::load(p + at, part); };
        const auto d = of(dy), y = of(t);
        if (dc) put(add_cell, dc + at, d * of(o) * ((T(1) - y) * (T(1) + y)), part);
        if (d_o) put(add, d_o + at, d * y, part);
      });
    }
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
// the gates i, f_1 ... f_K, o, g: one behind the other as one operand, or an operand for each.
struct CellElement {
  CellElement(const Batch<T>& batch, std::size_t node, std::size_t element)
      : b(batch),
        i(node),
        e(element),
        children(b.attr<LstmGatesAttr>().children),
        h(b.dim().batch_size()),
        c(b.aux(i) + e * h),
        t(c + b.dim().size()),
        gates(b.aux(i) + 2 * b.dim().size() + e * (3 + children) * h) {}

  const Batch<T>& b;
  std::size_t i, e, children, h;
  T *c, *t, *gates;

  std::size_t output() const { return 1 + children; }
  std::size_t content() const { return 2 + children; }
  T* gate(std::size_t j) const { return gates + j * h; }
  /// Operand with the sum of gate j, and where that is in `all`, a list like `ins`.
  std::size_t operand(std::size_t j) const {
    return b.arity == children + 1 ? children : children + j;
  }
  template <class P>
  P* sum(P* const* all, std::size_t j) const {
    const std::size_t k = operand(j);
    return Operand(b, k).at(all[k * b.count + i], e) + (b.arity == children + 1 ? j * h : 0);
  }
  T* cell(T* const* all, std::size_t k) const { return Operand(b, k).at(all[k * b.count + i], e); }
};

}  // namespace

void lstm_cell_forward(const Batch<T>& b) {
  const auto forget_bias = static_cast<T>(b.attr<LstmGatesAttr>().forget_bias);
  each_element(b, [&](std::size_t i, std::size_t e) {
    const CellElement s(b, i, e);
    for (std::size_t j = 0; j < s.content(); ++j) {
      const T bias = j > 0 && j < s.output() ? forget_bias : T(0);
      map_vectors(s.gate(j), s.sum(b.ins, j), s.h, [=](auto v) { return logistic(v + bias); });
    }
    map_vectors(s.gate(s.content()), s.sum(b.ins, s.content()), s.h,
                [](auto v) { return tanh(v); });
    const T *const in = s.gate(0), *const g = s.gate(s.content());
    if (s.children == 0) write(false, s.c, s.h, [=](auto of) { return of(in) * of(g); });
    for (std::size_t k = 0; k < s.children; ++k) {
      const T *const f = s.gate(1 + k), *const c = s.cell(b.ins, k);
      if (k == 0)
        write(false, s.c, s.h, [=](auto of) { return of(in) * of(g) + of(f) * of(c); });
      else
        write(true, s.c, s.h, [=](auto of) { return of(f) * of(c); });
    }
    const T* const o = s.gate(s.output());
    map_vectors(s.t, s.c, s.h, [](auto v) { return tanh(v); });
    write(false, b.out(i) + e * s.h, s.h, [=](auto of) { return of(o) * of(s.t); });
  });
}

namespace {

// Writes the gradients of the operands [first, end) of a batch element.
void cell_gradients(const GradientBatch<T>& b, std::size_t i, std::size_t e, std::size_t first,
                    std::size_t end) {
  constexpr std::size_t kPart = 512;
  const CellElement s(b, i, e);
  const T* const dh = b.d_outs[i] ? b.d_outs[i] + e * s.h : nullptr;
  const T* const dc = b.d_seconds[i] ? b.d_seconds[i] + e * s.h : nullptr;
  const auto wanted = [&](std::size_t k) { return k >= first && k < end && b.d_in(k, i); };
  const auto adds = [&](std::size_t k) { return Operand(b, k).adds(b.add(k, i), e); };
  T d[kPart];  // the gradient of the cell: that of its users, and through h = o t
  for (std::size_t from = 0; from < s.h; from += kPart) {
    const std::size_t n = std::min(kPart, s.h - from);
    const T *const t = s.t + from, *const o = s.gate(s.output()) + from;
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto of = [=](const T* p) { return Lanes<T>::load(p + at, part); };
      typename Lanes<T>::V sum{};
      if (dc) sum = of(dc + from);
      if (dh) sum += of(dh + from) * of(o) * ((T(1) - of(t)) * (T(1) + of(t)));
      Lanes<T>::store(d + at, sum, part);
    });
    for (std::size_t k = 0; k < s.children; ++k) {
      if (!wanted(k)) continue;
      const T* const f = s.gate(1 + k) + from;
      write(adds(k), s.cell(b.d_ins, k) + from, n, [=, &d](auto of) { return of(d) * of(f); });
    }
    for (std::size_t j = 0; j <= s.content(); ++j) {
      const std::size_t k = s.operand(j);
      if (!wanted(k)) continue;
      T* const to = s.sum(b.d_ins, j) + from;
      const T* const y = s.gate(j) + from;
      const auto gate = [&](const T* dy, const T* by) {
        write(adds(k), to, n, [=](auto of) { return of(dy) * of(by) * of(y) * (T(1) - of(y)); });
      };
      if (j == s.content()) {
        const T* const in = s.gate(0) + from;
        write(adds(k), to, n,
              [=, &d](auto of) { return of(d) * of(in) * ((T(1) - of(y)) * (T(1) + of(y))); });
      } else if (j == s.output()) {
        if (dh)
          gate(dh + from, t);
        else if (!adds(k))
          std::fill_n(to, n, T(0));
      } else {
        gate(d, (j == 0 ? s.gate(s.content()) : s.cell(b.ins, j - 1)) + from);
      }
    }
  }
}

}  // namespace

// Node by node if no target is written twice, or if it is one of the same operand; otherwise
// operand by operand.
void lstm_cell_backward(const GradientBatch<T>& b) {
  bool stores = true;
  for (std::size_t to = 0; to < b.arity * b.count; ++to)
    stores = stores && (!b.d_ins[to] || b.writes[to] == Write::store);
  const std::size_t step = stores || b.arity == 2 ? b.arity : 1;  // a cell and sums differ in size
  for (std::size_t first = 0; first < b.arity; first += step)
    each_element(
        b, [&](std::size_t i, std::size_t e) { cell_gradients(b, i, e, first, first + step); });
}

}  // namespace dynet::cpu::DYNET_ISA
