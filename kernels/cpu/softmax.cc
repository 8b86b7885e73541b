#include "kernels/cpu/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/indices.h"
#include "kernels/cpu/exponential.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// Calls done(c, log_sum, shift) for every column: `log_sum` is the log of the sum of e^(x -
/// shift), with the shift from `shift_of` of the maximum. Separate numbers are exact for large
/// scores.
template <class Column, class Done>
void log_sums(std::size_t columns, std::size_t n, T (*shift_of)(T), Column column, Done done) {
  alignas(64) T sums[kBuffer], shifts[kBuffer];
  for (std::size_t first = 0; first < columns; first += kBuffer) {
    const std::size_t group = std::min(kBuffer, columns - first);
    for (std::size_t c = 0; c < group; ++c) {
      shifts[c] = shift_of(largest(column(first + c), n));
      sums[c] = T(0);
    }
    over_columns<T>(
        group, n,
        [&](std::size_t c, std::size_t at, std::size_t length, T* to) {
          array(to, length) = array(column(first + c) + at, length) - shifts[c];
        },
        [&](std::size_t c, std::size_t, std::size_t length, const T* e) {
          sums[c] += sum_in_order(array(e, length));
        });
    map_vectors(sums, sums, group, [](auto v) { return log(v); });
    for (std::size_t c = 0; c < group; ++c) done(first + c, sums[c], shifts[c]);
  }
}

void softmax_rows(const T* x, T* y, std::size_t n, std::size_t columns, T* scratch) {
  auto s = array(scratch, n);
  s = array(x, n);
  for (std::size_t c = 1; c < columns; ++c) s = s.max(array(x + c * n, n));
  for (std::size_t r = 0; r < n; ++r) scratch[r] = shift(scratch[r]);
  for (std::size_t c = 0; c < columns; ++c) array(y + c * n, n) = array(x + c * n, n) - s;
  exponentials(y, columns * n);
  s.setZero();
  for (std::size_t c = 0; c < columns; ++c) s += array(static_cast<const T*>(y + c * n), n);
  for (std::size_t r = 0; r < n; ++r) scratch[r] = scratch[r] == T(0) ? T(0) : T(1) / scratch[r];
  for (std::size_t c = 0; c < columns; ++c) array(y + c * n, n) *= s;
}

Along along(const Batch<T>& b) {
  return {b.dim(0), static_cast<std::size_t>(b.attr<SoftmaxAttr>().dimension)};
}

}  // namespace

void softmax_forward(const Batch<T>& b) {
  const Along x = along(b);
  const std::size_t size = b.dim().size(), block = x.size * x.inner;
  if (size == 0) return;
  if (x.inner > 1) {
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t first = 0; first < size; first += block)
        softmax_rows(b.in(0, i) + first, b.out(i) + first, x.inner, x.size, b.aux(i));
    return;
  }
  if (Batch<T>::contiguous(b.outs, b.count, size) && Batch<T>::contiguous(b.ins, b.count, size)) {
    softmax_columns(b.in(0, 0), b.out(0), x.size, size / x.size * b.count);
    return;
  }
  for (std::size_t i = 0; i < b.count; ++i)
    softmax_columns(b.in(0, i), b.out(i), x.size, size / x.size);
}

void softmax_backward(const GradientBatch<T>& b) {
  const Along x = along(b);
  const std::size_t size = b.dim().size(), block = x.size * x.inner;
  if (size == 0) return;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const std::size_t n = x.inner > 1 ? x.inner : x.size;
    const auto y = [&](std::size_t at) {
      return array<T>(static_cast<const T*>(b.out(i)) + at, n);
    };
    const auto dy = [&](std::size_t at) { return array<T>(b.d_out(i) + at, n); };
    const auto dx = [&](std::size_t at) { return array<T>(b.d_in(0, i) + at, n); };
    for (std::size_t first = 0; first < size; first += block) {
      if (x.inner == 1) {
        const T s = sum_in_order(y(first) * dy(first));
        store_or_add(b.add(0, i), dx(first), y(first) * (dy(first) - s));
        continue;
      }
      auto s = array<T>(b.aux(i), n);
      s.setZero();
      for (std::size_t at = first; at < first + block; at += n) s += y(at) * dy(at);
      for (std::size_t at = first; at < first + block; at += n)
        store_or_add(b.add(0, i), dx(at), y(at) * (dy(at) - s));
    }
  }
}

void log_softmax_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().rows(), columns = n == 0 ? 0 : b.dim().size() / n;
  if (columns == 0) return;
  const auto x = [&](std::size_t c) { return b.in(0, c / columns) + c % columns * n; };
  log_sums(columns * b.count, n, shift<T>, x, [&](std::size_t c, T log_sum, T max) {
    array(b.out(c / columns) + c % columns * n, n) = (array(x(c), n) - max) - shift(log_sum);
  });
}

void log_softmax_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().rows(), columns = n == 0 ? 0 : b.dim().size() / n;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const bool add = b.add(0, i);
    T sum = 0;
    over_columns<T>(
        columns, n,
        [&](std::size_t c, std::size_t at, std::size_t length, T* to) {
          array(to, length) = array(static_cast<const T*>(b.out(i)) + c * n + at, length);
        },
        [&](std::size_t c, std::size_t at, std::size_t length, const T* p) {
          if (at == 0) sum = sum_in_order(array(b.d_out(i) + c * n, n));
          const T* y = b.out(i) + c * n + at;
          const T* dy = b.d_out(i) + c * n + at;
          T* dx = b.d_in(0, i) + c * n + at;
          for (std::size_t r = 0; r < length; ++r) {
            const T g = y[r] == -kInfinity<T> ? T(0) : dy[r] - p[r] * sum;
            dx[r] = add ? dx[r] + g : g;
          }
        });
  }
}

// Stores the shift of the scores and the log of the sum of their shifted exponentials, for
// backward.
void logsumexp_along_forward(const Batch<T>& b) {
  const Along a = along(b);
  const std::size_t n = b.dim().size(), block = a.size * a.inner;
  for (std::size_t i = 0; i < b.count; ++i) {
    T *y = b.out(i), *shifts = b.aux(i), *sums = b.aux(i) + n;
    const T* const x = b.in(0, i);
    if (a.inner == 1 && a.size > 0) {
      log_sums(
          n, a.size, finite_shift<T>, [&](std::size_t c) { return x + c * a.size; },
          [&](std::size_t c, T log_sum, T max) {
            y[c] = log_sum + max;
            shifts[c] = max;
            sums[c] = shift(log_sum);
          });
      continue;
    }
    array(sums, n).setZero();
    array(shifts, n).setConstant(-kInfinity<T>);
    for (std::size_t at = 0, to = 0; to < n; at += block, to += a.inner) {
      auto most = array(shifts + to, a.inner);
      for (std::size_t k = 0; k < a.size; ++k)
        most = most.max(array(x + at + k * a.inner, a.inner));
      for (std::size_t j = to; j < to + a.inner; ++j) shifts[j] = finite_shift(shifts[j]);
      over_columns<T>(
          a.size, a.inner,
          [&](std::size_t k, std::size_t from, std::size_t length, T* e) {
            array(e, length) = array(x + at + k * a.inner + from, length) -
                               array<T>(static_cast<const T*>(shifts) + to + from, length);
          },
          [&](std::size_t, std::size_t from, std::size_t length, const T* e) {
            array(sums + to + from, length) += array(e, length);
          });
    }
    map_vectors(sums, sums, n, [](auto v) { return log(v); });
    for (std::size_t j = 0; j < n; ++j) {
      y[j] = shifts[j] + sums[j];
      sums[j] = shift(sums[j]);
    }
  }
}

void logsumexp_along_backward(const GradientBatch<T>& b) {
  const Along a = along(b);
  const std::size_t n = b.dim().size(), size = b.dim(0).size();
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const dx = b.d_in(0, i);
    if (!dx || size == 0) continue;
    const bool add = b.add(0, i);
    const T *x = b.in(0, i), *shifts = b.aux(i), *sums = b.aux(i) + n;
    if (a.inner == 1) {
      over_columns<T>(
          n, a.size,
          [&](std::size_t c, std::size_t at, std::size_t length, T* to) {
            array(to, length) = (array(x + c * a.size + at, length) - shifts[c]) - sums[c];
          },
          [&](std::size_t c, std::size_t at, std::size_t length, const T* p) {
            store_or_add(add, array(dx + c * a.size + at, length),
                         b.d_out(i)[c] * array(p, length));
          });
      continue;
    }
    // Index of the result that element `at` of the operand is reduced to.
    const auto result_of = [&](std::size_t at) {
      return at / (a.size * a.inner) * a.inner + at % a.inner;
    };
    over_columns<T>(
        size / a.inner, a.inner,
        [&](std::size_t c, std::size_t from, std::size_t length, T* to) {
          const std::size_t at = c * a.inner + from, r = result_of(at);
          array(to, length) =
              (array(x + at, length) - array(shifts + r, length)) - array(sums + r, length);
        },
        [&](std::size_t c, std::size_t from, std::size_t length, const T* p) {
          const std::size_t at = c * a.inner + from;
          store_or_add(add, array(dx + at, length),
                       array(b.d_out(i) + result_of(at), length) * array(p, length));
        });
  }
}

namespace {

// Losses of scores: those of operand 0, or a sum of products at the start of the scratch.
struct ClassLoss {
  explicit ClassLoss(const Batch<T>& batch)
      : b(batch),
        bd(b.dim().bd),
        inner(b.node(0).form->sums),
        n(inner ? inner(b.graph, b.node(0)) / bd : b.dim(0).batch_size()) {}

  const Batch<T>& b;
  std::size_t bd;
  AuxRule inner;
  std::size_t n;

  const T* scores(std::size_t i) const { return inner ? b.aux(i) : b.in(0, i); }
  // The logs of sums, the shifts, the classes.
  T* kept(std::size_t i) const { return b.aux(i) + (inner ? bd * n : 0); }
  T* classes(std::size_t i) const { return kept(i) + 2 * bd; }
};

}  // namespace

void class_loss_forward(const Batch<T>& b) {
  const ClassLoss s(b);
  const std::size_t batch = s.bd;
  for (std::size_t i = 0; i < b.count; ++i)
    keep_indices<ClassAttr>(b, i, s.classes(i), s.n, "the scores");
  const auto x = [&](std::size_t c) { return s.scores(c / batch) + c % batch * s.n; };
  log_sums(batch * b.count, s.n, shift<T>, x, [&](std::size_t c, T log_sum, T max) {
    const std::size_t i = c / batch, k = c % batch;
    const unsigned v = kept_indices<ClassAttr>(b, i, s.classes(i))[k];
    s.kept(i)[k] = shift(log_sum);
    s.kept(i)[batch + k] = max;
    b.out(i)[k] = log_sum == -kInfinity<T> ? kInfinity<T> : log_sum + (max - x(c)[v]);
  });
}

void class_loss_backward(const GradientBatch<T>& b) {
  const ClassLoss s(b);
  const std::size_t n = s.n, batch = s.bd;
  over_columns<T>(
      batch * b.count, n,
      [&](std::size_t c, std::size_t at, std::size_t length, T* to) {
        const std::size_t i = c / batch, k = c % batch;
        array(to, length) =
            (array(s.scores(i) + k * n + at, length) - s.kept(i)[batch + k]) - s.kept(i)[k];
      },
      [&](std::size_t c, std::size_t at, std::size_t length, const T* p) {
        const std::size_t i = c / batch, k = c % batch;
        T* dx = s.inner ? b.d_sums[i] : b.d_in(0, i);
        if (!dx) return;
        const T dy = b.d_out(i)[k];
        dx += k * n;
        store_or_add(!s.inner && b.add(0, i), array(dx + at, length), dy * array(p, length));
        if (at + length < n) return;
        const unsigned v = kept_indices<ClassAttr, T>(b, i, s.classes(i))[k];
        if (s.scores(i)[k * n + v] != -kInfinity<T>) dx[v] -= dy;
      });
}

}  // namespace dynet::cpu::DYNET_ISA
