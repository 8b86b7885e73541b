// Sums of products of matrices: y = W x, y = bias + W1 x1 + W2 x2 + ...

#include <algorithm>

#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/products.h"

namespace dynet::cuda {
namespace {

struct Shapes {
  std::size_t m, k, n;  // W is m x k, x is k x n
  std::size_t count, batch, w_batch, x_batch;

  Shapes(const Batch<float>& b, std::size_t w, std::size_t x)
      : m(b.dim(w).rows()),
        k(b.dim(w).cols()),
        n(b.dim(x).cols()),
        count(b.count),
        batch(b.dim().bd),
        w_batch(b.dim(w).bd),
        x_batch(b.dim(x).bd) {}
  // Columns of all nodes and batch elements; how often each x is used.
  std::size_t columns() const { return count * batch * n; }
  std::size_t repeat() const { return x_batch == 1 ? batch : 1; }
  std::size_t x_size() const { return k * n * x_batch; }
  std::size_t x_step() const { return x_batch == 1 ? 0 : k * n; }
  std::size_t y_size() const { return m * n * batch; }
};

// y = or += W x for all nodes, whose y lie side by side.
void multiply_nodes(Queue& q, const Batch<float>& b, std::size_t w, std::size_t x, float* y,
                    bool add) {
  const Shapes s(b, w, x);
  if (s.w_batch == 1) {
    const float* const xs = gathered(q, q.ins(b, x), s.count, s.x_size(), s.repeat());
    multiply(q, s.m, s.columns(), s.k, {b.in(w, 0)}, {xs}, y, add);
    return;
  }
  for (std::size_t i = 0; i < b.count; ++i)
    multiply(q, s.m, s.n, s.k, {b.in(w, i), false, s.m * s.k}, {b.in(x, i), false, s.x_step()},
             y + i * s.y_size(), add, s.batch, s.m * s.n);
}

// d W (+)= d y x'. All nodes share a W that is one for the whole batch.
void matrix_gradient(Queue& q, const GradientBatch<float>& b, std::size_t w, std::size_t x) {
  const Shapes s(b, w, x);
  if (s.w_batch == 1) {
    if (!b.d_in(w, 0)) return;
    const float* const dy = gathered(q, q.d_outs(b), s.count, s.y_size());
    const float* const xs = gathered(q, q.ins(b, x), s.count, s.x_size(), s.repeat());
    multiply(q, s.m, s.k, s.columns(), {dy}, {xs, true}, b.d_in(w, 0), b.add(w, 0));
    return;
  }
  for (std::size_t i = 0; i < b.count; ++i)
    if (b.d_in(w, i))
      multiply(q, s.m, s.k, s.n, {b.d_out(i), false, s.m * s.n}, {b.in(x, i), true, s.x_step()},
               b.d_in(w, i), b.add(w, i), s.batch, s.m * s.k);
}

// d x (+)= W' d y: there, or where several parts are to be summed or places are apart, in a
// temporary first.
void column_gradient(Queue& q, const GradientBatch<float>& b, std::size_t w, std::size_t x) {
  const Places p = q.places(b, x);
  if (p.first.count == 0) return;
  const Shapes s(b, w, x);
  const bool there = side_by_side(p) && s.repeat() == 1;
  const std::size_t size = s.k * s.n * s.batch;  // of a node, before parts are summed
  float* const to = there ? p.first.to.first : q.temporary(s.count * size);
  const bool add = there && p.first.all_add;
  if (s.w_batch == 1) {
    const float* const dy = gathered(q, q.d_outs(b), s.count, s.y_size());
    multiply(q, s.k, s.columns(), s.m, {b.in(w, 0), true}, {dy}, to, add);
  } else {
    for (std::size_t i = 0; i < b.count; ++i)
      if (b.d_in(x, i))
        multiply(q, s.k, s.n, s.m, {b.in(w, i), true, s.m * s.k}, {b.d_out(i), false, s.m * s.n},
                 to + i * size, add, s.batch, s.k * s.n);
  }
  if (!there) sum_parts(q, p, s.x_size(), to, s.repeat());
}

void multiply_nodes_backward(Queue& q, const GradientBatch<float>& b, std::size_t w,
                             std::size_t x) {
  matrix_gradient(q, b, w, x);
  column_gradient(q, b, w, x);
}

// The bias, for every column.
struct Bias {
  Many<const float> bias;
  std::size_t rows, size, step;  // of the bias, of a batch element of y, from bias to bias
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient at = divide(e, size);
    return bias[i][at.by * step + divide(at.rest, rows).rest];
  }
};

struct Moved {
  Many<float> y;
  const float* from;
  std::size_t size;
  bool add;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const float v = from[i * size + e];
    return add ? y[i][e] + v : v;
  }
};

// Values that do not lie side by side are made elsewhere first.
template <class Make>
void make_side_by_side(Queue& q, const Batch<float>& b, bool goes_on, Make make) {
  const Many<float> y = q.outs(b);
  const std::size_t size = b.dim().size();
  if (!y.each) return make(y.first, goes_on);
  float* const to = q.temporary(b.count * size);
  make(to, false);
  each_value(q, b, Moved{y, to, size, goes_on});
}

void matmul_forward(Queue& q, const Batch<float>& b) {
  make_side_by_side(q, b, false, [&](float* y, bool add) { multiply_nodes(q, b, 0, 1, y, add); });
}

void matmul_backward(Queue& q, const GradientBatch<float>& b) {
  multiply_nodes_backward(q, b, 0, 1);
}

void affine_forward(Queue& q, const Batch<float>& b) {
  if (b.goes_on) {  // one after another, in the order in which they would be added at once
    for (std::size_t k = 1; k + 1 < b.arity; k += 2)
      if (b.parts.has(1 + k / 2))
        make_side_by_side(q, b, true,
                          [&](float* y, bool add) { multiply_nodes(q, b, k, k + 1, y, add); });
    return;
  }
  make_side_by_side(q, b, false, [&](float* y, bool) {
    const std::size_t all = b.dim().size(), rows = b.dim(0).batch_size();
    each_element(q, {y, all, nullptr}, b.count, all,
                 Bias{q.ins(b, 0), rows, b.dim().batch_size(), b.dim(0).bd == 1 ? 0 : rows});
    for (std::size_t k = 1; k + 1 < b.arity; k += 2)
      if (b.parts.has(1 + k / 2)) multiply_nodes(q, b, k, k + 1, y, true);
  });
}

void bias_gradient(Queue& q, const GradientBatch<float>& b) {
  const Dim& y = b.dim();
  const std::size_t rows = b.dim(0).batch_size(), size = y.batch_size();
  if (rows == 0) return;
  const std::size_t columns = size / rows, batch = b.dim(0).bd == 1 ? y.bd : 1;
  const Many<const float> dy = q.d_outs(b);
  sum_gradients(q, q.places(b, 0), b.dim(0).size(), batch * columns, true,
                [=] __device__(std::uint32_t i, std::size_t e, std::size_t c) {
                  const Quotient at = divide(e, rows);
                  return dy[i][at.by * size + c * rows + at.rest];
                });
}

void affine_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.first == 0) bias_gradient(q, b);
  const std::size_t end = std::min(b.end, b.arity - 1);
  for (std::size_t k = b.first | 1; k < end; k += 2) multiply_nodes_backward(q, b, k, k + 1);
}

}  // namespace

const Kernels kMatmul = {matmul_forward, matmul_backward};
const Kernels kAffine = {affine_forward, affine_backward};

}  // namespace dynet::cuda
