#include <vector>

#include "kernels/cpu/recurrent.h"
#include "kernels/cuda/elementary.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Gates of a node with `children` forget gates: i, f_1 ... f_K, o, g, each of h numbers.
struct Gates {
  std::size_t h, children;

  __device__ std::size_t forget(std::size_t k) const { return (1 + k) * h; }
  __device__ std::size_t output() const { return (1 + children) * h; }
  __device__ std::size_t candidate() const { return (2 + children) * h; }
  __device__ std::size_t size() const { return (3 + children) * h; }
};

Gates gates_of(const Batch<float>& b) {
  const std::size_t children = b.attr<cpu::LstmGatesAttr>().children;
  return {b.dim().batch_size() / (3 + children), children};
}

void activate_forward(Queue& q, const Batch<float>& b) {
  const auto bias = static_cast<float>(b.attr<cpu::LstmGatesAttr>().forget_bias);
  const Gates at = gates_of(b);
  const auto x = q.ins(b, 0);
  const auto y = q.outs(b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const std::size_t r = divide(e, at.size()).rest;
    const float v = x[i][e];
    if (r >= at.candidate())
      y[i][e] = tanhf(v);
    else
      y[i][e] = logistic(r >= at.h && r < at.output() ? v + bias : v);
  });
}

void activate_backward(Queue& q, const GradientBatch<float>& b) {
  const Gates at = gates_of(b);
  const auto outs = q.outs(b);
  const auto dy = q.d_outs(b);
  each_gradient(q, b, 0, [=] __device__(std::uint32_t i, std::size_t e) {
    const float y = outs[i][e];
    return dy[i][e] *
           (divide(e, at.size()).rest >= at.candidate() ? (1 - y) * (1 + y) : y * (1 - y));
  });
}

// Whether each node has a place of its own for this gradient, with all batch elements of the
// result.
bool own_places(const GradientBatch<float>& b, std::size_t k, const Places& p) {
  return p.first.count == b.count && !p.first.first && b.dim(k).bd == b.dim().bd;
}
// Of a gate that the result does not depend on.
inline __device__ void put_nothing(const Targets& t, std::size_t i, std::size_t e) {
  if (!t.add(i)) t.put(i, e, 0);
}

// Operands 0 to K - 1 of a cell are the cells before, operand K the gates.
struct Cell {
  Gates at;
  Elements gates;
  const Elements* cells;  // by child
};
Cell cell_of(Queue& q, const Batch<float>& b) {
  const std::size_t children = b.arity - 1;
  auto* const cells = q.stage<Elements>(children);
  for (std::size_t k = 0; k < children; ++k) cells[k] = elements(q, b, k);
  return {{b.dim().batch_size(), children}, elements(q, b, children), q.on_device(cells)};
}

void cell_forward(Queue& q, const Batch<float>& b) {
  const Cell c = cell_of(q, b);
  const auto y = q.outs(b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const Quotient place = divide(e, c.at.h);
    const float* const g = c.gates.at(i, place.by) + place.rest;
    float sum = g[0] * g[c.at.candidate()];
    for (std::size_t k = 0; k < c.at.children; ++k)
      sum += g[c.at.forget(k)] * c.cells[k].at(i, place.by)[place.rest];
    y[i][e] = sum;
  });
}

// Of all operands at once. Two cells may have one place: not if nothing is added.
bool cell_backward_at_once(Queue& q, const GradientBatch<float>& b, const Cell& c,
                           const Places* to) {
  const std::size_t children = c.at.children;
  for (std::size_t k = 0; k <= children; ++k) {
    if (!own_places(b, k, to[k])) return false;
    if (children > 1 && k < children && (to[k].first.adds || to[k].first.all_add)) return false;
  }
  auto* const places = q.stage<Targets>(children);
  for (std::size_t k = 0; k < children; ++k) places[k] = to[k].first;
  const Targets dg = to[children].first, *const dc = q.on_device(places);
  const auto d_outs = q.d_outs(b);
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const Quotient place = divide(e, c.at.h);
    const float* const g = c.gates.at(i, place.by) + place.rest;
    const float dy = d_outs[i][e], in = g[0];
    const std::size_t first = place.by * c.at.size() + place.rest;
    dg.put(i, first, dy * g[c.at.candidate()]);
    for (std::size_t k = 0; k < c.at.children; ++k) {
      const float before = c.cells[k].at(i, place.by)[place.rest];
      dc[k].put(i, e, dy * g[c.at.forget(k)]);
      dg.put(i, first + c.at.forget(k), dy * before);
    }
    put_nothing(dg, i, first + c.at.output());
    dg.put(i, first + c.at.candidate(), dy * in);
  });
  return true;
}

void cell_backward(Queue& q, const GradientBatch<float>& b) {
  const Cell c = cell_of(q, b);
  std::vector<Places> to(b.arity);
  for (std::size_t k = 0; k < b.arity; ++k) to[k] = q.places(b, k);
  if (cell_backward_at_once(q, b, c, to.data())) return;
  const Elements d_outs{q.d_outs(b), c.at.h};
  for (std::size_t k = 0; k < c.at.children; ++k)
    batch_gradient(q, b, k, to[k], b.dim().bd,
                   [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
                     return d_outs.at(i, e)[r] * c.gates.at(i, e)[c.at.forget(k) + r];
                   });
  batch_gradient(q, b, c.at.children, to[c.at.children], b.dim().bd,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t n) {
                   const Quotient gate = divide(n, c.at.h);
                   const std::size_t r = gate.rest;
                   if (gate.by == 1 + c.at.children) return 0.0f;
                   const float dy = d_outs.at(i, e)[r];
                   if (gate.by == 0) return dy * c.gates.at(i, e)[c.at.candidate() + r];
                   if (gate.by == 2 + c.at.children) return dy * c.gates.at(i, e)[r];
                   return dy * c.cells[gate.by - 1].at(i, e)[r];
                 });
}

Gates gates_of_output(const Batch<float>& b) {
  const std::size_t h = b.dim().batch_size();
  return {h, h == 0 ? 0 : b.dim(1).batch_size() / h - 3};
}

// Keeps tanh(c).
void output_forward(Queue& q, const Batch<float>& b) {
  const Gates at = gates_of_output(b);
  const Elements cells = elements(q, b, 0), gates = elements(q, b, 1);
  const auto y = q.outs(b), kept = q.auxs(b, b.dim().size());
  for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
    const Quotient place = divide(e, at.h);
    const float t = tanhf(cells.at(i, place.by)[place.rest]);
    kept[i][e] = t;
    y[i][e] = gates.at(i, place.by)[at.output() + place.rest] * t;
  });
}

void output_backward(Queue& q, const GradientBatch<float>& b) {
  const std::size_t batch = b.dim().bd;
  const Gates at = gates_of_output(b);
  const Elements gates = elements(q, b, 1);
  const auto dy = q.d_outs(b);
  const auto kept = q.auxs(b, b.dim().size());
  const Places to_cells = q.places(b, 0), to_gates = q.places(b, 1);
  if (own_places(b, 0, to_cells) && own_places(b, 1, to_gates)) {
    const Targets dc = to_cells.first, dg = to_gates.first;
    for_each(q, b.count, b.dim().size(), [=] __device__(std::size_t i, std::size_t e) {
      const Quotient place = divide(e, at.h);
      const float d = dy[i][e], t = kept[i][e];
      const std::size_t first = place.by * at.size() + place.rest;
      dc.put(i, e, d * gates.at(i, place.by)[at.output() + place.rest] * ((1 - t) * (1 + t)));
      for (std::size_t gate = 0; gate < at.size(); gate += at.h)
        if (gate == at.output())
          dg.put(i, first + gate, d * t);
        else
          put_nothing(dg, i, first + gate);
    });
    return;
  }
  batch_gradient(
      q, b, 0, to_cells, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
        const float t = kept[i][e * at.h + r];
        return dy[i][e * at.h + r] * gates.at(i, e)[at.output() + r] * ((1 - t) * (1 + t));
      });
  batch_gradient(q, b, 1, to_gates, batch,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
                   const std::size_t r = k - at.output();  // huge in gates before
                   return r < at.h ? dy[i][e * at.h + r] * kept[i][e * at.h + r] : 0.0f;
                 });
}

}  // namespace

const Kernels kLstmActivate{activate_forward, activate_backward};
const Kernels kLstmCell{cell_forward, cell_backward};
const Kernels kLstmOutput{output_forward, output_backward};

}  // namespace dynet::cuda
