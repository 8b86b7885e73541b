#include <algorithm>

#include "dynet-like/attributes/moments.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/broadcasting.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// A reduction as the reverse of broadcasting: the result is the operand of a broadcast whose result
// is the reduction's operand.
struct Reduction {
  Broadcast at;
  std::size_t size;  // of the result
  double elements, divisor;

  explicit Reduction(const Batch<float>& b)
      : at(b.dim(0), shape::ones_at(b.dim(0), attr(b).dims)),
        size(b.dim().size()),
        elements(static_cast<double>(shape::reduced_elements(b.dim(0), attr(b).dims))),
        divisor(attr(b).divisor > 0 ? attr(b).divisor : elements) {}

  static const ReduceAttr& attr(const Batch<float>& b) { return b.attr<ReduceAttr>(); }
};

template <class T>
inline __device__ T power(T x, std::uint32_t r) {
  T y = 1;
  for (; r; r >>= 1, x *= x)
    if (r & 1) y *= x;
  return y;
}

// y[i][e] = done(sum of term(i, e, element of the operand)).
template <class T, class D>
void reduce(Queue& q, const Batch<float>& b, const Reduction& r, TensorArray<float> y, T term,
            D done) {
  const Digits first = r.at.first, repeat = r.at.repeat;
  const std::size_t size = r.size;
  sums(
      q, b.count * size, r.at.repeats, r.at.neighbours,
      [=] __device__(std::size_t k, std::size_t n) {
        const Quotient to = divide(k, size);
        return term(to.by, to.rest, first(to.rest) + repeat(n));
      },
      [=] __device__(std::size_t k, double sum) {
        const Quotient to = divide(k, size);
        y[to.by][to.rest] = done(sum);
      });
}

void moment_forward(Queue& q, const Batch<float>& b) {
  const Reduction r(b);
  const std::uint32_t exponent = Reduction::attr(b).power;
  const double scale = 1 / r.divisor;
  const auto x = q.ins(b, 0);
  reduce(
      q, b, r, q.outs(b),
      [=] __device__(std::size_t i, std::size_t, std::size_t e) {
        const double v = x[i][e];
        return exponent == 1 ? v : power(v, exponent);
      },
      [=] __device__(double sum) { return static_cast<float>(sum * scale); });
}

void moment_backward(Queue& q, const GradientBatch<float>& b) {
  const Reduction r(b);
  const std::uint32_t exponent = Reduction::attr(b).power;
  const auto scale = static_cast<float>(exponent / r.divisor);
  const Digits result = r.at.own;
  const auto dy = q.d_outs(b);
  const auto x = ins_if_read(q, b, 0);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const float slope = exponent == 1 ? scale : scale * power(x[i][e], exponent - 1);
    return dy[i][result(e)] * slope;
  });
}

// Scratch: the means.
void deviation_forward(Queue& q, const Batch<float>& b) {
  const Reduction r(b);
  const double scale = 1 / r.divisor;
  const auto x = q.ins(b, 0);
  const auto means = q.auxs(b, r.size);
  reduce(
      q, b, r, means, [=] __device__(std::size_t i, std::size_t, std::size_t e) { return x[i][e]; },
      [=] __device__(double sum) { return static_cast<float>(sum * scale); });
  reduce(
      q, b, r, q.outs(b),
      [=] __device__(std::size_t i, std::size_t to, std::size_t e) {
        const double d = x[i][e] - means[i][to];
        return d * d;
      },
      [=] __device__(double sum) { return static_cast<float>(sqrt(sum * scale)); });
}

void deviation_backward(Queue& q, const GradientBatch<float>& b) {
  const Reduction r(b);
  const auto scale = static_cast<float>(1 / r.divisor);
  // Equal to one if the divisor is the number of elements.
  const auto pull = static_cast<float>((2 * r.divisor - r.elements) / r.divisor);
  const Digits result = r.at.own;
  const auto dy = q.d_outs(b);
  const auto x = q.ins(b, 0);
  const auto y = q.outs(b), means = q.auxs(b, r.size);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const std::size_t at = result(e);
    const float slope = y[i][at] == 0 ? 0 : dy[i][at] * scale / y[i][at];
    return (x[i][e] - pull * means[i][at]) * slope;
  });
}

// Scratch: the index of the largest or smallest element, as the bits of a float.
template <bool kLargest>
void extreme_forward(Queue& q, const Batch<float>& b) {
  constexpr std::uint64_t kNoNumber = std::uint64_t{0xffffffffu} << 32;
  const Lines x(b.dim(0), b.attr<AlongAttr>().dimension);
  if (x.size == 0) return;
  const auto in = q.ins(b, 0);
  const auto y = q.outs(b), winners = q.auxs(b, x.lines);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const float* const first = in[i] + x.first(line);
    std::uint64_t best = 0;
    for (std::size_t k = team.lane; k < x.size; k += team.size) {
      const float v = first[k * x.inner];
      // A NaN comes before all numbers; of several NaNs the last counts.
      const std::uint64_t key = v == v ? rank_key(v, k, kLargest) : kNoNumber | k;
      best = LargestKey()(best, key);
    }
    best = team.over(best, LargestKey());
    if (team.lane != 0) return;
    const std::size_t winner = best >= kNoNumber ? best - kNoNumber : index_of_key(best);
    y[i][line] = first[winner * x.inner];
    winners[i][line] = __uint_as_float(static_cast<unsigned>(winner));
  });
}

void extreme_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines x(b.dim(0), b.attr<AlongAttr>().dimension);
  const auto dy = q.d_outs(b);
  const auto winners = q.auxs(b, x.lines);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const auto at = x.of(e);
    return __float_as_uint(winners[i][at.line]) == at.number ? dy[i][at.line] : 0;
  });
}

void cumulative_sum_forward(Queue& q, const Batch<float>& b) {
  const Lines x(b.dim(), b.attr<AlongAttr>().dimension);
  const auto in = q.ins(b, 0);
  const auto y = q.outs(b);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const std::size_t first = x.first(line);
    running_sums(
        team, x.size, [&](std::size_t k) { return in[i][first + k * x.inner]; },
        [&](std::size_t k, float sum) { y[i][first + k * x.inner] = sum; });
  });
}

void cumulative_sum_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines x(b.dim(), b.attr<AlongAttr>().dimension);
  const auto dy = q.d_outs(b);
  line_gradients(
      q, b, 0, x, 1,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t line, const LineWriter& write) {
        const std::size_t last = x.first(line) + (x.size - 1) * x.inner;
        running_sums(
            team, x.size, [&](std::size_t k) { return dy[i][last - k * x.inner]; },
            [&](std::size_t k, float sum) { write(last - k * x.inner, sum); });
      });
}

}  // namespace

const Kernels kMoment{moment_forward, moment_backward};
const Kernels kDeviation{deviation_forward, deviation_backward};
const Kernels kMaxAlong{extreme_forward<true>, extreme_backward};
const Kernels kMinAlong{extreme_forward<false>, extreme_backward};
const Kernels kCumulativeSum{cumulative_sum_forward, cumulative_sum_backward};

}  // namespace dynet::cuda
