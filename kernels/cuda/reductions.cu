#include "kernels/cuda/kernels.h"
#include "kernels/cuda/loops.cuh"

namespace dynet::cuda {
namespace {

// Each struct: `term` of an element, `value` of the sum of terms, and dy/dx; as in
// kernels/cpu/reductions.cc.
struct Plain {
  static __device__ double term(float x) { return x; }
};
struct ElemsSum : Plain {
  static __device__ double value(double sum, std::size_t) { return sum; }
  static __device__ float slope(Lazy, Lazy, std::size_t) { return 1; }
};
struct ElemsMean : Plain {
  static __device__ double value(double sum, std::size_t n) { return sum / static_cast<double>(n); }
  static __device__ float slope(Lazy, Lazy, std::size_t n) { return 1 / static_cast<float>(n); }
};
struct Squares {
  static __device__ double term(float x) { return static_cast<double>(x) * x; }
};
struct ElemsSquaredNorm : Squares {
  static __device__ double value(double sum, std::size_t) { return sum; }
  static __device__ float slope(Lazy x, Lazy, std::size_t) { return 2 * x; }
};
struct ElemsNorm : Squares {
  static __device__ double value(double sum, std::size_t) { return sqrt(sum); }
  static __device__ float slope(Lazy x, Lazy y, std::size_t) { return y == 0 ? 0 : x / y; }
};

template <class F>
void elems_forward(Queue& q, const Batch<float>& b) {
  const auto y = q.outs(b);
  const auto x = q.ins(b, 0);
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  sums(
      q, b.count * batch, n, false,
      [=] __device__(std::size_t r, std::size_t k) {
        const Quotient at = divide(r, batch);
        return F::term(x[at.by][at.rest * n + k]);
      },
      [=] __device__(std::size_t r, double sum) {
        const Quotient at = divide(r, batch);
        y[at.by][at.rest] = static_cast<float>(F::value(sum, n));
      });
}

template <class F>
void elems_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim(0).batch_size();
  const auto dy = q.d_outs(b);
  const auto x = ins_if_read(q, b, 0), y = outs_if_read(q, b);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const std::size_t k = divide(e, n).by;
    return dy[i][k] * F::slope(Lazy{x[i] + e}, Lazy{y[i] + k}, n);
  });
}

template <bool kMean>
float batches_scale(const Batch<float>& b) {
  return kMean ? 1 / static_cast<float>(b.dim(0).bd) : 1;
}

template <bool kMean>
void batches_forward(Queue& q, const Batch<float>& b) {
  const float scale = batches_scale<kMean>(b);
  const auto y = q.outs(b);
  const auto x = q.ins(b, 0);
  const std::size_t n = b.dim(0).batch_size(), batch = b.dim(0).bd;
  sums(
      q, b.count * n, batch, n > 1,
      [=] __device__(std::size_t r, std::size_t k) {
        const Quotient at = divide(r, n);
        return x[at.by][k * n + at.rest];
      },
      [=] __device__(std::size_t r, double sum) {
        const Quotient at = divide(r, n);
        y[at.by][at.rest] = static_cast<float>(sum * scale);
      });
}

template <bool kMean>
void batches_backward(Queue& q, const GradientBatch<float>& b) {
  const float scale = batches_scale<kMean>(b);
  const std::size_t n = b.dim(0).batch_size();
  const auto dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    return scale * dy[i][divide(e, n).rest];
  });
}

}  // namespace

const Kernels kSumElems{elems_forward<ElemsSum>, elems_backward<ElemsSum>};
const Kernels kMeanElems{elems_forward<ElemsMean>, elems_backward<ElemsMean>};
const Kernels kSquaredNorm{elems_forward<ElemsSquaredNorm>, elems_backward<ElemsSquaredNorm>};
const Kernels kL2Norm{elems_forward<ElemsNorm>, elems_backward<ElemsNorm>};
const Kernels kSumBatches{batches_forward<false>, batches_backward<false>};
const Kernels kMeanBatches{batches_forward<true>, batches_backward<true>};

}  // namespace dynet::cuda
