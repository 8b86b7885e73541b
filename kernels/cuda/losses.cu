#include <limits>

#include "dynet-like/attributes/losses.h"
#include "kernels/cuda/along.cuh"
#include "kernels/cuda/indices.h"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

Lines lines_of(const Batch<float>& b, const HingeAttr&) { return {b.dim(0), 0}; }
Lines lines_of(const Batch<float>& b, const HingeDimAttr& a) { return {b.dim(0), a.dimension}; }

const IndexList* classes_now(Queue& q, const Batch<float>& b, const HingeAttr&, std::size_t limit) {
  return upload_indices<HingeAttr>(q, b, 0, limit, "the scores");
}
const IndexList* classes_then(Queue& q, const Batch<float>& b, const HingeAttr&) {
  return stored_indices<HingeAttr>(q, b, 0);
}

const IndexList* classes_now(Queue& q, const Batch<float>& b, const HingeDimAttr&,
                             std::size_t limit) {
  IndexList* const all = q.stage<IndexList>(b.count);
  const std::size_t positions = b.dim().batch_size();
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& a = b.attr<HingeDimAttr>(i);
    unsigned* const to = q.stage<unsigned>(a.indices.total);
    read_classes(b.graph, b.node(i), a, b.payload<HingeDimAttr, unsigned>(i), limit, positions, to);
    all[i] = {q.on_device(to), reinterpret_cast<unsigned*>(b.aux(i)), a.indices.total};
  }
  store_indices(q, q.on_device(all), b.count);
  return q.on_device(all);
}
const IndexList* classes_then(Queue& q, const Batch<float>& b, const HingeDimAttr&) {
  IndexList* const all = q.stage<IndexList>(b.count);
  for (std::size_t i = 0; i < b.count; ++i)
    all[i] = {reinterpret_cast<const unsigned*>(b.aux(i)), nullptr,
              b.attr<HingeDimAttr>(i).indices.total};
  return q.on_device(all);
}

inline __device__ float hinge_term(float margin, float right, float other) {
  if (other == -INFINITY) return 0;
  const float v = margin + (other - right);
  return v <= 0 ? 0 : v;  // NaN for NaN
}

template <class A>
void hinge_forward(Queue& q, const Batch<float>& b) {
  const A& a = b.attr<A>();
  const Lines x = lines_of(b, a);
  const auto margin = static_cast<float>(a.margin);
  const IndexList* const classes = classes_now(q, b, a, x.size);
  const auto in = q.ins(b, 0);
  const auto y = q.outs(b);
  for_lines_of(q, b, x, [=] __device__(const Team& team, std::size_t i, std::size_t line) {
    const float* const scores = in[i] + x.first(line);
    const unsigned c = classes[i][line];
    const float right = scores[c * x.inner];
    float sum = 0;
    for (std::size_t k = team.lane; k < x.size; k += team.size)
      if (k != c) sum += hinge_term(margin, right, scores[k * x.inner]);
    sum = team.over(sum, Sum());
    if (team.lane == 0) y[i][line] = sum;
  });
}

template <class A>
void hinge_backward(Queue& q, const GradientBatch<float>& b) {
  const A& a = b.template attr<A>();
  const Lines x = lines_of(b, a);
  const auto margin = static_cast<float>(a.margin);
  const IndexList* const classes = classes_then(q, b, a);
  const auto in = q.ins(b, 0), dy = q.d_outs(b);
  line_gradients(
      q, b, 0, x, 1,
      [=] __device__(const Team& team, std::uint32_t i, std::size_t line, const LineWriter& write) {
        const std::size_t first = x.first(line);
        const float* const scores = in[i] + first;
        const unsigned c = classes[i][line];
        const float right = scores[c * x.inner], g = dy[i][line];
        const auto slope = [&](std::size_t k) {
          return k == c || hinge_term(margin, right, scores[k * x.inner]) == 0 ? 0 : g;
        };
        float sum = 0;
        for (std::size_t k = team.lane; k < x.size; k += team.size) sum += slope(k);
        sum = team.over(sum, Sum());
        for (std::size_t k = team.lane; k < x.size; k += team.size)
          write(first + k * x.inner, k == c ? -sum : slope(k));
      });
}

void poisson_forward(Queue& q, const Batch<float>& b) {
  const IndexList* const counts =
      upload_indices<PoissonAttr>(q, b, 0, std::numeric_limits<std::size_t>::max(), "the counts");
  const auto in = q.ins(b, 0);
  const auto y = q.outs(b);
  for_each(q, b.count, b.dim().bd, [=] __device__(std::size_t i, std::size_t e) {
    const float x = in[i][e];
    const auto n = static_cast<float>(counts[i][e]);
    // At a rate of zero there are no events, with certainty.
    y[i][e] = expf(x) - (n == 0 ? 0 : n * x) + lgammaf(n + 1);
  });
}

void poisson_backward(Queue& q, const GradientBatch<float>& b) {
  const IndexList* const counts = stored_indices<PoissonAttr>(q, b, 0);
  const auto x = q.ins(b, 0), dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    return dy[i][e] * (expf(x[i][e]) - static_cast<float>(counts[i][e]));
  });
}

}  // namespace

const Kernels kHinge{hinge_forward<HingeAttr>, hinge_backward<HingeAttr>};
const Kernels kHingeDim{hinge_forward<HingeDimAttr>, hinge_backward<HingeDimAttr>};
const Kernels kPoisson{poisson_forward, poisson_backward};

}  // namespace dynet::cuda
