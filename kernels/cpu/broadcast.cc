#include "kernels/cpu/broadcast.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/eigen.h"

namespace dynet::cpu {
namespace {

// The one broadcasting rule as a loop: rows of `inner` elements of the result; in each operand a
// row either moves along or stays at one element, and rows start where the outer dimensions say.
template <std::size_t N>
struct RowLoop {
  std::size_t inner = 1;
  std::array<bool, N> moves{};  // operand k moves along a row
  unsigned outer = 0;           // outer dimensions
  std::array<std::size_t, kMaxTensorDim + 1> extent{};
  std::array<std::array<std::size_t, kMaxTensorDim + 1>, N> stride{};

  RowLoop(const Dim& out, const std::array<const Dim*, N>& operands) {
    std::array<std::size_t, N> step;
    step.fill(1);
    std::array<std::array<bool, N>, kMaxTensorDim + 1> along{};
    std::array<std::size_t, kMaxTensorDim + 1> size{};
    std::array<std::array<std::size_t, N>, kMaxTensorDim + 1> steps{};
    unsigned n = 0;
    for (unsigned i = 0; i <= out.nd; ++i) {
      const std::size_t s = i < out.nd ? out.d[i] : out.bd;
      if (s == 1) continue;  // every operand has 1 here
      std::array<bool, N> here{};
      for (std::size_t k = 0; k < N; ++k) {
        const Dim& d = *operands[k];
        here[k] = (i < out.nd ? d[i] : d.bd) != 1;
      }
      if (n && here == along[n - 1]) {
        size[n - 1] *= s;
      } else {
        size[n] = s;
        along[n] = here;
        steps[n] = step;
        ++n;
      }
      for (std::size_t k = 0; k < N; ++k)
        if (here[k]) step[k] *= s;
    }
    if (n == 0) {
      moves.fill(true);
      return;
    }
    inner = size[0];
    moves = along[0];
    outer = n - 1;
    for (unsigned i = 1; i < n; ++i) {
      extent[i - 1] = size[i];
      for (std::size_t k = 0; k < N; ++k) stride[k][i - 1] = along[i][k] ? steps[i][k] : 0;
    }
  }

  /// Calls row(offset in the result, offsets in the operands).
  template <class Row>
  void each(Row&& row) const {
    std::array<std::size_t, kMaxTensorDim + 1> at{};
    std::array<std::size_t, N> offset{};
    std::size_t rows = inner ? 1 : 0;
    for (unsigned i = 0; i < outer; ++i) rows *= extent[i];
    for (std::size_t r = 0; r < rows; ++r) {
      row(r * inner, offset);
      for (unsigned i = 0; i < outer; ++i) {
        for (std::size_t k = 0; k < N; ++k) offset[k] += stride[k][i];
        if (++at[i] < extent[i]) break;
        for (std::size_t k = 0; k < N; ++k) offset[k] -= stride[k][i] * extent[i];
        at[i] = 0;
      }
    }
  }
};

template <class T>
auto constant(T x, std::size_t n) {
  return Eigen::Array<T, Eigen::Dynamic, 1>::Constant(static_cast<Index>(n), x);
}

// Calls f with both rows as arrays, a row that stays as a constant.
template <class T, class F>
void with_rows(const T* a, bool a_moves, const T* b, bool b_moves, std::size_t n, F&& f) {
  if (a_moves && b_moves)
    f(array(a, n), array(b, n));
  else if (a_moves)
    f(array(a, n), constant(*b, n));
  else
    f(constant(*a, n), array(b, n));
}

// Adds a row of gradients to an operand's row, or its sum to the one element.
template <class T, class Row>
void accumulate(bool add, bool moves, T* to, std::size_t n, const Row& row) {
  if (moves)
    store_or_add(add, array(to, n), row);
  else
    *to = add ? *to + sum_in_order(row) : sum_in_order(row);
}

}  // namespace

struct Subtract {
  template <class A, class B>
  static auto value(const A& a, const B& b) {
    return a - b;
  }
  template <class D, class A, class B>
  static auto slope_a(const D& dy, const A&, const B&) {
    return dy * typename D::Scalar(1);
  }
  template <class D, class A, class B>
  static auto slope_b(const D& dy, const A&, const B&) {
    return -dy;
  }
};
struct Multiply {
  template <class A, class B>
  static auto value(const A& a, const B& b) {
    return a * b;
  }
  template <class D, class A, class B>
  static auto slope_a(const D& dy, const A&, const B& b) {
    return dy * b;
  }
  template <class D, class A, class B>
  static auto slope_b(const D& dy, const A& a, const B&) {
    return dy * a;
  }
};
struct Divide {
  template <class A, class B>
  static auto value(const A& a, const B& b) {
    return a / b;
  }
  template <class D, class A, class B>
  static auto slope_a(const D& dy, const A&, const B& b) {
    return dy / b;
  }
  template <class D, class A, class B>
  static auto slope_b(const D& dy, const A& a, const B& b) {
    return -(dy * a / b.square());
  }
};
// Ties send the gradient to the first operand.
struct Max {
  template <class A, class B>
  static auto value(const A& a, const B& b) {
    return a.binaryExpr(b, Eigen::internal::scalar_max_op<typename A::Scalar, typename A::Scalar,
                                                          Eigen::PropagateNaN>());
  }
  template <class D, class A, class B>
  static auto slope_a(const D& dy, const A& a, const B& b) {
    return dy * (a >= b).template cast<typename D::Scalar>();
  }
  template <class D, class A, class B>
  static auto slope_b(const D& dy, const A& a, const B& b) {
    return dy * (a < b).template cast<typename D::Scalar>();
  }
};
struct Min {
  template <class A, class B>
  static auto value(const A& a, const B& b) {
    return a.binaryExpr(b, Eigen::internal::scalar_min_op<typename A::Scalar, typename A::Scalar,
                                                          Eigen::PropagateNaN>());
  }
  template <class D, class A, class B>
  static auto slope_a(const D& dy, const A& a, const B& b) {
    return dy * (a <= b).template cast<typename D::Scalar>();
  }
  template <class D, class A, class B>
  static auto slope_b(const D& dy, const A& a, const B& b) {
    return dy * (a > b).template cast<typename D::Scalar>();
  }
};

template <class F>
template <class T>
void Binary<F>::forward(const Batch<T>& b) {
  const RowLoop<2> loop(b.dim(), {&b.dim(0), &b.dim(1)});
  for (std::size_t i = 0; i < b.count; ++i) {
    T* y = b.out(i);
    const T *p = b.in(0, i), *q = b.in(1, i);
    loop.each([&](std::size_t at, const auto& offset) {
      with_rows(p + offset[0], loop.moves[0], q + offset[1], loop.moves[1], loop.inner,
                [&](const auto& u, const auto& v) { array(y + at, loop.inner) = F::value(u, v); });
    });
  }
}

template <class F>
template <class T>
void Binary<F>::backward(const GradientBatch<T>& b) {
  const RowLoop<2> loop(b.dim(), {&b.dim(0), &b.dim(1)});
  for (std::size_t k = 0; k < 2; ++k) {
    // An operand of the result's size is written row by row; a smaller one is added up, from zero.
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
      loop.each([&](std::size_t at, const auto& offset) {
        with_rows(
            p + offset[0], loop.moves[0], q + offset[1], loop.moves[1], loop.inner,
            [&](const auto& u, const auto& v) {
              const auto g = array(dy + at, loop.inner);
              if (k == 0)
                accumulate(add, loop.moves[0], d + offset[0], loop.inner, F::slope_a(g, u, v));
              else
                accumulate(add, loop.moves[1], d + offset[1], loop.inner, F::slope_b(g, u, v));
            });
      });
    }
  }
}

template <class T>
void sum_forward(const Batch<T>& b) {
  const T scale = static_cast<T>(b.template attr<SumAttr>().scale);
  const std::size_t n = b.dim().size();
  bool equal = true;
  for (std::size_t k = 0; k < b.arity; ++k) equal = equal && b.dim(k).size() == n;
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto y = array(b.out(i), n);
    if (equal && b.arity == 2 && scale == T(1)) {
      array(b.out(i), n) = array(b.in(0, i), n) + array(b.in(1, i), n);
      continue;
    }
    for (std::size_t k = 0; k < b.arity; ++k) {
      const T* x = b.in(k, i);
      if (b.dim(k).size() == n) {
        if (k == 0)
          array(b.out(i), n) = array(x, n);
        else
          array(b.out(i), n) += array(x, n);
        continue;
      }
      if (k == 0) array(b.out(i), n).setZero();
      const RowLoop<1> loop(b.dim(), {&b.dim(k)});
      loop.each([&](std::size_t at, const auto& offset) {
        if (loop.moves[0])
          array(b.out(i) + at, loop.inner) += array(x + offset[0], loop.inner);
        else
          array(b.out(i) + at, loop.inner) += x[offset[0]];
      });
    }
    if (scale != T(1)) array(b.out(i), n) = y * scale;
  }
}

template <class T>
void sum_backward(const GradientBatch<T>& b) {
  const T scale = static_cast<T>(b.template attr<SumAttr>().scale);
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
        accumulate(true, loop.moves[0], d + offset[0], loop.inner,
                   array(b.d_out(i) + at, loop.inner) * scale);
      });
    }
  }
}

#define DYNET_INSTANTIATE(F)                                             \
  template void Binary<F>::forward<float>(const Batch<float>&);          \
  template void Binary<F>::forward<double>(const Batch<double>&);        \
  template void Binary<F>::backward<float>(const GradientBatch<float>&); \
  template void Binary<F>::backward<double>(const GradientBatch<double>&);
DYNET_INSTANTIATE(Subtract)
DYNET_INSTANTIATE(Multiply)
DYNET_INSTANTIATE(Divide)
DYNET_INSTANTIATE(Max)
DYNET_INSTANTIATE(Min)
template void sum_forward<float>(const Batch<float>&);
template void sum_forward<double>(const Batch<double>&);
template void sum_backward<float>(const GradientBatch<float>&);
template void sum_backward<double>(const GradientBatch<double>&);

}  // namespace dynet::cpu
