// Sums of products of matrices: y = W x, y = bias + W1 x1 + W2 x2 + ...

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

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
  // Columns of all nodes and batch elements; number of uses of each x.
  std::size_t columns() const { return count * batch * n; }
  std::size_t repeat() const { return x_batch == 1 ? batch : 1; }
  std::size_t x_size() const { return k * n * x_batch; }
  std::size_t x_step() const { return x_batch == 1 ? 0 : k * n; }
  std::size_t y_size() const { return m * n * batch; }
};

// Returns whether any of n tensors of `size` numbers overlaps the numbers at `begin`.
bool overlap(const float* begin, std::size_t numbers, const float* const* p, std::size_t n,
             std::size_t size) {
  return std::any_of(p, p + n,
                     [=](const float* t) { return t < begin + numbers && begin < t + size; });
}

// Returns whether all nodes and batch elements have the same matrix.
bool has_one_matrix(const Batch<float>& b, std::size_t w) {
  const float* const* const ws = b.ins + w * b.count;
  return b.dim(w).bd == 1 &&
         std::all_of(ws, ws + b.count, [&](const float* p) { return p == ws[0]; });
}

// Products of nodes with different matrices: one per node, or one per batch element.
struct Apart {
  Shapes s;
  bool whole;         // one product per node
  std::size_t of, n;  // products per node, columns per product

  Apart(const Batch<float>& b, std::size_t w, std::size_t x)
      : s(b, w, x),
        whole(s.w_batch == 1 && s.repeat() == 1),
        of(whole ? 1 : s.batch),
        n(whole ? s.n * s.batch : s.n) {}
  std::size_t w(std::size_t e) const { return s.w_batch == 1 ? 0 : e * s.m * s.k; }
  std::size_t x(std::size_t e) const { return e * s.x_step(); }
  std::size_t y(std::size_t e) const { return e * s.m * n; }
};

// Shape of small products. Consecutive small products of one shape with different matrices, such as
// both directions of a recurrent network, are fused to one batched product.
struct Alike {
  std::size_t m, k, columns, count, x_size,
      leading;  // matrix; columns of all nodes; nodes; numbers of each x; from y's column to column
  bool add;

  Alike(const Shapes& s, bool add_to, std::size_t leading_y)
      : m(s.m),
        k(s.k),
        columns(s.columns()),
        count(s.count),
        x_size(s.x_size()),
        leading(leading_y),
        add(add_to) {}
  std::size_t y_size() const { return columns * leading; }
  bool operator==(const Alike&) const = default;
  bool small() const {
    constexpr std::size_t kEnough = 1024;  // columns that occupy a device
    return columns > 0 && columns <= kEnough && m > 0 && k > 0;
  }
};
constexpr std::size_t kMostTogether = 8;

// The last products in the queue: y = or += W x, as `commands` commands.
struct Multiplied {
  Alike shape;
  std::size_t commands;
  std::span<const float*const> ws, xs;  // per product; per node
  std::span<float* const> ys;           // per product
};

void multiply_together(Queue& q, const Multiplied& all) {
  const Alike& s = all.shape;
  const std::size_t n = all.ws.size(), first = q.size();
  std::vector<const float*> apart, from(n);
  for (std::size_t j = 0; j < n; ++j) {
    const float* const* const xs = all.xs.data() + j * s.count;
    from[j] = xs[0];
    if (Batch<const float>::contiguous(xs, s.count, s.x_size)) continue;
    from[j] = nullptr;
    apart.insert(apart.end(), xs, xs + s.count);
  }
  const float* next =
      gathered(q, q.many(apart.data(), apart.size(), s.x_size), apart.size(), s.x_size);
  for (const float*& p : from)
    if (!p) p = std::exchange(next, next + s.count * s.x_size);
  if (n == 1)
    multiply(q, s.m, s.columns, s.k, {all.ws[0]}, {from[0]}, all.ys[0], s.add, 1, 0, s.leading);
  else
    multiply(q, s.m, s.columns, s.k, {all.ws.data()}, {from.data()}, all.ys.data(), n, s.add,
             s.leading);
  Multiplied done = all;
  done.commands = q.size() - first;
  q.describe_last(done);
}

// Values y of the nodes, `step` numbers apart: contiguous, or of one column each.
struct Columns {
  float* first;
  std::size_t step;
};

// y = or += W x for all nodes.
void multiply_nodes(Queue& q, const Batch<float>& b, std::size_t w, std::size_t x, Columns to,
                    bool add) {
  const Shapes s(b, w, x);
  float* const y = to.first;
  const std::size_t leading = s.n * s.batch == 1 ? to.step : s.m;
  const Alike shape(s, add, leading);
  const float* const* const xs = b.ins + x * b.count;
  const bool one = has_one_matrix(b, w);
  if (one && s.repeat() == 1 && shape.small()) {
    Multiplied all{shape, 0, {}, {}, {}};
    const std::size_t size = shape.y_size();
    const Multiplied* const before = q.last<Multiplied>();
    const float* const matrix = b.in(w, 0);
    const auto needs = [&](const float* other) {
      return overlap(other, size, xs, s.count, s.x_size()) ||
             overlap(other, size, &matrix, 1, s.m * s.k);
    };
    if (before && before->shape == shape && before->ws.size() < kMostTogether &&
        std::none_of(before->ys.begin(), before->ys.end(), needs) &&
        !overlap(y, size, before->ys.data(), before->ys.size(), size) &&
        !overlap(y, size, before->xs.data(), before->xs.size(), s.x_size()) &&
        !overlap(y, size, before->ws.data(), before->ws.size(), s.m * s.k)) {
      all = *before;
      q.take_back(before->commands);
    }
    all.ws = q.keep(&matrix, 1, all.ws);
    all.xs = q.keep(xs, s.count, all.xs);
    all.ys = q.keep(&y, 1, all.ys);
    return multiply_together(q, all);
  }
  if (one) {
    const float* const from = gathered(q, q.ins(b, x), s.count, s.x_size(), s.repeat());
    multiply(q, s.m, s.columns(), s.k, {b.in(w, 0)}, {from}, y, add, 1, 0, leading);
    return;
  }
  const Apart apart(b, w, x);
  ProductList list;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < apart.of; ++e) {
      list.a.push_back(b.in(w, i) + apart.w(e));
      list.b.push_back(b.in(x, i) + apart.x(e));
      list.c.push_back(y + i * to.step + apart.y(e));
    }
  multiply(q, s.m, apart.n, s.k, list, false, false, add);
}

TensorArray<const float> d_outs_of(Queue& q, const GradientBatch<float>& b, const Shapes& s) {
  return q.many(const_cast<const float* const*>(b.d_outs), b.count, s.y_size());
}

// Gradients of different matrices: for each matrix the sum of the products dy x' of its nodes.
class MatrixGradients {
 public:
  MatrixGradients(Queue& q, const GradientBatch<float>& b, std::size_t w, std::size_t x)
      : q_(q), b_(b), w_(w), x_(x), apart_(b, w, x) {}

  void run() {
    TargetGroups gradients;
    gradients.number(b_.d_ins + w_ * b_.count, b_.count);
    gradients.list_items();
    for (const bool add : {false, true}) {
      sums_.clear();
      for (std::size_t t = 0; t < gradients.size(); ++t)
        if (b_.add(w_, gradients.items(t)[0]) == add)
          find_sums(gradients.target(t), gradients.items(t));
      // Groups sums with similar numbers of products, since all are padded to the largest number.
      for (std::size_t k = 0, end = 0; k < sums_.size(); k = end) {
        std::size_t most = 0, all = 0;
        for (; end < sums_.size(); ++end) {
          const std::size_t n = sums_[end].dys.size();
          if ((end - k + 1) * std::max(most, n) > 2 * (all + n)) break;
          most = std::max(most, n);
          all += n;
        }
        multiply_sums(k, end, most, add);
      }
    }
  }

 private:
  struct Sum {
    float* to;
    std::vector<const float*> dys, xs;
  };

  // Collects the sums of nodes with the gradient dw.
  void find_sums(float* dw, std::span<const std::uint32_t> nodes) {
    const std::size_t first = sums_.size();
    for (std::size_t e = 0; e < apart_.s.w_batch; ++e) sums_.push_back({dw + apart_.w(e), {}, {}});
    for (const std::uint32_t i : nodes)
      for (std::size_t e = 0; e < apart_.of; ++e) {
        Sum& sum = sums_[first + (apart_.s.w_batch == 1 ? 0 : e)];
        sum.dys.push_back(b_.d_out(i) + apart_.y(e));
        sum.xs.push_back(b_.in(x_, i) + apart_.x(e));
      }
  }

  // Multiplies sums as one batch, each padded with zeros to `most` contiguous products.
  void multiply_sums(std::size_t begin, std::size_t end, std::size_t most, bool add) {
    const std::size_t m = apart_.s.m, k = apart_.s.k, n = apart_.n;
    const auto factors = [&](std::vector<const float*> Sum::*of, std::size_t size) {
      std::vector<const float*> all;
      for (std::size_t i = begin; i < end; ++i) {
        const std::vector<const float*>& parts = sums_[i].*of;
        all.insert(all.end(), parts.begin(), parts.end());
        all.resize((i - begin + 1) * most, nullptr);
      }
      if (most == 1) return all;
      const float* const from = gathered(q_, all, size);
      all.resize(end - begin);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = from + i * most * size;
      return all;
    };
    ProductList list{factors(&Sum::dys, m * n), factors(&Sum::xs, k * n), {}};
    for (std::size_t i = begin; i < end; ++i) list.c.push_back(sums_[i].to);
    multiply(q_, m, k, most * n, list, false, true, add);
  }

  Queue& q_;
  const GradientBatch<float>& b_;
  std::size_t w_, x_;
  Apart apart_;
  std::vector<Sum> sums_;
};

// dW (+)= dy x'
void matrix_gradient(Queue& q, const GradientBatch<float>& b, std::size_t w, std::size_t x) {
  const Shapes s(b, w, x);
  float* const* const dw = b.d_ins + w * b.count;
  if (s.w_batch > 1 || std::any_of(dw, dw + b.count, [&](float* p) { return p != dw[0]; }))
    return MatrixGradients(q, b, w, x).run();
  if (!dw[0]) return;
  const float* const dy = gathered(q, d_outs_of(q, b, s), s.count, s.y_size());
  const float* const xs = gathered(q, q.ins(b, x), s.count, s.x_size(), s.repeat());
  multiply(q, s.m, s.k, s.columns(), {dy}, {xs, true}, dw[0], b.add(w, 0));
}

// The last gradients in the queue: dx (+)= W' dy, as `commands` commands; each dy is contiguous.
struct Returned {
  Alike shape;
  std::size_t commands;
  std::span<const float*const> ws, dys;  // per product
  std::span<float* const> dxs;           // per node; null: not needed
  std::span<const Write> writes;
};

// Writes to the targets, or, if these are shared or not contiguous, sums parts from a temporary.
void return_together(Queue& q, const Returned& all) {
  const Alike& s = all.shape;
  const std::size_t n = all.ws.size(), first = q.size();
  const GradientTargets p = q.targets(all.dxs.data(), all.writes.data(), all.dxs.size(), s.x_size);
  const bool there = side_by_side(p);
  const std::size_t size = s.count * s.x_size;
  float* const to = there ? p.first.to.first : q.temporary(n * size);
  const bool add = there && p.first.all_add;
  std::vector<float*> each(n);
  for (std::size_t j = 0; j < n; ++j) each[j] = to + j * size;
  if (n == 1)
    multiply(q, s.k, s.columns, s.m, {all.ws[0], true}, {all.dys[0]}, to, add);
  else
    multiply(q, s.k, s.columns, s.m, {all.ws.data(), true}, {all.dys.data()}, each.data(), n, add);
  if (!there) sum_parts(q, p, s.x_size, to);
  Returned done = all;
  done.commands = q.size() - first;
  q.describe_last(done);
}

// dx (+)= W' dy
void column_gradient(Queue& q, const GradientBatch<float>& b, std::size_t w, std::size_t x) {
  const Shapes s(b, w, x);
  float* const* const dx = b.d_ins + x * b.count;
  if (std::none_of(dx, dx + b.count, [](const float* p) { return p; })) return;
  const TensorArray<const float> d_outs = d_outs_of(q, b, s);
  const Alike shape(s, false, s.m);
  const bool one = has_one_matrix(b, w);
  if (one && s.repeat() == 1 && shape.small() && !d_outs.each) {
    Returned all{shape, 0, {}, {}, {}, {}};
    const std::size_t size = s.columns() * s.m;
    const Returned* const before = q.last<Returned>();
    const auto needed = [&](const float* dy) { return overlap(dy, size, dx, s.count, s.x_size()); };
    if (before && before->shape == shape && before->ws.size() < kMostTogether &&
        std::none_of(before->dys.begin(), before->dys.end(), needed) &&
        !overlap(d_outs.first, size, before->dxs.data(), before->dxs.size(), s.x_size())) {
      all = *before;
      q.take_back(before->commands);
    }
    const float* const matrix = b.in(w, 0);
    all.ws = q.keep(&matrix, 1, all.ws);
    all.dys = q.keep(&d_outs.first, 1, all.dys);
    all.dxs = q.keep(dx, s.count, all.dxs);
    all.writes = q.keep(b.writes + x * b.count, s.count, all.writes);
    return return_together(q, all);
  }
  const GradientTargets p = q.targets(b, x);
  const bool there = side_by_side(p) && s.repeat() == 1;
  const std::size_t size = s.k * s.n * s.batch;  // numbers per node, before parts are summed
  float* const to = there ? p.first.to.first : q.temporary(s.count * size);
  const bool add = there && p.first.all_add;
  if (one) {
    const float* const dy = gathered(q, d_outs, s.count, s.y_size());
    multiply(q, s.k, s.columns(), s.m, {b.in(w, 0), true}, {dy}, to, add);
  } else {
    const Apart apart(b, w, x);
    ProductList list;
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; b.d_in(x, i) && e < apart.of; ++e) {
        list.a.push_back(b.in(w, i) + apart.w(e));
        list.b.push_back(b.d_out(i) + apart.y(e));
        list.c.push_back(to + i * size + e * s.k * apart.n);
      }
    multiply(q, s.k, apart.n, s.m, list, true, false, add);
  }
  if (!there) sum_parts(q, p, s.x_size(), to, s.repeat());
}

// The bias, repeated for every column.
struct Bias {
  TensorArray<const float> bias;
  std::size_t rows, size, step;  // of the bias, of a batch element of y, between biases
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient at = divide(e, size);
    return bias[i][at.by * step + divide(at.rest, rows).rest];
  }
};

struct Moved {
  TensorArray<float> y;
  const float* from;
  std::size_t size;
  bool add;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const float v = from[i * size + e];
    return add ? y[i][e] + v : v;
  }
};

std::size_t first_pair(const Batch<float>& b) { return b.node(0).form->batch.value.first_pair; }

// Several pairs of one shape, whose matrices are shared parameters, as one product:
// y = [W1 W2 ... b 0 ...] [x1; x2; ...; 1; 0 ...]. The stacked matrix is built once per flush.
struct Stack {
  // Stacks the pairs that `wanted` selects by the operand index of their matrix; empty if the pairs
  // differ in shape.
  template <class F>
  Stack(const Batch<float>& b, F wanted) : b_(b), first_(first_pair(b)) {
    constexpr std::size_t kMost = std::size_t{1} << 22;  // elements; larger copies do not pay
    for (std::size_t k = first_; k + 1 < b.arity; k += 2)
      if (wanted(k)) pairs_.push_back(k);
    bool fits = pairs_.size() > 1;
    for (const std::size_t k : pairs_)
      fits = fits && b.graph.nodes[operand(k)].form->kind == Kind::parameter &&
             b.dim(k) == b.dim(pairs_[0]) && b.dim(k + 1) == b.dim(pairs_[0] + 1);
    if (fits) {
      const Shapes s(b, pairs_[0], pairs_[0] + 1);
      fits = s.w_batch == 1 && s.repeat() == 1 && s.m * s.x_size() > 0 &&
             s.m * s.k * pairs_.size() <= kMost;
    }
    if (!fits) pairs_.clear();
  }
  bool empty() const { return pairs_.empty(); }
  std::size_t inner() const { return pairs_.size() * shapes().k; }

  // Returns whether the bias can be a column of the matrix: all nodes and columns share one bias,
  // and products are not rounded.
  bool takes_bias(Queue& q) const {
    if (first_ == 0) return false;
    const Dim& bias = b_.dim(first_ - 1);
    const float* const* const all = b_.ins + (first_ - 1) * b_.count;
    return q.precision() == Precision::float32 && bias.bd == 1 && bias.size() == shapes().m &&
           b_.graph.nodes[operand(first_ - 1)].form->kind == Kind::parameter &&
           std::all_of(all, all + b_.count, [&](const float* p) { return p == all[0]; });
  }

  void forward(Queue& q, Columns y, bool bias, bool add) const {
    const Shapes s = shapes();
    const std::size_t k = s.k, used = inner(), all = padded(used + bias);
    auto* const xs = q.stage<TensorArray<const float>>(pairs_.size());
    for (std::size_t j = 0; j < pairs_.size(); ++j) xs[j] = q.ins(b_, pairs_[j] + 1);
    const TensorArray<const float>* const from = q.on_device(xs);
    const std::size_t columns = s.n * s.batch;  // columns per node
    float* const x = q.temporary(b_.count * columns * all);
    each_element(q, {x, columns * all, nullptr}, b_.count, columns * all,
                 [=] __device__(std::size_t i, std::size_t e) {
                   const Quotient at = divide(e, all), pair = divide(at.rest, k);
                   if (at.rest >= used) return at.rest == used && bias ? 1.0f : 0.0f;
                   return from[pair.by][i][at.by * k + pair.rest];
                 });
    multiply(q, s.m, s.columns(), all, {matrix(q, bias)}, {x}, y.first, add, 1, 0,
             columns == 1 ? y.step : s.m);
  }

  // The gradients of all x.
  void backward(Queue& q, const GradientBatch<float>& b) const {
    const Shapes s = shapes();
    const std::size_t n = pairs_.size() * b.count;
    std::vector<float*> to;
    std::vector<Write> writes;
    for (const std::size_t k : pairs_) {
      const std::size_t x = (k + 1) * b.count;
      to.insert(to.end(), b.d_ins + x, b.d_ins + x + b.count);
      writes.insert(writes.end(), b.writes + x, b.writes + x + b.count);
    }
    const GradientTargets targets = q.targets(to.data(), writes.data(), n, s.x_size());
    if (targets.first.count == 0) return;
    const std::size_t used = inner(), k = s.k, columns = s.n * s.batch;
    const auto count = static_cast<std::uint32_t>(b.count);
    float* const parts = q.temporary(s.columns() * used);
    const float* const dy = gathered(q, d_outs_of(q, b, s), s.count, s.y_size());
    multiply(q, used, s.columns(), s.m, {matrix(q, false), true}, {dy}, parts, false);
    each_gradient(q, targets, s.x_size(), [=] __device__(std::uint32_t number, std::size_t e) {
      const std::uint32_t pair = number / count, i = number % count;
      const Quotient at = divide(e, k);
      return parts[(i * columns + at.by) * used + pair * k + at.rest];
    });
  }

  static std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }
  NodeId operand(std::size_t k) const { return b_.graph.args[b_.node(0).first_arg + k]; }
  Shapes shapes() const { return {b_, pairs_[0], pairs_[0] + 1}; }

  const float* matrix(Queue& q, bool bias) const {
    const Shapes s = shapes();
    const std::size_t m = s.m, size = m * s.k, used = inner(), all = padded(used + bias);
    std::vector<const float*> key;
    for (const std::size_t k : pairs_) key.push_back(b_.in(k, 0));
    if (bias) key.push_back(b_.in(first_ - 1, 0));
    const Queue::Kept w = q.kept(key, m * all);
    if (!w.fresh) return w.p;
    const float* const* const from = q.send(key.data(), key.size());
    each_element(q, {w.p, m * all, nullptr}, 1, m * all,
                 [=] __device__(std::size_t, std::size_t e) {
                   const Quotient at = divide(e, size);
                   return e < m * (used + bias) ? from[at.by][at.rest] : 0.0f;
                 });
    return w.p;
  }

  const Batch<float>& b_;
  std::size_t first_;  // operand of the first pair
  std::vector<std::size_t> pairs_;
};

// Computes values of `size` numbers, in columns of `rows`, into a temporary first if products
// cannot write them in place.
template <class Make>
void make_side_by_side(Queue& q, const Batch<float>& b, TensorArray<float> y, std::size_t size,
                       std::size_t rows, bool accumulates, Make make) {
  if (!y.each && (y.step == size || rows == size || b.count == 1))
    return make(Columns{y.first, b.count == 1 ? size : y.step}, accumulates);
  float* const to = q.temporary(b.count * size);
  make(Columns{to, size}, false);
  each_element(q, y, b.count, size, Moved{y, to, size, accumulates});
}

// Sums y of `size` numbers for each node.
void sums_forward(Queue& q, const Batch<float>& b, TensorArray<float> y, std::size_t size) {
  const BatchRule& rule = b.node(0).form->batch.value;
  const std::size_t first = rule.first_pair,
                    rows = b.arity > first ? b.dim(first).rows() : b.dim(first - 1).batch_size();
  const auto has = [&](std::size_t k) { return b.terms.has(rule.term_of(k)); };
  const auto make = [&](bool accumulates, auto f) {
    make_side_by_side(q, b, y, size, rows, accumulates, f);
  };
  const Stack stack(b, has);
  if (b.accumulates && stack.empty()) {  // separate products keep the order of a single addition
    for (std::size_t k = first; k + 1 < b.arity; k += 2)
      if (has(k))
        make(true, [&](Columns to, bool add) { multiply_nodes(q, b, k, k + 1, to, add); });
    return;
  }
  const bool stacks_bias = !stack.empty() && !b.accumulates && stack.takes_bias(q);
  make(b.accumulates, [&](Columns to, bool add) {
    if (first > 0 && !b.accumulates && !stacks_bias) {
      const Dim& bias = b.dim(first - 1);
      const std::size_t n = bias.batch_size();
      each_element(q, {to.first, to.step, nullptr}, b.count, size,
                   Bias{q.ins(b, first - 1), n, size / b.dim().bd, bias.bd == 1 ? 0 : n});
      add = true;
    }
    if (!stack.empty()) return stack.forward(q, to, stacks_bias, add);
    for (std::size_t k = first; k + 1 < b.arity; k += 2)
      if (has(k)) {
        multiply_nodes(q, b, k, k + 1, to, add);
        add = true;
      }
  });
}

void affine_forward(Queue& q, const Batch<float>& b) {
  sums_forward(q, b, q.outs(b), b.dim().size());
}

void bias_gradient(Queue& q, const GradientBatch<float>& b, std::size_t size) {
  const std::size_t bias = first_pair(b) - 1, rows = b.dim(bias).batch_size();
  if (rows == 0) return;
  const std::size_t each = size / b.dim().bd, columns = each / rows,
                    batch = b.dim(bias).bd == 1 ? b.dim().bd : 1;
  const auto dy = q.many(const_cast<const float* const*>(b.d_outs), b.count, size);
  sum_gradients(q, q.targets(b, bias), b.dim(bias).size(), batch * columns, true,
                [=] __device__(std::uint32_t i, std::size_t e, std::size_t c) {
                  const Quotient at = divide(e, rows);
                  return dy[i][at.by * each + c * rows + at.rest];
                });
}

// `size`: numbers of the sum of a node.
void sums_backward(Queue& q, const GradientBatch<float>& b, std::size_t size) {
  const std::size_t first = first_pair(b), end = std::min(b.end, b.arity - 1);
  if (b.first < first) bias_gradient(q, b, size);
  const Stack stack(b, [&](std::size_t k) {
    const auto* const dx = b.d_ins + (k + 1) * b.count;
    return k >= b.first && k < end && std::any_of(dx, dx + b.count, [](float* p) { return p; });
  });
  if (!stack.empty()) stack.backward(q, b);
  for (std::size_t k = std::max(b.first, first); k < end; k += 2) {
    matrix_gradient(q, b, k, k + 1);
    if (stack.empty()) column_gradient(q, b, k, k + 1);
  }
}

void affine_backward(Queue& q, const GradientBatch<float>& b) {
  sums_backward(q, b, b.dim().size());
}

// Operations on sums that lie in the scratch, `offset` numbers from its start.
void inner_forward(Queue& q, const Batch<float>& b, const Kernels& kernels, std::size_t offset) {
  if (b.dim().size() == 0) return;
  std::vector<float*> sums(b.auxs, b.auxs + b.count);
  for (float*& p : sums) p += offset;
  sums_forward(q, b, q.spaced(sums.data(), b.count), b.node(0).form->sums(b.graph, b.node(0)));
  if (b.terms.complete()) kernels.forward(q, b);
}
void inner_backward(Queue& q, const GradientBatch<float>& b, const Kernels& kernels) {
  if (b.terms.complete()) kernels.backward(q, b);
  GradientBatch<float> sums = b;
  sums.d_outs = b.d_sums;
  sums_backward(q, sums, b.node(0).form->sums(b.graph, b.node(0)));
}

void step_forward(Queue& q, const Batch<float>& b) {
  inner_forward(q, b, kLstmCell, 2 * b.dim().size());  // where the gates will be
}
void step_backward(Queue& q, const GradientBatch<float>& b) { inner_backward(q, b, kLstmCell); }
void loss_forward(Queue& q, const Batch<float>& b) { inner_forward(q, b, kClassLoss, 0); }
void loss_backward(Queue& q, const GradientBatch<float>& b) { inner_backward(q, b, kClassLoss); }

}  // namespace

const Kernels kAffine = {affine_forward, affine_backward};
const Kernels kLstmStep = {step_forward, step_backward};
const Kernels kLinearCrossEntropy = {loss_forward, loss_backward};

}  // namespace dynet::cuda
