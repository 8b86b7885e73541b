#include "kernels/cpu/linear_algebra.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace

void inverse_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().rows(), size = n * n;
  if (n == 0) return;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      matrix(b.out(i) + e * size, n, n) =
          matrix(b.in(0, i) + e * size, n, n).partialPivLu().inverse();
}

// d x = -y' dy y'
void inverse_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().rows(), size = n * n;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T* const out = b.out(i) + e * size;
      const auto y = matrix(out, n, n);
      const Matrix<T> left = y.transpose() * matrix(b.d_out(i) + e * size, n, n);
      const Matrix<T> dx = left * y.transpose();
      store_or_add(b.add(0, i), matrix(b.d_in(0, i) + e * size, n, n), -dx);
    }
  }
}

void logdet_forward(const Batch<T>& b) {
  const std::size_t n = b.dim(0).rows(), size = n * n;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      T sum = 0;
      if (n > 0) {
        const Eigen::PartialPivLU<Matrix<T>> lu(matrix(b.in(0, i) + e * size, n, n));
        auto sign = static_cast<T>(lu.permutationP().determinant());
        for (Index k = 0; k < static_cast<Index>(n); ++k) {
          const T pivot = lu.matrixLU()(k, k);
          sum += std::log(std::abs(pivot));
          if (pivot < T(0)) sign = -sign;
        }
        // Log of the sign, which is zero or NaN; a zero determinant is exempt.
        if (sum > -std::numeric_limits<T>::infinity()) sum += std::log(sign);
      }
      b.out(i)[e] = sum;
    }
}

// d x = dy (x^-1)'
void logdet_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim(0).rows(), size = n * n;
  if (n == 0) return;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const Matrix<T> inverse = matrix(b.in(0, i) + e * size, n, n).partialPivLu().inverse();
      store_or_add(b.add(0, i), matrix(b.d_in(0, i) + e * size, n, n),
                   b.d_out(i)[e] * inverse.transpose());
    }
  }
}

namespace {

// y_i += sum_j u_j v_{(i - j) mod n}
struct Convolve {
  static void add(const T* u, const T* v, T* y, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
      array(y, j) += u[j] * array(v + n - j, j);
      array(y + j, n - j) += u[j] * array(v, n - j);
    }
  }
};

// y_i += sum_j u_j v_{(i + j) mod n}
struct Correlate {
  static void add(const T* u, const T* v, T* y, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
      array(y, n - j) += u[j] * array(v + j, n - j);
      array(y + n - j, j) += u[j] * array(v, j);
    }
  }
};

std::size_t of_element(const Dim& d, std::size_t e) { return d.bd == 1 ? 0 : e * d.batch_size(); }

template <class F>
void circular_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i) {
    std::fill_n(b.out(i), b.dim().size(), T(0));
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      F::add(b.in(0, i) + of_element(b.dim(0), e), b.in(1, i) + of_element(b.dim(1), e),
             b.out(i) + e * n, n);
  }
}

// Gradient of operand k += f(other operand, dy), per batch element.
template <class F>
void circular_gradient(const GradientBatch<T>& b, std::size_t k, F f) {
  const std::size_t n = b.dim().batch_size(), other = 1 - k;
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const d = b.d_in(k, i);
    if (!d) continue;
    if (!b.add(k, i)) std::fill_n(d, b.dim(k).size(), T(0));
    for (std::size_t e = 0; e < b.dim().bd; ++e)
      f(b.in(other, i) + of_element(b.dim(other), e), b.d_out(i) + e * n,
        d + of_element(b.dim(k), e), n);
  }
}

}  // namespace

void circ_conv_forward(const Batch<T>& b) { circular_forward<Convolve>(b); }
void circ_conv_backward(const GradientBatch<T>& b) {
  circular_gradient(b, 0, Correlate::add);
  circular_gradient(b, 1, Correlate::add);
}

void circ_corr_forward(const Batch<T>& b) { circular_forward<Correlate>(b); }
void circ_corr_backward(const GradientBatch<T>& b) {
  circular_gradient(
      b, 0, [](const T* v, const T* dy, T* du, std::size_t n) { Correlate::add(dy, v, du, n); });
  circular_gradient(b, 1, Convolve::add);
}

}  // namespace dynet::cpu::DYNET_ISA
