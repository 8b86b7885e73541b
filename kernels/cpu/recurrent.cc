#include "kernels/cpu/recurrent.h"

#include <vector>

#include "dynet-like/base/flush_subnormals.h"
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

/// Stores or adds f(of) for n elements, where of(p) loads the vector at p. Vectorized explicitly,
/// since GCC's rounding in a plain loop depends on alignment.
template <class F>
void write(bool add, T* to, std::size_t n, F f) {
  each_vector<T>(n, [=](std::size_t at, auto part) {
    put(add, to + at, f([=](const T* p) { return Lanes<T>::load(p + at, part); }), part);
  });
}

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
  const FlushSubnormals flush;
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
  const FlushSubnormals flush;
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
  const FlushSubnormals flush;
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

// All of a cell is computed for a vector of elements at once: no result is stored only to be read
// again.
void cell_forward(LstmCell<T> s, T forget_bias, T* y) {
  using V = typename Lanes<T>::V;
  const std::size_t output = 1 + s.children, content = 2 + s.children;
  each_vector<T>(s.h, [&](std::size_t at, auto part) {
    const auto sum = [&](std::size_t j) { return Lanes<T>::load(s.sums[j] + at, part); };
    const auto keep = [&](std::size_t j, V v) {
      Lanes<T>::store(s.gates + j * s.h + at, v, part);
      return v;
    };
    const V in = keep(0, logistic(sum(0)));
    V c = in * keep(content, tanh(sum(content)));
    for (std::size_t k = 0; k < s.children; ++k) {
      const V f = keep(1 + k, logistic(sum(1 + k) + forget_bias));
      c += f * Lanes<T>::load(s.previous[k] + at, part);
    }
    const V o = keep(output, logistic(sum(output))), t = tanh(c);
    Lanes<T>::store(s.c + at, c, part);
    Lanes<T>::store(s.t + at, t, part);
    Lanes<T>::store(y + at, o * t, part);
  });
}

void cell_backward(LstmCell<T> s, CellGradients<T> d) {
  using V = typename Lanes<T>::V;
  const std::size_t output = 1 + s.children, content = 2 + s.children;
  const bool has_dh = d.dh[0] || d.dh[1];
  each_vector<T>(s.h, [&](std::size_t at, auto part) {
    const auto of = [&](const T* p) { return Lanes<T>::load(p + at, part); };
    const auto sum = [&](const T* const* parts) {
      V v{};
      if (parts[0]) v = of(parts[0]);
      if (parts[1]) v += of(parts[1]);
      return v;
    };
    const auto pass = [&](const Target<T>& target, V v) {
      if (target.to) put(target.add, target.to + at, v, part);
    };
    const auto gate = [&](std::size_t j) { return of(s.gates + j * s.h); };
    const V dh = sum(d.dh), t = of(s.t), o = gate(output), in = gate(0), g = gate(content);
    V dc = sum(d.dc);  // that of its users, and through h = o t
    if (has_dh) dc += dh * o * ((T(1) - t) * (T(1) + t));
    for (std::size_t k = 0; k < s.children; ++k) {
      const V f = gate(1 + k);
      pass(d.cells[k], dc * f);
      if (d.sums[1 + k].to) pass(d.sums[1 + k], dc * of(s.previous[k]) * f * (T(1) - f));
    }
    pass(d.sums[0], dc * g * in * (T(1) - in));
    pass(d.sums[output], has_dh ? dh * t * o * (T(1) - o) : V{});
    pass(d.sums[content], dc * in * ((T(1) - g) * (T(1) + g)));
  });
}

namespace {

// n values; up to 16 are no allocation.
template <class V>
class List {
 public:
  explicit List(std::size_t n) : many_(n > kFew ? n : 0), first_(n > kFew ? many_.data() : few_) {}
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  V* data() { return first_; }
  V& operator[](std::size_t k) { return first_[k]; }

 private:
  static constexpr std::size_t kFew = 16;
  V few_[kFew];
  std::vector<V> many_;
  V* first_;
};

// The LSTM cells of a batch. Operands are the K previous cells, then the sums of the gates i, f_1
// ... f_K, o, g: one behind the other as one operand, an operand for each, or those of a sum of
// products, which lies where the gates will.
class Cells {
 public:
  explicit Cells(const Batch<T>& b)
      : b_(b),
        children_(b.attr<LstmGatesAttr>().children),
        inner_(b.node(0).form->sums),
        one_(inner_ || b.arity == children_ + 1),
        previous_(children_),
        sums_(3 + children_) {}

  /// Batch element e of node i, until the next call.
  LstmCell<T> at(std::size_t i, std::size_t e) {
    const std::size_t h = b_.dim().batch_size();
    T* const c = b_.aux(i) + e * h;
    T* const gates = b_.aux(i) + 2 * b_.dim().size() + e * (3 + children_) * h;
    for (std::size_t k = 0; k < children_; ++k) previous_[k] = cell(b_.ins, k, i, e);
    for (std::size_t j = 0; j < 3 + children_; ++j)
      sums_[j] = inner_ ? gates + j * h : sum(b_.ins, j, i, e);
    return {h, children_, previous_.data(), sums_.data(), gates, c, c + b_.dim().size()};
  }

  std::size_t children() const { return children_; }
  /// Whether the sum is that of products.
  bool inner() const { return inner_; }
  /// Number of the operands, the sum of products among them.
  std::size_t operands() const { return inner_ ? children_ + 1 : b_.arity; }
  /// Operand with the sum of gate j.
  std::size_t operand(std::size_t j) const { return one_ ? children_ : children_ + j; }
  /// Addresses in `all`, a list like `ins`.
  template <class P>
  P* cell(P* const* all, std::size_t k, std::size_t i, std::size_t e) const {
    P* const first = all[k * b_.count + i];
    return e == 0 ? first : Operand(b_, k).at(first, e);
  }
  template <class P>
  P* sum(P* const* all, std::size_t j, std::size_t i, std::size_t e) const {
    return cell(all, operand(j), i, e) + (one_ ? j * b_.dim().batch_size() : 0);
  }

 private:
  const Batch<T>& b_;
  std::size_t children_;
  bool inner_, one_;  // one: the sums of all gates are one vector
  List<const T*> previous_, sums_;
};

}  // namespace

void lstm_cell_forward(const Batch<T>& b) {
  const auto forget_bias = static_cast<T>(b.attr<LstmGatesAttr>().forget_bias);
  Cells cells(b);
  each_element(b, [&](std::size_t i, std::size_t e) {
    cell_forward(cells.at(i, e), forget_bias, b.out(i) + e * b.dim().batch_size());
  });
}

// Node by node if no target is written twice, or if it is one of the same operand; otherwise
// operand by operand.
void lstm_cell_backward(const GradientBatch<T>& b) {
  const FlushSubnormals flush;
  Cells cells(b);
  const std::size_t h = b.dim().batch_size(), children = cells.children();
  const std::size_t own = cells.inner() ? children : b.arity, all = cells.operands();
  bool stores = true;
  for (std::size_t to = 0; to < own * b.count; ++to)
    stores = stores && (!b.d_ins[to] || b.writes[to] == Write::store);
  const std::size_t step = stores || all == 2 ? all : 1;  // a cell and sums differ in size
  List<Target<T>> of_cells(children), of_sums(3 + children);
  for (std::size_t first = 0; first < all; first += step)
    each_element(b, [&](std::size_t i, std::size_t e) {
      const auto wanted = [&](std::size_t k) { return k >= first && k < first + step; };
      const auto target = [&](std::size_t k, T* to) {
        return Target<T>{to, e == 0 ? b.add(k, i) : Operand(b, k).adds(b.add(k, i), e)};
      };
      for (std::size_t k = 0; k < children; ++k)
        of_cells[k] =
            wanted(k) && b.d_in(k, i) ? target(k, cells.cell(b.d_ins, k, i, e)) : Target<T>{};
      for (std::size_t j = 0; j < 3 + children; ++j) {
        const std::size_t k = cells.operand(j);
        if (!wanted(k) || (!cells.inner() && !b.d_in(k, i)))
          of_sums[j] = {};
        else if (cells.inner())
          of_sums[j] = {b.d_sums[i] + (e * (3 + children) + j) * h, false};
        else
          of_sums[j] = target(k, cells.sum(b.d_ins, j, i, e));
      }
      const auto part = [=](const T* d) { return d ? d + e * h : nullptr; };
      cell_backward(cells.at(i, e), {{part(b.d_outs[i]), nullptr},
                                     {part(b.d_seconds[i]), nullptr},
                                     of_cells.data(),
                                     of_sums.data()});
    });
}

}  // namespace dynet::cpu::DYNET_ISA
