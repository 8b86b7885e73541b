#include <algorithm>
#include <span>
#include <vector>

#include "dynet-like/attributes/recurrent.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Gates of a node with `children` forget gates: i, f_1 ... f_K, o, g, with h numbers each.
struct Gates {
  std::size_t h, children;

  __device__ std::size_t forget(std::size_t k) const { return (1 + k) * h; }
  __device__ std::size_t output() const { return (1 + children) * h; }
  __device__ std::size_t candidate() const { return (2 + children) * h; }
  __device__ std::size_t size() const { return (3 + children) * h; }
};

template <class F>
void each_unit(Queue& q, std::size_t count, std::size_t h, std::size_t batch, F f) {
  for_each(q, count, h * batch, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient target = divide(e, h);
    f(i, target.by, target.rest);
  });
}

// ---------------------------------------------------------------------------------------- forward

struct Activate {
  Gates at;
  float bias;
  TensorArray<const float> x;
  TensorArray<float> y;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const float* const from = x[i] + element * at.size() + r;
    float* const to = y[i] + element * at.size() + r;
    to[0] = logistic(from[0]);
    for (std::size_t k = 0; k < at.children; ++k)
      to[at.forget(k)] = logistic(from[at.forget(k)] + bias);
    to[at.output()] = logistic(from[at.output()]);
    to[at.candidate()] = tanhf(from[at.candidate()]);
  }
};

void activate_forward(Queue& q, const Batch<float>& b) {
  const auto bias = static_cast<float>(b.attr<LstmGatesAttr>().forget_bias);
  const Gates at{b.dim().batch_size() / 4, 1};
  if (b.dim().size() == 0) return;
  each_unit(q, b.count, at.h, b.dim().bd, Activate{at, bias, q.ins(b, 0), q.outs(b)});
}

// Scratch of an LSTM cell: c, tanh(c) and the gates.
struct CellScratch {
  TensorArray<float> all;
  Gates at;
  std::size_t size;  // of c

  __device__ float* cell(std::size_t i, std::size_t element) const {
    return all[i] + element * at.h;
  }
  __device__ float* tanh_of_cell(std::size_t i, std::size_t element) const {
    return cell(i, element) + size;
  }
  __device__ float* gates(std::size_t i, std::size_t element) const {
    return all[i] + 2 * size + element * at.size();
  }
};
CellScratch scratch_of(Queue& q, const Batch<float>& b, const Gates& at) {
  return {q.spaced(b.auxs, b.count), at, b.dim().size()};
}

// Operands of an LSTM cell: the previous cells, and the sums of the gates, one behind the other as
// one operand, an operand for each, or those of a sum of products, which lies where the gates will.
struct CellInputs {
  Gates at;
  const Elements *cells, *sums;  // null: where the gates will be
  bool apart;

  __device__ float sum(std::size_t j, std::size_t i, std::size_t element, std::size_t r) const {
    return apart ? sums[j].at(i, element)[r] : sums[0].at(i, element)[j * at.h + r];
  }
};
CellInputs inputs_of(Queue& q, const Batch<float>& b) {
  const std::size_t children = b.attr<LstmGatesAttr>().children, h = b.dim().batch_size();
  const bool inner = b.node(0).form->sums;
  const std::size_t own = inner ? children : b.arity;
  auto* const all = q.stage<Elements>(own);
  for (std::size_t k = 0; k < own; ++k) all[k] = elements(q, b, k);
  const Elements* const sent = q.on_device(all);
  return {{h, children}, sent, inner ? nullptr : sent + children, own > children + 1};
}

// All of a step.
struct MakeStep {
  CellInputs x;
  float bias;
  CellScratch to;
  TensorArray<float> y;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const Gates& at = x.at;
    const std::size_t last = 2 + at.children;
    float* const g = to.gates(i, element) + r;
    const auto sum_of = [&](std::size_t j) {
      return x.sums ? x.sum(j, i, element, r) : g[j * at.h];
    };
    const float in = g[0] = logistic(sum_of(0));
    const float content = g[at.candidate()] = tanhf(sum_of(last));
    float sum = in * content;
    for (std::size_t k = 0; k < at.children; ++k) {
      const float f = g[at.forget(k)] = logistic(sum_of(1 + k) + bias);
      sum += f * x.cells[k].at(i, element)[r];
    }
    const float o = g[at.output()] = logistic(sum_of(last - 1)), t = tanhf(sum);
    to.cell(i, element)[r] = sum;
    to.tanh_of_cell(i, element)[r] = t;
    y[i][element * at.h + r] = o * t;
  }
};

void cell_forward(Queue& q, const Batch<float>& b) {
  if (b.dim().size() == 0) return;
  const CellInputs x = inputs_of(q, b);
  const auto bias = static_cast<float>(b.attr<LstmGatesAttr>().forget_bias);
  each_unit(q, b.count, x.at.h, b.dim().bd, MakeStep{x, bias, scratch_of(q, b, x.at), q.outs(b)});
}

// --------------------------------------------------------------------------------------- backward

// Returns whether each node has its own target for this gradient, with the result's batch size.
bool own_targets(const GradientBatch<float>& b, std::size_t k, const GradientTargets& p) {
  return p.first.count == b.count && !p.first.first && b.dim(k).bd == b.dim().bd;
}
// Gradients at an element of an LSTM cell. Results that the loss does not depend on have none.
struct StepGradient {
  CellInputs x;
  CellScratch kept;
  TensorArray<const float> dh, dc;

  // Gradient of the cell, also through h = o tanh(c).
  __device__ float of_cell(std::size_t i, std::size_t element, std::size_t r) const {
    const std::size_t e = element * x.at.h + r;
    float d = dc[i] ? dc[i][e] : 0.0f;
    if (dh[i]) {
      const float t = kept.tanh_of_cell(i, element)[r];
      d += dh[i][e] * kept.gates(i, element)[x.at.output() + r] * ((1 - t) * (1 + t));
    }
    return d;
  }
  // Gradient of the sum of gate j; d: that of the cell.
  __device__ float of_sum(std::size_t j, float d, std::size_t i, std::size_t element,
                          std::size_t r) const {
    const Gates& at = x.at;
    const float* const g = kept.gates(i, element) + r;
    const float y = g[j * at.h];
    if (j == 2 + at.children) return d * g[0] * ((1 - y) * (1 + y));
    if (j == 1 + at.children) {
      if (!dh[i]) return 0;
      d = dh[i][element * at.h + r] * kept.tanh_of_cell(i, element)[r];
    } else {
      d *= j == 0 ? g[at.candidate()] : x.cells[j - 1].at(i, element)[r];
    }
    return d * y * (1 - y);
  }
};

struct StepGradients {
  StepGradient of;
  const Targets* to;  // by operand
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const Gates& at = of.x.at;
    const std::size_t e = element * at.h + r;
    const float d = of.of_cell(i, element, r);
    DYNET_UNROLL(1)
    for (std::size_t k = 0; k < at.children; ++k)
      to[k].put(i, e, d * of.kept.gates(i, element)[at.forget(k) + r]);
    DYNET_UNROLL(1)
    for (std::size_t j = 0; j < 3 + at.children; ++j) {
      const float v = of.of_sum(j, d, i, element, r);
      if (of.x.apart)
        to[at.children + j].put(i, e, v);
      else
        to[at.children].put(i, element * at.size() + j * at.h + r, v);
    }
  }
};

// The targets of all operands if one kernel can write them; otherwise null. Without additions no
// two operands share a target, nor do those of different sizes.
const Targets* targets_at_once(Queue& q, const GradientBatch<float>& b,
                               const std::vector<GradientTargets>& to) {
  std::size_t alike = 0;
  bool adds = false;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (b.d_sums && k + 1 == to.size()) continue;  // the node's own memory
    if (!own_targets(b, k, to[k])) return nullptr;
    if (b.dim(k).size() != b.dim().size()) continue;
    ++alike;
    adds = adds || to[k].first.adds || to[k].first.all_add;
  }
  if (alike > 1 && adds) return nullptr;
  auto* const targets = q.stage<Targets>(to.size());
  for (std::size_t k = 0; k < to.size(); ++k) targets[k] = to[k].first;
  return q.on_device(targets);
}

void activate_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.dim().size() == 0) return;
  const Gates at{b.dim().batch_size() / 4, 1};
  const TensorArray<const float> outs =
      q.many(const_cast<const float* const*>(b.outs), b.count, b.dim().size());
  const TensorArray<const float> dy = q.d_outs(b);
  const GradientTargets to = q.targets(b, 0);
  each_gradient(q, to, b.dim(0).size(), [=] __device__(std::uint32_t i, std::size_t e) {
    const float y = outs[i][e];
    return dy[i][e] *
           (divide(e, at.size()).rest >= at.candidate() ? (1 - y) * (1 + y) : y * (1 - y));
  });
}

void cell_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.dim().size() == 0) return;
  const CellInputs x = inputs_of(q, b);
  const std::size_t size = b.dim().size(), batch = b.dim().bd, h = x.at.h;
  const std::size_t own = b.d_sums ? x.at.children : b.arity;
  std::vector<GradientTargets> to(own);
  for (std::size_t k = 0; k < own; ++k) to[k] = q.targets(b, k);
  if (b.d_sums) to.push_back(q.sums(b, (3 + x.at.children) * size));
  const auto gradients = [&](float* const* p) -> TensorArray<const float> {
    if (std::find(p, p + b.count, nullptr) != p + b.count) return {nullptr, 0, q.send(p, b.count)};
    return q.many(const_cast<const float* const*>(p), b.count, size);
  };
  const StepGradient of{x, scratch_of(q, b, x.at), gradients(b.d_outs), gradients(b.d_seconds)};
  if (const Targets* const all = targets_at_once(q, b, to))
    return each_unit(q, b.count, x.at.h, batch, StepGradients{of, all});
  for (std::size_t k = 0; k < x.at.children; ++k)
    batch_gradient(q, b, k, to[k], batch,
                   [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                     return of.of_cell(i, e, r) * of.kept.gates(i, e)[of.x.at.forget(k) + r];
                   });
  if (b.d_sums)
    return each_gradient(
        q, to[own], (3 + x.at.children) * size, [=] __device__(std::uint32_t i, std::size_t e) {
          const Quotient element = divide(e, of.x.at.size()), gate = divide(element.rest, h);
          const float d = of.of_cell(i, element.by, gate.rest);
          return of.of_sum(gate.by, d, i, element.by, gate.rest);
        });
  for (std::size_t k = x.at.children; k < b.arity; ++k) {
    const std::size_t first = k - x.at.children;  // gate of the operand's first number
    batch_gradient(q, b, k, to[k], batch,
                   [=] __device__(std::uint32_t i, std::size_t e, std::size_t n) {
                     const Quotient gate = divide(n, of.x.at.h);
                     const float d = of.of_cell(i, e, gate.rest);
                     return of.of_sum(first + gate.by, d, i, e, gate.rest);
                   });
  }
}

// ----------------------------------------------------------------------- gated, coupled_update

void gated_forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.dim().batch_size();
  const Elements x = elements(q, b, 0), s = elements(q, b, 1);
  const TensorArray<float> gate = q.auxs(b, b.dim().size());
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, n);
    return x.at(i, at.by)[at.rest] * (gate[i][e] = logistic(s.at(i, at.by)[at.rest]));
  });
}

void gated_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().batch_size(), batch = b.dim().bd;
  const Elements x = elements(q, b, 0);
  const TensorArray<const float> dy = q.d_outs(b);
  const TensorArray<float> gate = q.auxs(b, b.dim().size());
  batch_gradient(q, b, 0, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
    return dy[i][e * n + r] * gate[i][e * n + r];
  });
  batch_gradient(q, b, 1, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
    const float y = gate[i][e * n + r];
    return dy[i][e * n + r] * x.at(i, e)[r] * y * (1 - y);
  });
}

void update_forward(Queue& q, const Batch<float>& b) {
  const std::size_t n = b.dim().batch_size(), size = b.dim().size();
  const Elements s = elements(q, b, 0), content = elements(q, b, 1), c = elements(q, b, 2);
  const TensorArray<float> kept = q.auxs(b, 2 * size);
  each_value(q, b, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient at = divide(e, n);
    const float z = kept[i][e] = logistic(s.at(i, at.by)[at.rest]);
    const float u = kept[i][size + e] = tanhf(content.at(i, at.by)[at.rest]);
    return z * u + (1 - z) * c.at(i, at.by)[at.rest];
  });
}

void update_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t n = b.dim().batch_size(), size = b.dim().size(), batch = b.dim().bd;
  const Elements c = elements(q, b, 2);
  const TensorArray<const float> dy = q.d_outs(b);
  const TensorArray<float> kept = q.auxs(b, 2 * size);
  batch_gradient(q, b, 0, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
    const float z = kept[i][e * n + r], u = kept[i][size + e * n + r];
    return dy[i][e * n + r] * (u - c.at(i, e)[r]) * z * (1 - z);
  });
  batch_gradient(q, b, 1, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
    const float z = kept[i][e * n + r], u = kept[i][size + e * n + r];
    return dy[i][e * n + r] * z * ((1 - u) * (1 + u));
  });
  batch_gradient(q, b, 2, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
    return dy[i][e * n + r] * (1 - kept[i][e * n + r]);
  });
}

}  // namespace

const Kernels kLstmActivate{activate_forward, activate_backward};
const Kernels kLstmCell{cell_forward, cell_backward};
const Kernels kGated{gated_forward, gated_backward};
const Kernels kCoupledUpdate{update_forward, update_backward};

}  // namespace dynet::cuda
