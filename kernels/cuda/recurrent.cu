#include <algorithm>
#include <span>
#include <vector>

#include "dynet-like/attributes/recurrent.h"
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

Gates gates_of(const Batch<float>& b) {
  const std::size_t children = b.attr<LstmGatesAttr>().children;
  return {b.dim().batch_size() / (3 + children), children};
}

// Element r of batch element `element` of a node, by one thread: first the first part, then the
// second (of gates, cell, output). The second part reads only values that this thread wrote, so all
// parts of a step can be fused into one kernel.
template <class First, class Second>
struct Then {
  First first;
  Second second;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    first(i, element, r);
    second(i, element, r);
  }
};

template <class F>
void each_unit(Queue& q, std::size_t count, std::size_t h, std::size_t batch, F f) {
  for_each(q, count, h * batch, [=] __device__(std::size_t i, std::size_t e) {
    const Quotient target = divide(e, h);
    f(i, target.by, target.rest);
  });
}

// Sizes of an operation that must equal those of its predecessor to be fused.
struct Nodes {
  std::size_t count, h, batch;
  bool operator==(const Nodes&) const = default;
};
bool same(std::span<float* const> before, float* const* now) {
  return std::equal(before.begin(), before.end(), now);
}

// Address range from the first to the end of the last of some tensors of `size` numbers.
struct Range {
  const float *begin, *end;

  Range(float* const* p, std::size_t n, std::size_t size)
      : begin(*std::min_element(p, p + n)), end(*std::max_element(p, p + n) + size) {}
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
};

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

struct MakeCell {
  Gates at;
  Elements gates;
  const Elements* cells;  // by child
  TensorArray<float> y;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const float* const g = gates.at(i, element) + r;
    float sum = g[0] * g[at.candidate()];
    for (std::size_t k = 0; k < at.children; ++k)
      sum += g[at.forget(k)] * cells[k].at(i, element)[r];
    y[i][element * at.h + r] = sum;
  }
};

// Scratch: tanh(c).
struct MakeOutput {
  Gates at;
  Elements cells, gates;
  TensorArray<float> y, kept;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const std::size_t e = element * at.h + r;
    const float t = tanhf(cells.at(i, element)[r]);
    kept[i][e] = t;
    y[i][e] = gates.at(i, element)[at.output() + r] * t;
  }
};

// Descriptions for fusion: the last command computed gates; it computed gates and cells.
struct Activated {
  Nodes nodes;
  Activate kernel;
  std::span<float* const> gates;
  Range read;
};
struct Stepped {
  Nodes nodes;
  Then<Activate, MakeCell> kernel;
  std::span<float*const> gates, cells;
  Range read, read_too;
};

void activate_forward(Queue& q, const Batch<float>& b) {
  const auto bias = static_cast<float>(b.attr<LstmGatesAttr>().forget_bias);
  const Gates at = gates_of(b);
  const Nodes nodes{b.count, at.h, b.dim().bd};
  if (b.dim().size() == 0) return;
  const Activate kernel{at, bias, q.ins(b, 0), q.outs(b)};
  each_unit(q, b.count, at.h, nodes.batch, kernel);
  q.describe_last(
      Activated{nodes, kernel, q.keep(b.outs, b.count), {b.ins, b.count, b.dim().size()}});
}

// Operands 0 to K - 1 are the children's cells, operand K the gates.
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
  if (b.dim().size() == 0) return;
  const Cell c = cell_of(q, b);
  const std::size_t children = c.at.children;
  const Nodes nodes{b.count, c.at.h, b.dim().bd};
  const MakeCell kernel{c.at, c.gates, c.cells, q.outs(b)};
  float* const* const gates = b.ins + children * b.count;
  const Activated* const before = q.last<Activated>();
  if (!before || before->nodes != nodes || b.dim(children).bd != nodes.batch ||
      !same(before->gates, gates) || before->read.meets({b.outs, b.count, b.dim().size()}))
    return each_unit(q, b.count, c.at.h, nodes.batch, kernel);
  const Then<Activate, MakeCell> both{before->kernel, kernel};
  const Range read = before->read;
  q.take_back();
  each_unit(q, b.count, c.at.h, nodes.batch, both);
  q.describe_last(Stepped{nodes, both, q.keep(gates, b.count), q.keep(b.outs, b.count), read,
                          children > 0 ? Range(b.ins, children * b.count, b.dim().size()) : read});
}

Gates gates_of_output(const Batch<float>& b) {
  const std::size_t h = b.dim().batch_size();
  return {h, h == 0 ? 0 : b.dim(1).batch_size() / h - 3};
}

void output_forward(Queue& q, const Batch<float>& b) {
  if (b.dim().size() == 0) return;
  const std::size_t size = b.dim().size();
  const Gates at = gates_of_output(b);
  const Nodes nodes{b.count, at.h, b.dim().bd};
  const MakeOutput kernel{at, elements(q, b, 0), elements(q, b, 1), q.outs(b), q.auxs(b, size)};
  const Range writes(b.outs, b.count, size), keeps(b.auxs, b.count, size);
  const auto apart = [&](const Range& read) { return !read.meets(writes) && !read.meets(keeps); };
  const Stepped* const before = q.last<Stepped>();
  if (!before || before->nodes != nodes || b.dim(0).bd != nodes.batch ||
      b.dim(1).bd != nodes.batch || !same(before->cells, b.ins) ||
      !same(before->gates, b.ins + b.count) || !apart(before->read) || !apart(before->read_too))
    return each_unit(q, b.count, at.h, nodes.batch, kernel);
  const Then all{before->kernel, kernel};
  q.take_back();
  each_unit(q, b.count, at.h, nodes.batch, all);
}

// --------------------------------------------------------------------------------------- backward

// Returns whether each node has its own target for this gradient, with the result's batch size.
bool own_targets(const GradientBatch<float>& b, std::size_t k, const GradientTargets& p) {
  return p.first.count == b.count && !p.first.first && b.dim(k).bd == b.dim().bd;
}
// Zero gradient of a gate that the result does not depend on.
inline __device__ void put_nothing(const Targets& t, std::size_t i, std::size_t e) {
  if (!t.add(i)) t.put(i, e, 0);
}

struct OutputGradient {
  Gates at;
  Elements gates;
  TensorArray<const float> dy;
  TensorArray<float> kept;
  Targets dc, dg;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const std::size_t e = element * at.h + r, first = element * at.size() + r;
    const float d = dy[i][e], t = kept[i][e];
    dc.put(i, e, d * gates.at(i, element)[at.output() + r] * ((1 - t) * (1 + t)));
    DYNET_UNROLL(1)
    for (std::size_t gate = 0; gate < at.size(); gate += at.h)
      if (gate == at.output())
        dg.put(i, first + gate, d * t);
      else
        put_nothing(dg, i, first + gate);
  }
};

struct CellGradient {
  Cell c;
  TensorArray<const float> d_outs;
  const Targets* dc;  // by child
  Targets dg;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    const Gates& at = c.at;
    const std::size_t e = element * at.h + r, first = element * at.size() + r;
    const float* const g = c.gates.at(i, element) + r;
    const float dy = d_outs[i][e], in = g[0];
    dg.put(i, first, dy * g[at.candidate()]);
    DYNET_UNROLL(1)
    for (std::size_t k = 0; k < at.children; ++k) {
      const float before = c.cells[k].at(i, element)[r];
      dc[k].put(i, e, dy * g[at.forget(k)]);
      dg.put(i, first + at.forget(k), dy * before);
    }
    put_nothing(dg, i, first + at.output());
    dg.put(i, first + at.candidate(), dy * in);
  }
};

struct ActivateGradient {
  Gates at;
  TensorArray<const float> outs, dy;
  Targets dx;
  __device__ void operator()(std::size_t i, std::size_t element, std::size_t r) const {
    DYNET_UNROLL(1)
    for (std::size_t gate = 0; gate < at.size(); gate += at.h) {
      const std::size_t e = element * at.size() + gate + r;
      const float y = outs[i][e];
      dx.put(i, e, dy[i][e] * (gate == at.candidate() ? (1 - y) * (1 + y) : y * (1 - y)));
    }
  }
};

// Descriptions for fusion: the last command computed the gradients of an output's cells and gates;
// it also computed the gradients of the cell's operands. The targets of the next operation are
// distinct from the gradients that this one reads: see DeviceBackend::backward.
struct OutputDone {
  Nodes nodes;
  OutputGradient kernel;
  std::span<float*const> cells, gates;  // gradients
};
struct CellDone {
  Nodes nodes;
  Then<OutputGradient, CellGradient> kernel;
  std::span<float* const> gates;
};

void output_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.dim().size() == 0) return;
  const std::size_t batch = b.dim().bd;
  const Gates at = gates_of_output(b);
  const Elements gates = elements(q, b, 1);
  const auto dy = q.d_outs(b);
  const auto kept = q.auxs(b, b.dim().size());
  const GradientTargets to_cells = q.targets(b, 0), to_gates = q.targets(b, 1);
  if (own_targets(b, 0, to_cells) && own_targets(b, 1, to_gates)) {
    const OutputGradient kernel{at, gates, dy, kept, to_cells.first, to_gates.first};
    each_unit(q, b.count, at.h, batch, kernel);
    return q.describe_last(OutputDone{{b.count, at.h, batch},
                                      kernel,
                                      q.keep(b.d_ins, b.count),
                                      q.keep(b.d_ins + b.count, b.count)});
  }
  batch_gradient(
      q, b, 0, to_cells, batch, [=] __device__(std::uint32_t i, std::size_t e, std::size_t r) {
        const float t = kept[i][e * at.h + r];
        return dy[i][e * at.h + r] * gates.at(i, e)[at.output() + r] * ((1 - t) * (1 + t));
      });
  batch_gradient(q, b, 1, to_gates, batch,
                 [=] __device__(std::uint32_t i, std::size_t e, std::size_t k) {
                   const std::size_t r = k - at.output();  // huge before the output gate
                   return r < at.h ? dy[i][e * at.h + r] * kept[i][e * at.h + r] : 0.0f;
                 });
}

// Gradients of all operands in one kernel. Without additions no two cells share a target.
bool cell_backward_at_once(Queue& q, const GradientBatch<float>& b, const Cell& c,
                           const GradientTargets* to) {
  const std::size_t children = c.at.children;
  for (std::size_t k = 0; k <= children; ++k) {
    if (!own_targets(b, k, to[k])) return false;
    if (children > 1 && k < children && (to[k].first.adds || to[k].first.all_add)) return false;
  }
  auto* const targets = q.stage<Targets>(children);
  for (std::size_t k = 0; k < children; ++k) targets[k] = to[k].first;
  const Nodes nodes{b.count, c.at.h, b.dim().bd};
  const CellGradient kernel{c, q.d_outs(b), q.on_device(targets), to[children].first};
  float* const* const gates = b.d_ins + children * b.count;
  const OutputDone* const before = q.last<OutputDone>();
  if (!before || before->nodes != nodes || !same(before->cells, b.d_outs) ||
      !same(before->gates, gates)) {
    each_unit(q, b.count, c.at.h, nodes.batch, kernel);
    return true;
  }
  const Then<OutputGradient, CellGradient> both{before->kernel, kernel};
  q.take_back();
  each_unit(q, b.count, c.at.h, nodes.batch, both);
  q.describe_last(CellDone{nodes, both, q.keep(gates, b.count)});
  return true;
}

void cell_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.dim().size() == 0) return;
  const Cell c = cell_of(q, b);
  std::vector<GradientTargets> to(b.arity);
  for (std::size_t k = 0; k < b.arity; ++k) to[k] = q.targets(b, k);
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

void activate_backward(Queue& q, const GradientBatch<float>& b) {
  if (b.dim().size() == 0) return;
  const Gates at = gates_of(b);
  const TensorArray<const float> outs =
      q.many(const_cast<const float* const*>(b.outs), b.count, b.dim().size());
  const TensorArray<const float> dy = q.d_outs(b);
  const GradientTargets to = q.targets(b, 0);
  const Nodes nodes{b.count, at.h, b.dim().bd};
  const CellDone* const before = q.last<CellDone>();
  if (own_targets(b, 0, to) && before && before->nodes == nodes && same(before->gates, b.d_outs)) {
    const Then all{before->kernel, ActivateGradient{at, outs, dy, to.first}};
    q.take_back();
    return each_unit(q, b.count, at.h, nodes.batch, all);
  }
  each_gradient(q, to, b.dim(0).size(), [=] __device__(std::uint32_t i, std::size_t e) {
    const float y = outs[i][e];
    return dy[i][e] *
           (divide(e, at.size()).rest >= at.candidate() ? (1 - y) * (1 + y) : y * (1 - y));
  });
}

}  // namespace

const Kernels kLstmActivate{activate_forward, activate_backward};
const Kernels kLstmCell{cell_forward, cell_backward};
const Kernels kLstmOutput{output_forward, output_backward};

}  // namespace dynet::cuda
