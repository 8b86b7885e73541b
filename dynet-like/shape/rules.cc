#include "dynet-like/shape/rules.h"

#include <algorithm>
#include <limits>

#include "dynet-like/shape/broken.h"

namespace dynet::shape {

void check(const Dim& dim) {
  if (dim.bd == 0) broken("the batch size must be at least 1, got 0", Kind::argument);
  if (dim.nd > kMaxTensorDim) broken("a shape has at most 7 sizes", Kind::argument);
  constexpr std::uint64_t kMost = std::uint64_t{1} << (sizeof(std::size_t) == 8 ? 56 : 28);
  std::uint64_t n = dim.bd;
  bool empty = false;
  for (unsigned i = 0; i < dim.nd; ++i) {
    if (dim.d[i] == 0) empty = true;
    if (dim.d[i] > 1 && (__builtin_mul_overflow(n, dim.d[i], &n) || n > kMost)) n = kMost + 1;
    if (n > kMost && !empty && i + 1 == dim.nd)
      broken("the result has too many elements: " + to_string(dim), Kind::argument);
  }
}

void throw_batches_differ(const Dim& a, const Dim& b) {
  broken("batch sizes must be equal or 1" + two(a.bd, b.bd));
}

Dim broadcast(const Dim& a, const Dim& b) {
  bool equal = a.nd == b.nd && a.bd == b.bd;
  for (unsigned i = 0; equal && i < a.nd; ++i) equal = a.d[i] == b.d[i];
  if (equal) return a;
  Dim r;
  r.nd = std::max(a.nd, b.nd);
  for (unsigned i = 0; i < r.nd; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1)
      broken("sizes must be equal or 1 in every dimension, dimension " + std::to_string(i) +
             " has " + std::to_string(a[i]) + " and " + std::to_string(b[i]));
    r.d[i] = a[i] == 1 ? b[i] : a[i];
  }
  r.bd = common_batch(a, b);
  return checked(r);
}

Dim broadcast_all(Dims xs) {
  if (xs.empty()) broken("needs at least one operand", Kind::argument);
  if (xs.size() == 2) return broadcast(*xs[0], *xs[1]);
  Dim r = *xs[0];
  const Dim* last = xs[0];
  for (const Dim* x : xs)
    if (x != last) r = broadcast(r, *(last = x));
  return r;
}

Dim matmul(const Dim& a, const Dim& b) {
  need_rank(a, 2, "the left operand");
  need_rank(b, 2, "the right operand");
  if (a.cols() != b.rows())
    broken("columns of the left operand must equal rows of the right" + two(a.cols(), b.rows()));
  Dim r;
  r.d[0] = a.rows();
  r.nd = b.nd > 1 ? 2 : 1;
  if (r.nd == 2) r.d[1] = b.d[1];
  r.bd = common_batch(a, b);
  return checked(r);
}

Dim affine(Dims xs) {
  if (xs.size() % 2 == 0)
    broken("needs an odd number of operands (b, W1, x1, W2, x2, ...), got " +
               std::to_string(xs.size()),
           Kind::argument);
  const Dim& bias = *xs[0];
  need_rank(bias, 2, "the bias");
  if (xs.size() == 1) return bias;
  Dim r = matmul(*xs[1], *xs[2]);
  for (std::size_t i = 3; i < xs.size(); i += 2) {
    const Dim t = matmul(*xs[i], *xs[i + 1]);
    if (!same_sizes(r, t))
      broken("every product must have the same shape, got " + to_string(r.single_batch()) +
             " and " + to_string(t.single_batch()));
    r.bd = common_batch(r, t);
  }
  if (bias.rows() != r.rows())
    broken("rows of the bias must equal rows of the products" + two(bias.rows(), r.rows()));
  if (bias.cols() != 1 && bias.cols() != r.cols())
    broken("the bias must have one column or as many as the products" + two(bias.cols(), r.cols()));
  r.bd = common_batch(r, bias);
  return r;
}

Dim colwise_add(const Dim& x, const Dim& bias) {
  need_rank(x, 2, "the matrix");
  need_rank(bias, 1, "the bias");
  if (x.rows() != bias.rows())
    broken("rows of the bias must equal rows of the matrix" + two(bias.rows(), x.rows()));
  Dim r = x;
  r.bd = common_batch(x, bias);
  return r;
}

Dim pairwise_scalar(const Dim& a, const Dim& b) {
  need_same_sizes(a, b);
  return Dim({1}, common_batch(a, b));
}

Dim elements(const Dim& x) { return Dim({1}, x.bd); }

Dim batches(const Dim& x) { return x.single_batch(); }

Dim softmax(const Dim& x, unsigned d) {
  if (d > 1) need_dimension(x, d);  // a vector is a matrix of one column
  return x;
}

Dim class_loss(const Dim& x, std::size_t classes, unsigned largest) {
  need_rank(x, 1, "the scores");
  if (classes != x.bd)
    broken("needs one class for each of the " + std::to_string(x.bd) + " batch elements, got " +
               std::to_string(classes),
           Kind::argument);
  need_below(largest, x.rows(), "class", "scores");
  return Dim({1}, x.bd);
}

Dim pick(const Dim& x, std::size_t indices, unsigned largest, unsigned d) {
  need_dimension(x, d);
  if (indices == 0) broken("needs at least one index", Kind::argument);
  if (indices != x.bd && indices != 1 && x.bd != 1)
    broken("needs one index for each of the " + std::to_string(x.bd) + " batch elements, got " +
               std::to_string(indices),
           Kind::argument);
  need_index(x, d, largest, "index");
  Dim r = x;
  if (r.nd == 0) r.resize(1);
  r.delete_dim(d);
  r.bd = std::max<unsigned>(x.bd, static_cast<unsigned>(indices));
  return r;
}

Dim pick_range(const Dim& x, unsigned start, unsigned end, unsigned d) {
  need_dimension(x, d);
  if (start > end || end > x[d])
    broken("[" + std::to_string(start) + ", " + std::to_string(end) +
               ") is not a range of dimension " + std::to_string(d) + " of size " +
               std::to_string(x[d]),
           Kind::index);
  Dim r = x;
  if (r.nd == 0) r.resize(1);
  r.d[d] = end - start;
  return r;
}

Dim pick_batch(const Dim& x, std::size_t indices, unsigned largest) {
  if (indices == 0) broken("needs at least one index", Kind::argument);
  if (largest >= x.bd)
    broken("batch element " + std::to_string(largest) + " is outside a batch of " +
               std::to_string(x.bd),
           Kind::index);
  Dim r = x;
  r.bd = static_cast<unsigned>(indices);
  return r;
}

Dim concatenate(Dims xs, unsigned d) {
  if (xs.empty()) broken("needs at least one operand", Kind::argument);
  if (d >= kMaxTensorDim)
    broken("dimension " + std::to_string(d) + " is outside the 7 possible", Kind::index);
  Dim r = *xs[0];
  if (r.nd <= d) r.resize(d + 1);
  std::size_t along = 0;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const Dim& x = *xs[k];
    for (unsigned i = 0; i < std::max(x.nd, r.nd); ++i)
      if (i != d && x[i] != r[i])
        broken("all sizes but dimension " + std::to_string(d) + " must be equal, dimension " +
               std::to_string(i) + " has " + std::to_string(r[i]) + " and " + std::to_string(x[i]));
    r.bd = common_batch(r, x);
    along += x[d];
  }
  if (along > std::numeric_limits<unsigned>::max())
    broken("the result has too many elements", Kind::argument);
  r.d[d] = static_cast<unsigned>(along);
  return checked(r);
}

Dim concatenate_batch(Dims xs) {
  if (xs.empty()) broken("needs at least one operand", Kind::argument);
  std::size_t batch = 0;
  for (const Dim* x : xs) {
    if (!same_sizes(*xs[0], *x))
      broken("all operands must have the same sizes, got " + to_string(xs[0]->single_batch()) +
             " and " + to_string(x->single_batch()));
    batch += x->bd;
  }
  if (batch > std::numeric_limits<unsigned>::max())
    broken("the result has too many elements", Kind::argument);
  Dim r = *xs[0];
  r.bd = static_cast<unsigned>(batch);
  return checked(r);
}

Dim reshape(const Dim& x, const Dim& to) {
  Dim r = checked(to);
  if (r.bd == 1 && r.batch_size() == x.batch_size()) {
    r.bd = x.bd;
    return r;
  }
  if (r.size() != x.size())
    broken("the number of elements must stay the same" + two(x.size(), r.size()));
  return r;
}

Dim transpose(const Dim& x, std::span<const unsigned> order) {
  Dim from = x;
  const auto rank = static_cast<unsigned>(order.size());
  if (rank > kMaxTensorDim || x.rank() > rank)
    broken("needs an order of all " + std::to_string(x.rank()) + " dimensions, got " +
               std::to_string(rank),
           Kind::argument);
  from.resize(rank);
  Dim r = from;
  unsigned seen = 0;
  for (unsigned i = 0; i < rank; ++i) {
    if (order[i] >= rank || (seen >> order[i] & 1))
      broken("the order must name every dimension once", Kind::argument);
    seen |= 1u << order[i];
    r.d[i] = from.d[order[i]];
  }
  return r;
}

Dim select(const Dim& x, std::size_t indices, unsigned largest, unsigned d) {
  need_dimension(x, d);
  if (indices > 0) need_index(x, d, largest, "index");
  Dim r = x;
  if (r.nd == 0) r.resize(1);
  r.d[d] = static_cast<unsigned>(indices);
  return checked(r);
}

Dim strided_select(const Dim& x, std::span<const int> strides, std::span<const int> from,
                   std::span<const int> to) {
  const std::size_t most = std::max({strides.size(), from.size(), to.size()});
  if (most > x.nd + 1u)
    broken("needs at most " + std::to_string(x.nd + 1) + " entries, one for each dimension of " +
               to_string(x) + " and one for the batch, got " + std::to_string(most),
           Kind::argument);
  Dim r = x;
  for (unsigned k = 0; k < most; ++k) {
    const bool batch = k == x.nd;
    const std::string where = batch ? "the batch" : "dimension " + std::to_string(k);
    const long size = batch ? x.bd : x.d[k], stride = k < strides.size() ? strides[k] : 1;
    const long start = k < from.size() ? from[k] : 0, end = k < to.size() ? to[k] : size;
    if (stride < 1)
      broken("the stride of " + where + " must be at least 1, got " + std::to_string(stride),
             Kind::argument);
    if (start < 0 || start > end || end > size || (batch && start == end))
      broken("[" + std::to_string(start) + ", " + std::to_string(end) + ") is not a range of " +
                 where + " of size " + std::to_string(size),
             Kind::index);
    (batch ? r.bd : r.d[k]) = static_cast<unsigned>((end - start + stride - 1) / stride);
  }
  return r;
}

Dim along(const Dim& x, unsigned d) {
  need_dimension(x, d);
  return x;
}

Dim masked(const Dim& x, const Dim& mask) {
  if (!same_sizes(x, mask))
    broken("a mask must have the sizes of what it masks, got " + to_string(mask.single_batch()) +
           " for " + to_string(x.single_batch()));
  Dim r = x;
  r.bd = common_batch(x, mask);
  return r;
}

Dim lstm_gates(const Dim& x) {
  need_rank(x, 1, "the gates");
  if (x.rows() % 4 != 0)
    broken("the gates must be a multiple of four long, got " + std::to_string(x.rows()));
  return x;
}

Dim lstm_cell(const Dim& cell, const Dim& gates) {
  need_rank(cell, 1, "the cell");
  lstm_gates(gates);
  if (gates.rows() != 4 * std::size_t{cell.rows()})
    broken("the gates must be four times as long as the cell" + two(gates.rows(), cell.rows()));
  Dim r = cell;
  r.bd = common_batch(cell, gates);
  return r;
}

Dim lstm_cell(Dims cells, const Dim& sum) {
  const std::size_t gates = 3 + cells.size();
  need_rank(sum, 1, "the sum of the gates");
  if (sum.rows() % gates != 0)
    broken("the sum must be a multiple of " + std::to_string(gates) +
           " long, three and one for each cell, got " + std::to_string(sum.rows()));
  Dim r = sum;
  r.set(0, static_cast<unsigned>(sum.rows() / gates));
  for (const Dim* c : cells) {
    need_rank(*c, 1, "a cell");
    if (c->rows() != r.rows())
      broken("the sum must be " + std::to_string(gates) + " times as long as a cell" +
             two(sum.rows(), c->rows()));
    r.bd = common_batch(r, *c);
  }
  return r;
}

Dim lstm_cell(Dims xs, std::size_t children) {
  const Dims sums = xs.subspan(children);
  if (sums.size() == 1) return lstm_cell(xs.first(children), *sums[0]);
  if (sums.size() != 3 + children)
    broken("needs a sum for each of " + std::to_string(3 + children) +
           " gates, or all as one, got " + std::to_string(sums.size()));
  Dim r = *sums[0];
  for (const Dim* x : xs) {
    need_rank(*x, 1, "a cell or the sum of a gate");
    if (x->rows() != r.rows())
      broken("cells and sums must have one length" + two(x->rows(), r.rows()));
    r.bd = common_batch(r, *x);
  }
  return r;
}

Dim lstm_sequence(Dims xs) {
  const Dim &sums = *xs[0], &w = *xs[1];
  need_rank(sums, 2, "the sums of the gates");
  if (sums.rows() % 4 != 0)
    broken("rows of the sums must be a multiple of four, got " + std::to_string(sums.rows()));
  const unsigned h = sums.rows() / 4;
  if (w.rank() > 2 || w.rows() != sums.rows() || w.cols() != h || w.bd != 1)
    broken("the matrix of the outputs must be " + to_string(Dim({4 * h, h})) + ", got " +
           to_string(w));
  for (const Dim* x : xs.subspan(2)) {
    need_rank(*x, 1, "the initial output or cell");
    if (x->rows() != h || (x->bd != 1 && x->bd != sums.bd))
      broken("the initial output and cell must be " + to_string(Dim({h})) +
             (sums.bd == 1 ? "" : " or " + to_string(Dim({h}, sums.bd))) + ", got " +
             to_string(*x));
  }
  Dim r = sums;
  r.set(0, h);
  return r;
}

Dim same(Dims xs) {
  Dim r = *xs[0];
  for (const Dim* x : xs) {
    if (!same_sizes(*xs[0], *x))
      broken("all operands must have the same sizes, got " + to_string(xs[0]->single_batch()) +
             " and " + to_string(x->single_batch()));
    r.bd = common_batch(r, *x);
  }
  return r;
}

}  // namespace dynet::shape
