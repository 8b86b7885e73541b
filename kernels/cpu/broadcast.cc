#include "kernels/cpu/broadcast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/power.h"
#include "kernels/cpu/row_loop.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Row of an operand that advances with the result's row or repeats one element; loads are lazy.
struct MovingRow {
  const T* p;
  template <class Part>
  typename Lanes<T>::V operator()(std::size_t at, Part part) const {
    return Lanes<T>::load(p + at, part);
  }
};
struct StillRow {
  const T* p;
  template <class Part>
  typename Lanes<T>::V operator()(std::size_t, Part) const {
    return typename Lanes<T>::V{} + *p;
  }
};

// Calls f with both rows.
template <class F>
void with_rows(const T* a, bool a_moves, const T* b, bool b_moves, F&& f) {
  if (a_moves && b_moves)
    f(MovingRow{a}, MovingRow{b});
  else if (a_moves)
    f(MovingRow{a}, StillRow{b});
  else
    f(StillRow{a}, MovingRow{b});
}

// Writes n gradients v(at, part) to a row of an operand, or adds their sum to its single element,
// which was zeroed before.
template <class F>
void put_row(bool add, bool moves, T* to, std::size_t n, F v) {
  if (moves) {
    each_vector<T>(n, [=](std::size_t at, auto part) { put(add, to + at, v(at, part), part); });
    return;
  }
  alignas(64) T piece[kBuffer];
  for (std::size_t first = 0; first < n; first += kBuffer) {
    const std::size_t length = std::min(kBuffer, n - first);
    each_vector<T>(length, [&](std::size_t at, auto part) {
      Lanes<T>::store(piece + at, v(first + at, part), part);
    });
    accumulate(false, to, length, array(piece, length));
  }
}

}  // namespace

using V = Lanes<T>::V;

// `slope_a` and `slope_b` take vectors of dy; a() and b() load those of the operands.
template <>
struct Function<Subtract> {
  static V value(V a, V b) { return a - b; }
  static V slope_a(V dy, const auto&, const auto&) { return dy; }
  static V slope_b(V dy, const auto&, const auto&) { return -dy; }
};
template <>
struct Function<Multiply> {
  static V value(V a, V b) { return a * b; }
  static V slope_a(V dy, const auto&, const auto& b) { return dy * b(); }
  static V slope_b(V dy, const auto& a, const auto&) { return dy * a(); }
};
template <>
struct Function<Divide> {
  static V value(V a, V b) { return a / b; }
  static V slope_a(V dy, const auto&, const auto& b) { return dy / b(); }
  static V slope_b(V dy, const auto& a, const auto& b) {  // the square of b might leave the range
    const V v = b();
    return -(dy * (a() / v) / v);
  }
};
// The gradient of the exponent is zero at a = 0, and that of the base is zero for b = 0.
template <>
struct Function<Power> {
  static V value(V a, V b) { return power(a, b); }
  static V slope_a(V dy, const auto& a, const auto& b) {
    const V exponent = b();
    return exponent == T(0) ? V{} : dy * scaled_power(exponent, a(), exponent, -1);
  }
  static V slope_b(V dy, const auto& a, const auto& b) {
    const V base = a();
    return base == T(0) ? V{} : dy * scaled_power(log(base), base, b(), 0);
  }
};

namespace {

// True if operand k has the shape of the result.
bool is_whole(const Batch<T>& b, std::size_t k) { return b.dim(k).size() == b.dim().size(); }

// Gradients of one operand of node i, or of both in one pass.
template <class F, bool kFirst, bool kSecond>
void whole_gradients(const GradientBatch<T>& b, std::size_t i) {
  using L = Lanes<T>;
  const T *const p = b.in(0, i), *const q = b.in(1, i), *const dy = b.d_out(i);
  T *const dp = b.d_in(0, i), *const dq = b.d_in(1, i);
  const bool add_p = kFirst && b.add(0, i), add_q = kSecond && b.add(1, i);
  each_vector<T>(b.dim().size(), [=](std::size_t at, auto part) {
    const auto u = [=] { return L::load(p + at, part); };
    const auto v = [=] { return L::load(q + at, part); };
    const auto g = L::load(dy + at, part);
    typename L::V du{}, dv{};
    if constexpr (kFirst) du = Function<F>::slope_a(g, u, v);
    if constexpr (kSecond) dv = Function<F>::slope_b(g, u, v);
    if constexpr (kFirst) put(add_p, dp + at, du, part);
    if constexpr (kSecond) put(add_q, dq + at, dv, part);
  });
}

// Operands without broadcast. Both gradients are computed in one pass if no first operand of the
// batch can alias a second operand: all second operands are written for the first time.
template <class F>
void whole_backward(const GradientBatch<T>& b) {
  bool apart = true;
  for (std::size_t i = 0; apart && i < b.count; ++i) apart = b.d_in(1, i) && !b.add(1, i);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (apart && b.d_in(0, i))
      whole_gradients<F, true, true>(b, i);
    else if (apart)
      whole_gradients<F, false, true>(b, i);
    else if (b.d_in(0, i))
      whole_gradients<F, true, false>(b, i);
  }
  for (std::size_t i = 0; !apart && i < b.count; ++i)
    if (b.d_in(1, i)) whole_gradients<F, false, true>(b, i);
}

}  // namespace

template <class F>
void Binary<F>::forward(const Batch<T>& b) {
  if (is_whole(b, 0) && is_whole(b, 1)) {
    const std::size_t n = b.dim().size();
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const y = b.out(i);
      const T *const p = b.in(0, i), *const q = b.in(1, i);
      each_vector<T>(n, [=](std::size_t at, auto part) {
        Lanes<T>::store(
            y + at, Function<F>::value(Lanes<T>::load(p + at, part), Lanes<T>::load(q + at, part)),
            part);
      });
    }
    return;
  }
  const RowLoop<2> loop(b.dim(), {&b.dim(0), &b.dim(1)});
  for (std::size_t i = 0; i < b.count; ++i) {
    T* y = b.out(i);
    const T *p = b.in(0, i), *q = b.in(1, i);
    loop.each([&](std::size_t first, const auto& offset) {
      with_rows(p + offset[0], loop.moves[0], q + offset[1], loop.moves[1],
                [&](const auto& u, const auto& v) {
                  T* const to = y + first;
                  each_vector<T>(loop.inner, [=](std::size_t at, auto part) {
                    Lanes<T>::store(to + at, Function<F>::value(u(at, part), v(at, part)), part);
                  });
                });
    });
  }
}

template <class F>
void Binary<F>::backward(const GradientBatch<T>& b) {
  if (is_whole(b, 0) && is_whole(b, 1)) return whole_backward<F>(b);
  const RowLoop<2> loop(b.dim(), {&b.dim(0), &b.dim(1)});
  for (std::size_t k = 0; k < 2; ++k) {
    // Gradients of operands with the size of the result are written row by row; smaller ones are
    // accumulated from zero.
    const std::size_t size = b.dim(k).size();
    const bool whole = size == b.dim().size();
    for (std::size_t i = 0; i < b.count; ++i) {
      T* d = b.d_in(k, i);
      if (!d) continue;
      bool add = b.add(k, i);
      if (!add && !whole) {
        std::fill_n(d, size, T(0));
        add = true;
      }
      const T *p = b.in(0, i), *q = b.in(1, i), *dy = b.d_out(i);
      loop.each([&](std::size_t first, const auto& offset) {
        with_rows(p + offset[0], loop.moves[0], q + offset[1], loop.moves[1],
                  [&](const auto& u, const auto& v) {
                    const T* const from = dy + first;
                    const auto slopes = [=](std::size_t at, auto part) {
                      const auto g = Lanes<T>::load(from + at, part);
                      const auto a = [&] { return u(at, part); };
                      const auto c = [&] { return v(at, part); };
                      return k == 0 ? Function<F>::slope_a(g, a, c) : Function<F>::slope_b(g, a, c);
                    };
                    put_row(add, loop.moves[k], d + offset[k], loop.inner, slopes);
                  });
      });
    }
  }
}

// Sum of node i's operands, each times `factor`.
template <class Factor>
void sum_operands(const Batch<T>& b, std::size_t i, Factor factor) {
  const std::size_t n = b.dim().size();
  for (std::size_t k = 0; k < b.arity; ++k) {
    const T* x = b.in(k, i);
    if (b.dim(k).size() == n) {
      if (k == 0)
        array(b.out(i), n) = factor(array(x, n));
      else
        array(b.out(i), n) += factor(array(x, n));
      continue;
    }
    if (k == 0) array(b.out(i), n).setZero();
    const RowLoop<1> loop(b.dim(), {&b.dim(k)});
    loop.each([&](std::size_t at, const auto& offset) {
      if (loop.moves[0])
        array(b.out(i) + at, loop.inner) += factor(array(x + offset[0], loop.inner));
      else
        array(b.out(i) + at, loop.inner) += factor(array(x + offset[0], 1))[0];
    });
  }
}

void sum_forward(const Batch<T>& b) {
  const T scale = static_cast<T>(b.attr<SumAttr>().scale);
  const std::size_t n = b.dim().size();
  bool equal = true;
  for (std::size_t k = 0; k < b.arity; ++k) equal = equal && b.dim(k).size() == n;
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const y = b.out(i);
    if (equal && b.arity == 2 && scale == T(1)) {
      array(y, n) = array(b.in(0, i), n) + array(b.in(1, i), n);
      continue;
    }
    sum_operands(b, i, [](const auto& x) { return x; });
    if (scale == T(1)) continue;
    typename Lanes<T>::V nothing{};  // becomes NaN if an average is not finite
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto v = Lanes<T>::load(y + at, part) * scale;
      nothing += v * T(0);
      Lanes<T>::store(y + at, v, part);
    });
    // The sum may overflow although the average does not.
    if (std::isnan(Lanes<T>::template sums<1>(&nothing)[0]))
      sum_operands(b, i, [scale](const auto& x) { return x * scale; });
  }
}

void sum_backward(const GradientBatch<T>& b) {
  const T scale = static_cast<T>(b.attr<SumAttr>().scale);
  const std::size_t n = b.dim().size();
  for (std::size_t k = 0; k < b.arity; ++k) {
    const std::size_t size = b.dim(k).size();
    if (size == n) {
      for (std::size_t i = 0; i < b.count; ++i) {
        if (!b.d_in(k, i)) continue;
        if (scale == T(1))
          store_or_add(b.add(k, i), array(b.d_in(k, i), n), array(b.d_out(i), n));
        else
          store_or_add(b.add(k, i), array(b.d_in(k, i), n), array(b.d_out(i), n) * scale);
      }
      continue;
    }
    const RowLoop<1> loop(b.dim(), {&b.dim(k)});
    for (std::size_t i = 0; i < b.count; ++i) {
      T* d = b.d_in(k, i);
      if (!d) continue;
      if (!b.add(k, i)) std::fill_n(d, size, T(0));
      loop.each([&](std::size_t at, const auto& offset) {
        accumulate(loop.moves[0], d + offset[0], loop.inner,
                   array(b.d_out(i) + at, loop.inner) * scale);
      });
    }
  }
}

template struct Binary<Subtract>;
template struct Binary<Multiply>;
template struct Binary<Divide>;
template struct Binary<Power>;

namespace {

// Calls row(offset in the result, row of operand k, whether that row advances, length).
template <class Row>
void operand_rows(const Batch<T>& b, std::size_t k, std::size_t i, Row&& row) {
  const RowLoop<1> loop(b.dim(), {&b.dim(k)});
  loop.each([&](std::size_t at, const auto& offset) {
    row(at, b.in(k, i) + offset[0], loop.moves[0], loop.inner);
  });
}

}  // namespace

template <bool kLargest>
void Extreme<kLargest>::forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    T *y = b.out(i), *winner = b.aux(i);
    for (std::size_t k = 0; k < b.arity; ++k)
      operand_rows(b, k, i, [&](std::size_t at, const T* x, bool moves, std::size_t length) {
        const std::size_t step = moves ? 1 : 0;
        for (std::size_t j = 0; j < length; ++j) {
          const T v = x[j * step];
          const bool wins = k == 0 || (kLargest ? v > y[at + j] : v < y[at + j]) || v != v;
          y[at + j] = wins ? v : y[at + j];
          winner[at + j] = wins ? static_cast<T>(k) : winner[at + j];
        }
      });
  }
}

template <bool kLargest>
void Extreme<kLargest>::backward(const GradientBatch<T>& b) {
  for (std::size_t k = 0; k < b.arity; ++k) {
    const RowLoop<1> loop(b.dim(), {&b.dim(k)});
    for (std::size_t i = 0; i < b.count; ++i) {
      T* d = b.d_in(k, i);
      if (!d) continue;
      if (!b.add(k, i)) std::fill_n(d, b.dim(k).size(), T(0));
      loop.each([&](std::size_t at, const auto& offset) {
        const T *const winner = b.aux(i) + at, *const dy = b.d_out(i) + at;
        put_row(true, loop.moves[0], d + offset[0], loop.inner, [=](std::size_t j, auto part) -> V {
          const V g = Lanes<T>::load(dy + j, part), won = Lanes<T>::load(winner + j, part);
          return won == static_cast<T>(k) ? g : V{};
        });
      });
    }
  }
}

// Stores the shift of the operands and the log of the sum of their shifted exponentials, for
// backward.
void logsumexp_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().size();
  for (std::size_t i = 0; i < b.count; ++i) {
    T *y = b.out(i), *shifts = b.aux(i), *sums = b.aux(i) + n;
    std::fill_n(shifts, n, -std::numeric_limits<T>::infinity());
    for (std::size_t k = 0; k < b.arity; ++k)
      operand_rows(b, k, i, [&](std::size_t at, const T* x, bool moves, std::size_t length) {
        for (std::size_t j = 0; j < length; ++j)
          shifts[at + j] = std::max(shifts[at + j], x[moves ? j : 0]);
      });
    for (std::size_t j = 0; j < n; ++j) shifts[j] = finite_shift(shifts[j]);
    std::fill_n(sums, n, T(0));
    for (std::size_t k = 0; k < b.arity; ++k)
      operand_rows(b, k, i, [&](std::size_t at, const T* x, bool moves, std::size_t length) {
        exponentials_of<T>(
            length,
            [&](std::size_t from, std::size_t size, T* to) {
              for (std::size_t j = 0; j < size; ++j)
                to[j] = x[moves ? from + j : 0] - shifts[at + from + j];
            },
            [&](std::size_t from, std::size_t size, const T* e) {
              array(sums + at + from, size) += array(e, size);
            });
      });
    map_vectors(sums, sums, n, [](auto v) { return log(v); });
    array(y, n) = array(shifts, n) + array(sums, n);
    for (std::size_t j = 0; j < n; ++j) sums[j] = shift(sums[j]);
  }
}

void logsumexp_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().size();
  for (std::size_t k = 0; k < b.arity; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const d = b.d_in(k, i);
      if (!d) continue;
      if (!b.add(k, i)) std::fill_n(d, b.dim(k).size(), T(0));
      const T *shifts = b.aux(i), *sums = b.aux(i) + n;
      operand_rows(b, k, i, [&](std::size_t at, const T* x, bool moves, std::size_t length) {
        T* const dx = d + (x - b.in(k, i));
        exponentials_of<T>(
            length,
            [&](std::size_t from, std::size_t size, T* to) {
              for (std::size_t j = 0; j < size; ++j)
                to[j] = x[moves ? from + j : 0] - shifts[at + from + j] - sums[at + from + j];
            },
            [&](std::size_t from, std::size_t size, const T* p) {
              accumulate(moves, dx + (moves ? from : 0), size,
                         array(b.d_out(i) + at + from, size) * array(p, size));
            });
      });
    }
}

template struct Extreme<true>;
template struct Extreme<false>;

}  // namespace dynet::cpu::DYNET_ISA
