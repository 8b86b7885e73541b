#include "kernels/cpu/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/eigen.h"
#include "kernels/cpu/indices.h"

namespace dynet::cpu {
namespace {

// Exponentials are taken over as many columns at a time as fit in a buffer that stays in the cache.
constexpr std::size_t kBuffer = 1024;

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
T largest(const T* x, std::size_t n) {
  return array(x, n).maxCoeff();
}

/// What is subtracted from scores whose largest is `m`; a column without any score keeps its minus
/// infinities.
template <class T>
T shift(T m) {
  return m == -kInfinity<T> ? T(0) : m;
}

/// e^x in place, exactly zero where it is too small for T: Eigen's gives a denormal for minus
/// infinity.
template <class T>
void exponentials(T* x, std::size_t n) {
  constexpr T kTiny = 8 * std::numeric_limits<T>::min();
  map_vectors(x, x, n, [](const auto& v) { return v.exp(); });
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] < kTiny ? T(0) : x[i];
}

/// e^z over columns of length n: `fill(c, at, length, to)` writes z of a piece of column c, and
/// `use(c, at, length, e)` gets its exponentials, column by column.
template <class T, class Fill, class Use>
void over_columns(std::size_t columns, std::size_t n, Fill fill, Use use) {
  alignas(64) T buffer[kBuffer];
  if (n == 0) return;
  if (n > kBuffer) {
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t at = 0; at < n; at += kBuffer) {
        const std::size_t length = std::min(kBuffer, n - at);
        fill(c, at, length, buffer);
        exponentials(buffer, length);
        use(c, at, length, buffer);
      }
    return;
  }
  const std::size_t wide = kBuffer / n;
  for (std::size_t first = 0; first < columns; first += wide) {
    const std::size_t group = std::min(wide, columns - first);
    for (std::size_t c = 0; c < group; ++c) fill(first + c, 0, n, buffer + c * n);
    exponentials(buffer, group * n);
    for (std::size_t c = 0; c < group; ++c) use(first + c, 0, n, buffer + c * n);
  }
}

/// For every column, `done(c, log_sum, shift)`: the log of the sum of e^(x - shift). Kept apart,
/// the two lose nothing when scores are large.
template <class T, class Column, class Done>
void log_sums(std::size_t columns, std::size_t n, Column column, Done done) {
  alignas(64) T sums[kBuffer], shifts[kBuffer];
  for (std::size_t first = 0; first < columns; first += kBuffer) {
    const std::size_t group = std::min(kBuffer, columns - first);
    for (std::size_t c = 0; c < group; ++c) {
      shifts[c] = shift(largest(column(first + c), n));
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
    map_vectors(sums, sums, group, [](const auto& v) { return v.log(); });
    for (std::size_t c = 0; c < group; ++c) done(first + c, sums[c], shifts[c]);
  }
}

template <class T>
void softmax_columns(const T* x, T* y, std::size_t n, std::size_t columns) {
  const std::size_t wide = std::max<std::size_t>(1, kBuffer / n);
  for (std::size_t first = 0; first < columns; first += wide) {
    const std::size_t last = std::min(columns, first + wide);
    for (std::size_t c = first; c < last; ++c)
      array(y + c * n, n) = array(x + c * n, n) - shift(largest(x + c * n, n));
    exponentials(y + first * n, (last - first) * n);
    for (std::size_t c = first; c < last; ++c) {
      auto column = array(y + c * n, n);
      const T sum = sum_in_order(column);
      column *= sum == T(0) ? T(0) : T(1) / sum;
    }
  }
}

template <class T>
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

template <class T>
bool along_rows(const Batch<T>& b) {
  return b.template attr<SoftmaxAttr>().dimension == 1;
}

}  // namespace

std::size_t softmax_aux(const GraphStore& graph, const Node& n) {
  return graph.attr<SoftmaxAttr>(n).dimension == 1 ? n.dim.rows() : 0;
}

template <class T>
void softmax_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().rows(), cols = b.dim().cols(), batch = b.dim().bd;
  if (n * cols == 0) return;
  if (along_rows(b)) {
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t k = 0; k < batch; ++k)
        softmax_rows(b.in(0, i) + k * n * cols, b.out(i) + k * n * cols, n, cols, b.aux(i));
    return;
  }
  const std::size_t size = n * cols * batch;
  if (Batch<T>::contiguous(b.outs, b.count, size) && Batch<T>::contiguous(b.ins, b.count, size)) {
    softmax_columns(b.in(0, 0), b.out(0), n, cols * batch * b.count);
    return;
  }
  for (std::size_t i = 0; i < b.count; ++i) softmax_columns(b.in(0, i), b.out(i), n, cols * batch);
}

template <class T>
void softmax_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().rows(), cols = b.dim().cols(), batch = b.dim().bd;
  const bool rows = along_rows<T>(b);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const auto y = [&](std::size_t c) {
      return array<T>(static_cast<const T*>(b.out(i)) + c * n, n);
    };
    const auto dy = [&](std::size_t c) { return array<T>(b.d_out(i) + c * n, n); };
    const auto dx = [&](std::size_t c) { return array<T>(b.d_in(0, i) + c * n, n); };
    for (std::size_t k = 0; k < batch; ++k) {
      const std::size_t first = k * cols, last = first + cols;
      if (!rows) {
        for (std::size_t c = first; c < last; ++c)
          store_or_add(b.add(0, i), dx(c), y(c) * (dy(c) - sum_in_order(y(c) * dy(c))));
        continue;
      }
      auto s = array<T>(b.aux(i), n);
      s.setZero();
      for (std::size_t c = first; c < last; ++c) s += y(c) * dy(c);
      for (std::size_t c = first; c < last; ++c)
        store_or_add(b.add(0, i), dx(c), y(c) * (dy(c) - s));
    }
  }
}

template <class T>
void log_softmax_forward(const Batch<T>& b) {
  const std::size_t n = b.dim().rows(), columns = std::size_t{b.dim().cols()} * b.dim().bd;
  if (n == 0) return;
  const auto x = [&](std::size_t c) { return b.in(0, c / columns) + c % columns * n; };
  log_sums<T>(columns * b.count, n, x, [&](std::size_t c, T log_sum, T max) {
    array(b.out(c / columns) + c % columns * n, n) = (array(x(c), n) - max) - shift(log_sum);
  });
}

template <class T>
void log_softmax_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim().rows(), columns = std::size_t{b.dim().cols()} * b.dim().bd;
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

std::size_t class_loss_aux(const GraphStore& graph, const Node& n) {
  return 2 * std::size_t{n.dim.bd} + index_scratch(graph.attr<ClassAttr>(n).indices);
}

template <class T>
void class_loss_forward(const Batch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  for (std::size_t i = 0; i < b.count; ++i)
    keep_indices<ClassAttr>(b, i, b.aux(i) + 2 * batch, n, "the scores");
  const auto x = [&](std::size_t c) { return b.in(0, c / batch) + c % batch * n; };
  log_sums<T>(batch * b.count, n, x, [&](std::size_t c, T log_sum, T max) {
    const std::size_t i = c / batch, k = c % batch;
    const unsigned v = kept_indices<ClassAttr>(b, i, b.aux(i) + 2 * batch)[k];
    b.aux(i)[k] = shift(log_sum);
    b.aux(i)[batch + k] = max;
    b.out(i)[k] = log_sum == -kInfinity<T> ? kInfinity<T> : log_sum + (max - x(c)[v]);
  });
}

template <class T>
void class_loss_backward(const GradientBatch<T>& b) {
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  over_columns<T>(
      batch * b.count, n,
      [&](std::size_t c, std::size_t at, std::size_t length, T* to) {
        const std::size_t i = c / batch, k = c % batch;
        array(to, length) =
            (array(b.in(0, i) + k * n + at, length) - b.aux(i)[batch + k]) - b.aux(i)[k];
      },
      [&](std::size_t c, std::size_t at, std::size_t length, const T* p) {
        const std::size_t i = c / batch, k = c % batch;
        if (!b.d_in(0, i)) return;
        const T dy = b.d_out(i)[k];
        T* dx = b.d_in(0, i) + k * n;
        store_or_add(b.add(0, i), array(dx + at, length), dy * array(p, length));
        if (at + length < n) return;
        const unsigned v = kept_indices<ClassAttr, T>(b, i, b.aux(i) + 2 * batch)[k];
        if (b.in(0, i)[k * n + v] != -kInfinity<T>) dx[v] -= dy;
      });
}

#define DYNET_INSTANTIATE(NAME)                                      \
  template void NAME##_forward<float>(const Batch<float>&);          \
  template void NAME##_forward<double>(const Batch<double>&);        \
  template void NAME##_backward<float>(const GradientBatch<float>&); \
  template void NAME##_backward<double>(const GradientBatch<double>&);
DYNET_INSTANTIATE(softmax)
DYNET_INSTANTIATE(log_softmax)
DYNET_INSTANTIATE(class_loss)
#undef DYNET_INSTANTIATE

}  // namespace dynet::cpu
