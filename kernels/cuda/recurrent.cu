#include "kernels/cpu/recurrent.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

enum Gate : std::size_t { kInput, kForget, kOutput, kCandidate };

void activate_forward(Queue& q, const Batch<float>& b) {
  const auto bias = static_cast<float>(b.attr<cpu::LstmGatesAttr>().forget_bias);
  const std::size_t n = b.dim().batch_size(), h = n / 4;
  const auto x = q.ins(b, 0);
  const auto y = q.outs(b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const std::size_t r = divide(e, n).rest;
    const float v = x[i][e];
    if (r >= kCandidate * h)
      y[i][e] = tanhf(v);
    else
      y[i][e] = 0.5f + 0.5f * tanhf(0.5f * (r >= h && r < 2 * h ? v + bias : v));
  });
}

void activate_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().batch_size(), h = n / 4;
  const auto outs = q.outs(b);
  const auto dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const float y = outs[i][e];
    return dy[i][e] * (divide(e, n).rest >= kCandidate * h ? 1 - y * y : y * (1 - y));
  });
}

// Whether each node has places of its own for the gradients of both operands, with all batch
// elements of the result: then one kernel writes them.
bool one_to_one(const GradientBatch<float>& b, const Places& x, const Places& y) {
  const auto all = [&](const Targets& t) { return t.count == b.count && !t.first; };
  return all(x.first) && all(y.first) && b.dim(0).bd == b.dim().bd && b.dim(1).bd == b.dim().bd;
}
// Of a gate that the result does not depend on.
inline __device__ void put_nothing(const Targets& t, std::size_t i, std::size_t e) {
  if (!t.add(i)) t.put(i, e, 0);
}

// Operand 0 are the cells, operand 1 the gates.
void cell_forward(Queue& q, const Batch<float>& b) {
  const std::size_t h = b.dim().batch_size();
  const Elements cells = elements(q, b, 0), gates = elements(q, b, 1);
  const auto y = q.outs(b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, h);
    const float *const c = cells.at(i, at.by) + at.rest, *const g = gates.at(i, at.by) + at.rest;
    y[i][e] = g[kInput * h] * g[kCandidate * h] + g[kForget * h] * *c;
  });
}

void cell_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Elements cells = elements(q, b, 0), gates = elements(q, b, 1);
  const Elements d_outs{q.d_outs(b), h};
  const Places to_cells = q.places(b, 0), to_gates = q.places(b, 1);
  if (one_to_one(b, to_cells, to_gates)) {
    const Targets dc = to_cells.first, dg = to_gates.first;
    for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
      const Quotient at = divide(e, h);
      const float* const g = gates.at(i, at.by) + at.rest;
      const float dy = d_outs.all[i][e], c = cells.all[i][e];
      const float in = g[kInput * h], candidate = g[kCandidate * h];
      const std::size_t first = 4 * at.by * h + at.rest;
      dc.put(i, e, dy * g[kForget * h]);
      dg.put(i, first + kInput * h, dy * candidate);
      dg.put(i, first + kForget * h, dy * c);
      put_nothing(dg, i, first + kOutput * h);
      dg.put(i, first + kCandidate * h, dy * in);
    });
    return;
  }
  batch_gradient(q, b, 0, to_cells, batch,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                   return d_outs.at(i, e)[r] * gates.at(i, e)[kForget * h + r];
                 });
  batch_gradient(q, b, 1, to_gates, batch,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
                   const Quotient gate = divide(k, h);
                   const std::size_t r = gate.rest;
                   if (gate.by == kOutput) return 0.0f;
                   const float dy = d_outs.at(i, e)[r];
                   if (gate.by == kForget) return dy * cells.at(i, e)[r];
                   return dy * gates.at(i, e)[(gate.by == kInput ? kCandidate : kInput) * h + r];
                 });
}

// Keeps tanh(c).
void output_forward(Queue& q, const Batch<float>& b) {
  const std::size_t h = b.dim().batch_size();
  const Elements cells = elements(q, b, 0), gates = elements(q, b, 1);
  const auto y = q.outs(b), kept = q.auxs(b, b.dim().size());
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, h);
    const float t = tanhf(cells.at(i, at.by)[at.rest]);
    kept[i][e] = t;
    y[i][e] = gates.at(i, at.by)[kOutput * h + at.rest] * t;
  });
}

void output_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t h = b.dim().batch_size(), batch = b.dim().bd;
  const Elements gates = elements(q, b, 1);
  const auto dy = q.d_outs(b);
  const auto kept = q.auxs(b, b.dim().size());
  const Places to_cells = q.places(b, 0), to_gates = q.places(b, 1);
  if (one_to_one(b, to_cells, to_gates)) {
    const Targets dc = to_cells.first, dg = to_gates.first;
    for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
      const Quotient at = divide(e, h);
      const float d = dy[i][e], t = kept[i][e];
      const std::size_t first = 4 * at.by * h + at.rest;
      dc.put(i, e, d * gates.at(i, at.by)[kOutput * h + at.rest] * (1 - t * t));
      put_nothing(dg, i, first + kInput * h);
      put_nothing(dg, i, first + kForget * h);
      dg.put(i, first + kOutput * h, d * t);
      put_nothing(dg, i, first + kCandidate * h);
    });
    return;
  }
  batch_gradient(q, b, 0, to_cells, batch,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                   const float t = kept[i][e * h + r];
                   return dy[i][e * h + r] * gates.at(i, e)[kOutput * h + r] * (1 - t * t);
                 });
  batch_gradient(
      q, b, 1, to_gates, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
        const Quotient gate = divide(k, h);
        return gate.by == kOutput ? dy[i][e * h + gate.rest] * kept[i][e * h + gate.rest] : 0.0f;
      });
}

}  // namespace

const Kernels kLstmActivate{activate_forward, activate_backward};
const Kernels kLstmCell{cell_forward, cell_backward};
const Kernels kLstmOutput{output_forward, output_backward};

}  // namespace dynet::cuda
