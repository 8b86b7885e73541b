#include "kernels/cpu/pairwise.h"

#include <algorithm>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

using V = Lanes<T>::V;

// In each struct, `value` is the result, `slope_x` and `slope_y` its gradients, on vectors.
template <>
struct Function<DotProduct> {
  static T value(const T* x, const T* y, std::size_t n) {
    return sum_in_order(array(x, n) * array(y, n));
  }
  static V slope_x(V, V y) { return y; }
  static V slope_y(V x, V) { return x; }
};
template <>
struct Function<SquaredDistance> {
  static T value(const T* x, const T* y, std::size_t n) {
    return sum_in_order((array(x, n) - array(y, n)).square());
  }
  static V slope_x(V x, V y) { return (x - y) * T(2); }
  static V slope_y(V x, V y) { return (y - x) * T(2); }
};
// Targets of exactly 0 or 1 skip the other logarithm, as 0 log 0 is 0. Arguments of logarithms are
// at least kLeastChance, so that a saturated sigmoid has a finite loss.
template <>
struct Function<BinaryLogLoss> {
  static V clamped(V x) { return x < T(kLeastChance) ? (x < T(0) ? x : V{} + T(kLeastChance)) : x; }
  static V log_of_clamped_rest(V x) {
    return x == T(1) ? V{} + T(kLogOfLeastChance) : log_of_rest(x);
  }
  static V term(V x, V y) {
    return (y == T(0) ? V{} : -y * log(clamped(x))) -
           (y == T(1) ? V{} : (T(1) - y) * log_of_clamped_rest(x));
  }
  static T value(const T* x, const T* y, std::size_t n) {
    constexpr std::size_t kPiece = 256;
    alignas(64) T terms[kPiece];
    double sum = 0;
    for (std::size_t first = 0; first < n; first += kPiece) {
      const std::size_t length = std::min(kPiece, n - first);
      each_vector<T>(length, [&](std::size_t at, auto part) {
        Lanes<T>::store(
            terms + at,
            term(Lanes<T>::load(x + first + at, part), Lanes<T>::load(y + first + at, part)), part);
      });
      sum += static_cast<double>(sum_in_order(array(terms, length)));
    }
    return static_cast<T>(sum);
  }
  // (1 - y) / (1 - x) - y / x without cancellation.
  static V slope_x(V x, V y) {
    const V inside = x == T(1) ? V{} + T(1 - kLeastRest) : clamped(x), rest = T(1) - inside;
    const V slope = y == T(0)   ? T(1) / rest
                    : y == T(1) ? T(-1) / inside
                                : (inside - y) / inside / rest;
    return x == y ? V{} : slope;
  }
  // log(1 - x) - log(x); near 1/2, where the difference cancels, the log of the ratio.
  static V slope_y(V x, V) {
    const V ratio = log1p_small((T(1) - T(2) * x) / x);
    return absolute(x - T(0.5)) < T(0.08) ? ratio : log_of_clamped_rest(x) - log(clamped(x));
  }
};

template <class F>
void Pairwise<F>::forward(const Batch<T>& b) {
  const Dim &p = b.dim(0), &q = b.dim(1);
  const std::size_t n = p.batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      b.out(i)[e] = Function<F>::value(b.in(0, i) + (p.bd == 1 ? 0 : e * n),
                                       b.in(1, i) + (q.bd == 1 ? 0 : e * n), n);
}

template <class F>
void Pairwise<F>::backward(const GradientBatch<T>& b) {
  using L = Lanes<T>;
  const Dim &p = b.dim(0), &q = b.dim(1);
  const std::size_t n = p.batch_size();
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* d = b.d_in(k, i);
      if (!d) continue;
      const bool shared = b.dim(k).bd == 1;
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const T* const x = b.in(0, i) + (p.bd == 1 ? 0 : e * n);
        const T* const y = b.in(1, i) + (q.bd == 1 ? 0 : e * n);
        const T g = b.d_out(i)[e];
        const bool add = b.add(k, i) || (shared && e > 0);
        T* const to = d + (shared ? 0 : e * n);
        each_vector<T>(n, [=](std::size_t at, auto part) {
          const auto u = L::load(x + at, part), v = L::load(y + at, part);
          put(add, to + at, g * (k == 0 ? Function<F>::slope_x(u, v) : Function<F>::slope_y(u, v)),
              part);
        });
      }
    }
}

template struct Pairwise<DotProduct>;
template struct Pairwise<SquaredDistance>;
template struct Pairwise<BinaryLogLoss>;

}  // namespace dynet::cpu::DYNET_ISA
