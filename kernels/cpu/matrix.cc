#include "kernels/cpu/matrix.h"

#include <algorithm>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu {
namespace {

// C = u v' or C += u v'. Plain loops: Eigen would do the ends of every column one by one.
template <class T>
void outer(bool add, T* __restrict c, const T* __restrict u, const T* __restrict v, std::size_t m,
           std::size_t n) {
  for (std::size_t j = 0; j < n; ++j, c += m)
    if (add)
      for (std::size_t i = 0; i < m; ++i) c[i] += u[i] * v[j];
    else
      for (std::size_t i = 0; i < m; ++i) c[i] = u[i] * v[j];
}

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
  if (k == 1 && !kTransposeA) {
    outer(add, c, a, b, m, n);
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

// Operands or results of several nodes side by side, copied together unless they lie so already.
template <class T>
class Panel {
 public:
  static constexpr std::size_t kSize = 8192;  // stays in the nearest cache

  const T* gather(T* const* from, std::size_t nodes, std::size_t size) {
    if (Batch<T>::contiguous(from, nodes, size)) return from[0];
    for (std::size_t i = 0; i < nodes; ++i) std::copy_n(from[i], size, data_ + i * size);
    return data_;
  }
  T* data() { return data_; }

 private:
  T data_[kSize];
};

// How many nodes become one product: those that share W, as many as fit a panel. For two or three
// columns the matrix-vector kernels are faster.
template <class T>
std::size_t nodes_together(const Batch<T>& b, std::size_t w, const Shapes& s) {
  const std::size_t size = s.n * std::max(s.m, s.k);
  if (b.count == 1 || b.count * s.n < 4 || s.batch != 1 || size == 0 ||
      !Batch<T>::contiguous(b.ins + w * b.count, b.count, 0))
    return 1;
  return std::max<std::size_t>(1, Panel<T>::kSize / size);
}

// y (+)= W x for all nodes.
template <class T>
void multiply(const Batch<T>& b, std::size_t w, std::size_t x, bool add) {
  const Shapes s(b.dim(w), b.dim(x), b.dim().bd);
  const std::size_t together = nodes_together(b, w, s), size = s.m * s.n;
  if (together == 1) {
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; e < s.batch; ++e)
        product<false, false>(add, b.out(i) + e * size, s.at(b.in(w, i), s.m * s.k, e, s.w_batch),
                              s.at(b.in(x, i), s.k * s.n, e, s.x_batch), s.m, s.n, s.k);
    return;
  }
  Panel<T> xs, ys;
  for (std::size_t i = 0; i < b.count; i += together) {
    const std::size_t nodes = std::min(together, b.count - i);
    const T* in = xs.gather(b.ins + x * b.count + i, nodes, s.k * s.n);
    const bool in_place = Batch<T>::contiguous(b.outs + i, nodes, size);
    T* out = in_place ? b.out(i) : ys.data();
    product<false, false>(add && in_place, out, b.in(w, 0), in, s.m, nodes * s.n, s.k);
    for (std::size_t j = 0; j < nodes && !in_place; ++j)
      store_or_add(add, array(b.out(i + j), size), array(ys.data() + j * size, size));
  }
}

// d W (+)= d y x', then d x (+)= W' d y.
template <class T>
void multiply_backward(const GradientBatch<T>& b, std::size_t w, std::size_t x) {
  const Shapes s(b.dim(w), b.dim(x), b.dim().bd);
  const std::size_t together = nodes_together(b, w, s), size = s.m * s.n;
  if (together == 1) {
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* dw = b.d_in(w, i))
        for (std::size_t e = 0; e < s.batch; ++e)
          product<false, true>(b.add(w, i) || (s.w_batch == 1 && e > 0),
                               dw + (s.w_batch == 1 ? 0 : e * s.m * s.k), b.d_out(i) + e * size,
                               s.at(b.in(x, i), s.k * s.n, e, s.x_batch), s.m, s.k, s.n);
    for (std::size_t i = 0; i < b.count; ++i)
      if (T* dx = b.d_in(x, i))
        for (std::size_t e = 0; e < s.batch; ++e)
          product<true, false>(
              b.add(x, i) || (s.x_batch == 1 && e > 0), dx + (s.x_batch == 1 ? 0 : e * s.k * s.n),
              s.at(b.in(w, i), s.m * s.k, e, s.w_batch), b.d_out(i) + e * size, s.k, s.n, s.m);
    return;
  }
  Panel<T> xs, ys;
  if (T* dw = b.d_in(w, 0))
    for (std::size_t i = 0; i < b.count; i += together) {
      const std::size_t nodes = std::min(together, b.count - i);
      product<false, true>(b.add(w, i), dw, ys.gather(b.d_outs + i, nodes, size),
                           xs.gather(b.ins + x * b.count + i, nodes, s.k * s.n), s.m, s.k,
                           nodes * s.n);
    }
  for (std::size_t i = 0; i < b.count; i += together) {
    const std::size_t nodes = std::min(together, b.count - i);
    product<true, false>(false, xs.data(), b.in(w, 0), ys.gather(b.d_outs + i, nodes, size), s.k,
                         nodes * s.n, s.m);
    for (std::size_t j = i; j < i + nodes; ++j)
      if (T* dx = b.d_in(x, j))
        store_or_add(b.add(x, j), array(dx, s.k * s.n),
                     array(xs.data() + (j - i) * s.k * s.n, s.k * s.n));
  }
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
