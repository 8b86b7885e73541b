#include "kernels/cpu/matrix.h"

#include <algorithm>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu {
namespace {

// C = A B or C += A B, with A or B transposed in place: the one door to matrix products, so that a
// better kernel for a shape has one place to go. One column goes to Eigen's matrix-vector kernels.
template <bool kTransposeA, bool kTransposeB, class T>
void product(bool add, T* c, const T* a, const T* b, std::size_t m, std::size_t n, std::size_t k) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    if (!add) std::fill_n(c, m * n, T(0));
    return;
  }
  const auto run = [&](auto&& to, const auto& x, const auto& y) {
    if (add)
      to.noalias() += x * y;
    else
      to.noalias() = x * y;
  };
  const auto left = matrix(a, kTransposeA ? k : m, kTransposeA ? m : k);
  using Vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  using ConstVector = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  if (n == 1) {
    Vector to(c, static_cast<Index>(m));
    const ConstVector x(b, static_cast<Index>(k));
    if constexpr (kTransposeA)
      run(to, left.transpose(), x);
    else
      run(to, left, x);
    return;
  }
  if (k == 1 && !kTransposeA) {  // columns of multiples of A: one pass over C
    for (std::size_t j = 0; j < n; ++j) {
      T* __restrict to = c + j * m;
      const T* __restrict u = a;
      const T x = b[j];
      if (add)
        for (std::size_t i = 0; i < m; ++i) to[i] += u[i] * x;
      else
        for (std::size_t i = 0; i < m; ++i) to[i] = u[i] * x;
    }
    return;
  }
  const auto right = matrix(b, kTransposeB ? n : k, kTransposeB ? k : n);
  auto to = matrix(c, m, n);
  if constexpr (kTransposeA)
    run(to, left.transpose(), right);
  else if constexpr (kTransposeB)
    run(to, left, right.transpose());
  else
    run(to, left, right);
}

struct Shapes {
  std::size_t m, k, n;  // W is m x k, x is k x n
  std::size_t batch, w_batch, x_batch;

  Shapes(const Dim& w, const Dim& x, unsigned bd)
      : m(w.rows()), k(w.cols()), n(x.cols()), batch(bd), w_batch(w.bd), x_batch(x.bd) {
    // One matrix for the whole batch: its elements are columns of one product.
    if (w_batch == 1 && x_batch == batch) {
      n *= batch;
      batch = x_batch = 1;
    }
  }
  const auto* at(const auto* p, std::size_t size, std::size_t b, std::size_t of) const {
    return p + (of == 1 ? 0 : b * size);
  }
};

// y (+)= W x for all nodes. Nodes that share W, with operands and results side by side, are one
// product.
template <class T>
void multiply(const Batch<T>& b, std::size_t w, std::size_t x, bool add) {
  Shapes s(b.dim(w), b.dim(x), b.dim().bd);
  std::size_t nodes = b.count;
  if (nodes > 1 && s.batch == 1 && b.in(w, 0) == b.in(w, nodes - 1) &&
      Batch<T>::contiguous(b.ins + w * nodes, nodes, 0) &&
      Batch<T>::contiguous(b.ins + x * nodes, nodes, s.k * s.n) &&
      Batch<T>::contiguous(b.outs, nodes, s.m * s.n)) {
    s.n *= nodes;
    nodes = 1;
  }
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t e = 0; e < s.batch; ++e)
      product<false, false>(add, b.out(i) + e * s.m * s.n,
                            s.at(b.in(w, i), s.m * s.k, e, s.w_batch),
                            s.at(b.in(x, i), s.k * s.n, e, s.x_batch), s.m, s.n, s.k);
}

// d W (+)= d y x', then d x (+)= W' d y.
template <class T>
void multiply_backward(const GradientBatch<T>& b, std::size_t w, std::size_t x) {
  const Shapes s(b.dim(w), b.dim(x), b.dim().bd);
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dw = b.d_in(w, i))
      for (std::size_t e = 0; e < s.batch; ++e)
        product<false, true>(b.add(w, i) || (s.w_batch == 1 && e > 0),
                             dw + (s.w_batch == 1 ? 0 : e * s.m * s.k), b.d_out(i) + e * s.m * s.n,
                             s.at(b.in(x, i), s.k * s.n, e, s.x_batch), s.m, s.k, s.n);
  for (std::size_t i = 0; i < b.count; ++i)
    if (T* dx = b.d_in(x, i))
      for (std::size_t e = 0; e < s.batch; ++e)
        product<true, false>(
            b.add(x, i) || (s.x_batch == 1 && e > 0), dx + (s.x_batch == 1 ? 0 : e * s.k * s.n),
            s.at(b.in(w, i), s.m * s.k, e, s.w_batch), b.d_out(i) + e * s.m * s.n, s.k, s.n, s.m);
}

}  // namespace

template <class T>
void matmul_forward(const Batch<T>& b) {
  multiply(b, 0, 1, false);
}

template <class T>
void matmul_backward(const GradientBatch<T>& b) {
  multiply_backward(b, 0, 1);
}

template <class T>
void affine_forward(const Batch<T>& b) {
  const Dim &y = b.dim(), &bias = b.dim(0);
  const std::size_t size = y.batch_size(), rows = bias.batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < y.bd; ++e) {
      const T* from = b.in(0, i) + (bias.bd == 1 ? 0 : e * rows);
      for (std::size_t at = 0; at < size; at += rows)
        std::copy_n(from, rows, b.out(i) + e * size + at);
    }
  for (std::size_t k = 1; k + 1 < b.arity; k += 2) multiply(b, k, k + 1, true);
}

template <class T>
void affine_backward(const GradientBatch<T>& b) {
  const Dim &y = b.dim(), &bias = b.dim(0);
  const std::size_t size = y.batch_size(), rows = bias.batch_size();
  for (std::size_t i = 0; i < b.count; ++i) {
    T* d = b.d_in(0, i);
    if (!d) continue;
    bool add = b.add(0, i);
    if (size == 0 && !add) std::fill_n(d, bias.size(), T(0));
    for (std::size_t e = 0; e < y.bd; ++e) {
      T* to = d + (bias.bd == 1 ? 0 : e * rows);
      if (bias.bd != 1) add = b.add(0, i);
      for (std::size_t at = 0; at < size; at += rows, add = true)
        store_or_add(add, array(to, rows), array(b.d_out(i) + e * size + at, rows));
    }
  }
  for (std::size_t k = 1; k + 1 < b.arity; k += 2) multiply_backward(b, k, k + 1);
}

// Each: `value` is the number, `slope_x` and `slope_y` its gradients.
struct DotProduct {
  template <class X, class Y>
  static auto value(const X& x, const Y& y) {
    return (x * y).sum();
  }
  template <class X, class Y>
  static auto slope_x(const X&, const Y& y) {
    return y * typename Y::Scalar(1);
  }
  template <class X, class Y>
  static auto slope_y(const X& x, const Y&) {
    return x * typename Y::Scalar(1);
  }
};
struct SquaredDistance {
  template <class X, class Y>
  static auto value(const X& x, const Y& y) {
    return (x - y).square().sum();
  }
  template <class X, class Y>
  static auto slope_x(const X& x, const Y& y) {
    return (x - y) * typename Y::Scalar(2);
  }
  template <class X, class Y>
  static auto slope_y(const X& x, const Y& y) {
    return (y - x) * typename Y::Scalar(2);
  }
};
// A target of exactly 0 or 1 leaves the other logarithm out: 0 log 0 is 0.
struct BinaryLogLoss {
  template <class X, class Y>
  static auto value(const X& x, const Y& y) {
    using T = typename X::Scalar;
    T sum = 0;
    for (Index i = 0; i < x.size(); ++i) {
      if (y[i] != T(0)) sum -= y[i] * std::log(x[i]);
      if (y[i] != T(1)) sum -= (T(1) - y[i]) * std::log(T(1) - x[i]);
    }
    return sum;
  }
  template <class X, class Y>
  static auto slope_x(const X& x, const Y& y) {
    using T = typename X::Scalar;
    const auto zero = X::Constant(x.size(), T(0));
    return (y != T(1)).select((T(1) - y) / (T(1) - x), zero) - (y != T(0)).select(y / x, zero);
  }
  template <class X, class Y>
  static auto slope_y(const X& x, const Y&) {
    using T = typename X::Scalar;
    return (T(1) - x).log() - x.log();
  }
};

template <class F>
template <class T>
void Pairwise<F>::forward(const Batch<T>& b) {
  const Dim &p = b.dim(0), &q = b.dim(1);
  const std::size_t n = p.batch_size();
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      b.out(i)[e] = F::value(array(b.in(0, i) + (p.bd == 1 ? 0 : e * n), n),
                             array(b.in(1, i) + (q.bd == 1 ? 0 : e * n), n));
}

template <class F>
template <class T>
void Pairwise<F>::backward(const GradientBatch<T>& b) {
  const Dim &p = b.dim(0), &q = b.dim(1);
  const std::size_t n = p.batch_size();
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* d = b.d_in(k, i);
      if (!d) continue;
      const bool shared = b.dim(k).bd == 1;
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const auto x = array(b.in(0, i) + (p.bd == 1 ? 0 : e * n), n);
        const auto y = array(b.in(1, i) + (q.bd == 1 ? 0 : e * n), n);
        const T g = b.d_out(i)[e];
        const bool add = b.add(k, i) || (shared && e > 0);
        auto to = array(d + (shared ? 0 : e * n), n);
        if (k == 0)
          store_or_add(add, to, F::slope_x(x, y) * g);
        else
          store_or_add(add, to, F::slope_y(x, y) * g);
      }
    }
}

#define DYNET_INSTANTIATE(T)                                                  \
  template void matmul_forward(const Batch<T>&);                              \
  template void matmul_backward(const GradientBatch<T>&);                     \
  template void affine_forward(const Batch<T>&);                              \
  template void affine_backward(const GradientBatch<T>&);                     \
  template void Pairwise<DotProduct>::forward(const Batch<T>&);               \
  template void Pairwise<DotProduct>::backward(const GradientBatch<T>&);      \
  template void Pairwise<SquaredDistance>::forward(const Batch<T>&);          \
  template void Pairwise<SquaredDistance>::backward(const GradientBatch<T>&); \
  template void Pairwise<BinaryLogLoss>::forward(const Batch<T>&);            \
  template void Pairwise<BinaryLogLoss>::backward(const GradientBatch<T>&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)

}  // namespace dynet::cpu
