#include <algorithm>

#include "dynet-like/attributes/broadcast.h"
#include "kernels/cuda/broadcasting.cuh"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/scores.cuh"

namespace dynet::cuda {
namespace {

// Each struct: y = f(a, b), and dy times its two partial derivatives; as in
// kernels/cpu/broadcast.cc.
struct Subtract {
  static __device__ float value(float a, float b) { return a - b; }
  static __device__ float slope_a(float dy, Lazy, Lazy) { return dy; }
  static __device__ float slope_b(float dy, Lazy, Lazy) { return -dy; }
};
struct Multiply {
  static __device__ float value(float a, float b) { return a * b; }
  static __device__ float slope_a(float dy, Lazy, Lazy b) { return dy * b; }
  static __device__ float slope_b(float dy, Lazy a, Lazy) { return dy * a; }
};
struct Divide {
  static __device__ float value(float a, float b) { return a / b; }
  static __device__ float slope_a(float dy, Lazy, Lazy b) { return dy / b; }
  // b * b could exceed the range of float.
  static __device__ float slope_b(float dy, Lazy a, Lazy b) { return -(dy * (a / b) / b); }
};
// The derivative of 0^b by b, and that of x^0 by x, is zero.
struct Power {
  static __device__ float value(float a, float b) { return powf(a, b); }
  static __device__ float slope_a(float dy, Lazy a, Lazy b) {
    return b == 0 ? 0 : dy * scaled_power_less_one(b, a, b);
  }
  static __device__ float slope_b(float dy, Lazy a, Lazy b) {
    return a == 0 ? 0 : dy * scaled_power(logf(a), a, b);
  }
};

// f of two operands, with broadcasting.
template <class F>
void binary(Queue& q, const Batch<float>& b, F f) {
  const auto y = q.outs(b);
  const auto u = q.ins(b, 0), v = q.ins(b, 1);
  const Broadcast at0(b.dim(), b.dim(0)), at1(b.dim(), b.dim(1));
  const bool one = at0.whole && at1.whole && side_by_side(y) && side_by_side(u, v);
  const Digits own0 = at0.own, own1 = at1.own;
  const std::size_t size = b.dim().size();
  for_each(
      q, one ? 1 : b.count, one ? b.count * size : size,
      [=] __device__(std::size_t i, std::size_t e) { y[i][e] = f(u[i][own0(e)], v[i][own1(e)]); });
}

template <class F>
void binary_forward(Queue& q, const Batch<float>& b) {
  binary(q, b, [] __device__(float u, float v) { return F::value(u, v); });
}

// Returns whether every operand has the shape of the result; then all are processed together, node
// i of operand k with number k * count + i.
bool whole(const Batch<float>& b) {
  for (std::size_t k = 0; k < b.arity; ++k)
    if (b.dim(k).size() != b.dim().size()) return false;
  return true;
}
GradientTargets all_targets(Queue& q, const GradientBatch<float>& b) {
  return q.targets(b.d_ins, b.writes, b.arity * b.count, b.dim().size());
}

template <class F>
void binary_backward(Queue& q, const GradientBatch<float>& b) {
  const auto dy = q.d_outs(b);
  const auto u = ins_if_read(q, b, 0), v = ins_if_read(q, b, 1);
  if (whole(b)) {
    const auto count = static_cast<std::uint32_t>(b.count);
    each_gradient(q, all_targets(q, b), b.dim().size(),
                  [=] __device__(std::uint32_t number, std::size_t e) {
                    const std::uint32_t i = number < count ? number : number - count;
                    const Lazy a{u[i] + e}, c{v[i] + e};
                    return number < count ? F::slope_a(dy[i][e], a, c) : F::slope_b(dy[i][e], a, c);
                  });
    return;
  }
  const Digits own0 = Broadcast(b.dim(), b.dim(0)).own, own1 = Broadcast(b.dim(), b.dim(1)).own;
  broadcast_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e, std::size_t own) {
    return F::slope_a(dy[i][e], Lazy{u[i] + own}, Lazy{v[i] + own1(e)});
  });
  broadcast_gradient(q, b, 1, [=] __device__(std::uint32_t i, std::size_t e, std::size_t own) {
    return F::slope_b(dy[i][e], Lazy{u[i] + own0(e)}, Lazy{v[i] + own});
  });
}

// An operand of an operation with any number of operands.
struct Part {
  TensorArray<const float> x;
  Digits own;

  __device__ float operator()(std::size_t i, std::size_t e) const { return x[i][own(e)]; }
};

const Part* parts_of(Queue& q, const Batch<float>& b) {
  Part* const parts = q.stage<Part>(b.arity);
  for (std::size_t k = 0; k < b.arity; ++k)
    parts[k] = {q.ins(b, k), Broadcast(b.dim(), b.dim(k)).own};
  return q.on_device(parts);
}

float scale_of(const Batch<float>& b) { return static_cast<float>(b.attr<SumAttr>().scale); }

void sum_forward(Queue& q, const Batch<float>& b) {
  const float scale = scale_of(b);
  if (b.arity == 2) {
    binary(q, b, [scale] __device__(float u, float v) {
      const float y = (u + v) * scale;
      // The sum may exceed the range of float although the average does not.
      return fabsf(y) < INFINITY ? y : u * scale + v * scale;
    });
    return;
  }
  const std::size_t n = b.arity;
  const auto y = q.outs(b);
  if (n > Queue::kMostNodes && whole(b)) {  // one thread per element would be too few
    const float* const* const xs =
        q.send(const_cast<const float* const*>(b.ins), b.arity * b.count);
    const std::size_t count = b.count, size = b.dim().size();
    sums(
        q, count * size, n, size >= kWarp,
        [=] __device__(std::size_t r, std::size_t k) {
          const Quotient at = divide(r, size);
          return xs[k * count + at.by][at.rest];
        },
        [=] __device__(std::size_t r, double sum) {
          const Quotient at = divide(r, size);
          y[at.by][at.rest] = static_cast<float>(sum * scale);
        });
    return;
  }
  const Part* const parts = parts_of(q, b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    float sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += parts[k](i, e);
    if (!(fabsf(sum) < INFINITY)) {
      sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += parts[k](i, e) * scale;
      y[i][e] = sum;
      return;
    }
    y[i][e] = sum * scale;
  });
}

void sum_backward(Queue& q, const GradientBatch<float>& b) {
  const float scale = scale_of(b);
  const auto dy = q.d_outs(b);
  const std::size_t size = b.dim().size();
  const auto count = static_cast<std::uint32_t>(b.count);
  if (whole(b)) {
    each_gradient(q, all_targets(q, b), size, [=] __device__(std::uint32_t number, std::size_t e) {
      return dy[number % count][e] * scale;
    });
    return;
  }
  for (std::size_t k = 0; k < b.arity; ++k)
    broadcast_gradient(q, b, k, [=] __device__(std::uint32_t i, std::size_t e, std::size_t) {
      return dy[i][e] * scale;
    });
}

template <bool kLargest>
void extreme_forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.arity;
  const Part* const parts = parts_of(q, b);
  const auto y = q.outs(b), winners = q.auxs(b, b.dim().size());
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    float best = parts[0](i, e);
    std::size_t winner = 0;
    for (std::size_t k = 1; k < n; ++k) {
      const float v = parts[k](i, e);
      if (!(kLargest ? v > best : v < best) && v == v) continue;
      best = v;
      winner = k;
    }
    y[i][e] = best;
    winners[i][e] = static_cast<float>(winner);
  });
}

void extreme_backward(Queue& q, const GradientBatch<float>& b) {
  const auto dy = q.d_outs(b);
  const auto winners = q.auxs(b, b.dim().size());
  if (whole(b)) {
    const auto count = static_cast<std::uint32_t>(b.count);
    each_gradient(q, all_targets(q, b), b.dim().size(),
                  [=] __device__(std::uint32_t number, std::size_t e) {
                    const std::uint32_t i = number % count;
                    return winners[i][e] == static_cast<float>(number / count) ? dy[i][e] : 0;
                  });
    return;
  }
  for (std::size_t k = 0; k < b.arity; ++k) {
    const auto own = static_cast<float>(k);
    broadcast_gradient(q, b, k, [=] __device__(std::uint32_t i, std::size_t e, std::size_t) {
      return winners[i][e] == own ? dy[i][e] : 0;
    });
  }
}

// Scratch: the shift of the operands, and the log of the sum of the shifted exponentials.
void logsumexp_forward(Queue& q, const Batch<float>& b) {
  const std::size_t arity = b.arity, n = b.dim().size();
  const Part* const parts = parts_of(q, b);
  const auto y = q.outs(b), kept = q.auxs(b, 2 * n);
  for_each(q, b.count, n, [=] __device__(std::size_t i, std::size_t e) {
    float m = -INFINITY, sum = 0;
    for (std::size_t k = 0; k < arity; ++k) m = Largest()(m, parts[k](i, e));
    m = finite_shift(m);
    for (std::size_t k = 0; k < arity; ++k) sum += exponential(parts[k](i, e) - m);
    const float log = logf(sum);
    y[i][e] = m + log;
    kept[i][e] = m;
    kept[i][n + e] = shift(log);
  });
}

void logsumexp_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().size();
  const auto dy = q.d_outs(b);
  const auto kept = q.auxs(b, 2 * n);
  if (whole(b)) {
    const auto count = static_cast<std::uint32_t>(b.count);
    const auto x = q.many(const_cast<const float* const*>(b.ins), b.arity * b.count, n);
    each_gradient(q, all_targets(q, b), n, [=] __device__(std::uint32_t number, std::size_t e) {
      const std::uint32_t i = number % count;
      return dy[i][e] * exponential((x[number][e] - kept[i][e]) - kept[i][n + e]);
    });
    return;
  }
  for (std::size_t k = 0; k < b.arity; ++k) {
    const auto x = q.ins(b, k);
    broadcast_gradient(q, b, k, [=] __device__(std::uint32_t i, std::size_t e, std::size_t own) {
      return dy[i][e] * exponential((x[i][own] - kept[i][e]) - kept[i][n + e]);
    });
  }
}

}  // namespace

const Kernels kSum{sum_forward, sum_backward};
const Kernels kSubtract{binary_forward<Subtract>, binary_backward<Subtract>};
const Kernels kMultiply{binary_forward<Multiply>, binary_backward<Multiply>};
const Kernels kDivide{binary_forward<Divide>, binary_backward<Divide>};
const Kernels kPower{binary_forward<Power>, binary_backward<Power>};
const Kernels kMax{extreme_forward<true>, extreme_backward};
const Kernels kMin{extreme_forward<false>, extreme_backward};
const Kernels kLogSumExp{logsumexp_forward, logsumexp_backward};

}  // namespace dynet::cuda
