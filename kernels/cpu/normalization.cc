#include "kernels/cpu/normalization.h"

#include <cmath>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

// Operands and moments of one batch element of the result.
struct Element {
  using A = ConstArrayMap<T>;
  std::size_t n;
  A x, gain, bias;
  T mean, scale;  // scale: 1 / deviation

  Element(const Batch<T>& b, std::size_t i, std::size_t e)
      : n(b.dim().batch_size()),
        x(part(b, 0, i, e)),
        gain(part(b, 1, i, e)),
        bias(part(b, 2, i, e)),
        mean(b.aux(i)[2 * e]),
        scale(b.aux(i)[2 * e + 1]) {}

  /// Normalized values, (x - mean) / deviation.
  auto normal() const { return (x - mean) * scale; }

 private:
  A part(const Batch<T>& b, std::size_t k, std::size_t i, std::size_t e) const {
    return array(b.in(k, i) + (b.dim(k).bd == 1 ? 0 : e * n), n);
  }
};

// Calls f(element, its gradient, gradient of operand k, whether to add) for all elements.
template <class F>
void for_gradients(const GradientBatch<T>& b, std::size_t k, F f) {
  const std::size_t n = b.dim().batch_size();
  const bool one = b.dim(k).bd == 1;
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* const d = b.d_in(k, i))
      for (std::size_t e = 0; e < b.dim().bd; ++e)
        f(Element(b, i, e), array(static_cast<const T*>(b.d_out(i)) + e * n, n),
          array(d + (one ? 0 : e * n), n), b.add(k, i) || (one && e > 0));
}

// Mean and deviation in long double, for sums or squares that overflow T.
void large_moments(const ConstArrayMap<T>& x, T epsilon, T& mean, T& deviation) {
  const auto n = static_cast<long double>(x.size());
  long double sum = 0, squares = 0;
  for (const T v : x) sum += v;
  for (const T v : x) squares += (v - sum / n) * (v - sum / n);
  mean = static_cast<T>(sum / n);
  deviation = static_cast<T>(std::sqrt(squares / n + epsilon));
}

}  // namespace

void layer_norm_forward(const Batch<T>& b) {
  const auto epsilon = static_cast<T>(b.attr<LayerNormAttr>().epsilon);
  const std::size_t n = b.dim().batch_size();
  if (n == 0) return;
  const T share = T(1) / static_cast<T>(n);
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const auto x = array(b.in(0, i) + (b.dim(0).bd == 1 ? 0 : e * n), n);
      T mean = sum_in_order(x) * share;
      T deviation = std::sqrt(sum_in_order((x - mean).square()) * share + epsilon);
      if (!std::isfinite(deviation)) large_moments(x, epsilon, mean, deviation);
      b.aux(i)[2 * e] = mean;
      b.aux(i)[2 * e + 1] = deviation > T(0) ? T(1) / deviation : deviation;  // zero, or NaN
      const Element of(b, i, e);
      array(b.out(i) + e * n, n) = of.gain * of.normal() + of.bias;
    }
}

// With h = (x - m) / s and v = g dy: dx = (v - mean v - h mean(h v)) / s, dg = h dy, db = dy.
void layer_norm_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  if (n == 0) return;
  const T share = T(1) / static_cast<T>(n);
  for_gradients(b, 0, [&](const Element& of, const auto& dy, auto dx, bool add) {
    const T mean = sum_in_order(of.gain * dy) * share;
    const T slope = sum_in_order(of.gain * dy * of.normal()) * share;
    store_or_add(add, dx, (of.gain * dy - mean - of.normal() * slope) * of.scale);
  });
  for_gradients(b, 1, [](const Element& of, const auto& dy, auto dg, bool add) {
    store_or_add(add, dg, of.normal() * dy);
  });
  for_gradients(
      b, 2, [](const Element&, const auto& dy, auto db, bool add) { store_or_add(add, db, dy); });
}

}  // namespace dynet::cpu::DYNET_ISA
