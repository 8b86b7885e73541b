#include <utility>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/selection.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/indices.h"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

// Forward and backward: one slice for each batch element.
struct Picked {
  TensorArray<const float> from;  // x, or dy
  const IndexList* indices;
  std::size_t inner, size, outer, batch;
  bool repeat;  // x has one batch element for all of the result
};
struct Pick : Picked {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient in = divide(e, inner), line = divide(in.by, outer);  // line.by: batch element
    return from[i][((repeat ? line.rest : in.by) * size + indices[i][line.by]) * inner + in.rest];
  }
};
struct PickGradient : Picked {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient in = divide(e, inner), slice = divide(in.by, size);
    const Quotient line = divide(slice.by, outer);
    const std::size_t first = repeat ? 0 : line.by, end = repeat ? batch : first + 1;
    float sum = 0;
    for (std::size_t k = first; k < end; ++k)
      if (indices[i][k] == slice.rest) sum += from[i][(k * outer + line.rest) * inner + in.rest];
    return sum;
  }
};

Picked picked(const Batch<float>& b, TensorArray<const float> from, const IndexList* indices) {
  const Along x(b.dim(0), b.attr<PickAttr>().dimension);
  return {from, indices, x.inner, x.size, x.outer, b.dim().bd, b.dim(0).bd == 1};
}

void pick_forward(Queue& q, const Batch<float>& b) {
  const std::size_t size = Along(b.dim(0), b.attr<PickAttr>().dimension).size;
  each_value(
      q, b, Pick{picked(b, q.ins(b, 0), upload_indices<PickAttr>(q, b, 0, size, "the dimension"))});
}

void pick_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, PickGradient{picked(b, q.d_outs(b), stored_indices<PickAttr>(q, b, 0))});
}

// Forward and backward: selected slices of `inner` elements each.
struct Selected {
  TensorArray<const float> from;
  const IndexList* indices;
  std::size_t inner, size, count;  // slices of x, and of the result
};
struct Select : Selected {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient in = divide(e, inner), slice = divide(in.by, count);
    return from[i][(slice.by * size + indices[i][slice.rest]) * inner + in.rest];
  }
};
struct SelectGradient : Selected {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient in = divide(e, inner), slice = divide(in.by, size);
    float sum = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (indices[i][k] == slice.rest) sum += from[i][(slice.by * count + k) * inner + in.rest];
    return sum;
  }
};

struct Slices {
  std::size_t inner, size, count;
  // Slices along a dimension, or along the batch.
  static Slices of(const Batch<float>& b, bool batch) {
    if (batch) return {b.dim().batch_size(), b.dim(0).bd, b.dim().bd};
    const std::size_t d = b.attr<PickAttr>().dimension;
    const Along x(b.dim(0), d);
    return {x.inner, x.size, b.dim()[static_cast<unsigned>(d)]};
  }
};

template <bool kBatch>
void select_forward(Queue& q, const Batch<float>& b) {
  const Slices s = Slices::of(b, kBatch);
  const IndexList* const indices =
      upload_indices<PickAttr>(q, b, 0, s.size, kBatch ? "the batch" : "the dimension");
  each_value(q, b, Select{{q.ins(b, 0), indices, s.inner, s.size, s.count}});
}

template <bool kBatch>
void select_backward(Queue& q, const GradientBatch<float>& b) {
  const Slices s = Slices::of(b, kBatch);
  each_gradient(
      q, b, 0,
      SelectGradient{{q.d_outs(b), stored_indices<PickAttr>(q, b, 0), s.inner, s.size, s.count}});
}

// Forward and backward: a range of each line, with its own start in each node.
struct Ranged {
  TensorArray<const float> from;
  const std::size_t* before;  // by node: elements of a line before the range
  std::size_t all, length;    // of a line, and of the range
};
struct Range : Ranged {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient at = divide(e, length);
    return from[i][at.by * all + before[i] + at.rest];
  }
};
struct RangeGradient : Ranged {
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient line = divide(e, all);
    const std::size_t at = line.rest - before[i];  // wraps to a huge number before the range
    return at < length ? from[i][line.by * length + at] : 0;
  }
};

Ranged ranged(Queue& q, const Batch<float>& b, TensorArray<const float> from) {
  const Along x(b.dim(0), b.attr<RangeAttr>().dimension);
  std::size_t* const before = q.stage<std::size_t>(b.count);
  for (std::size_t i = 0; i < b.count; ++i) before[i] = b.attr<RangeAttr>(i).start * x.inner;
  const auto& a = b.attr<RangeAttr>();
  return {from, q.on_device(before), x.size * x.inner, (a.end - a.start) * x.inner};
}

void pick_range_forward(Queue& q, const Batch<float>& b) {
  each_value(q, b, Range{ranged(q, b, q.ins(b, 0))});
}

void pick_range_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, RangeGradient{ranged(q, b, q.d_outs(b))});
}

// Index map from the elements of one tensor to those of another; zero where there is none.
struct Walk {
  struct Step {
    // Sizes here and there; index p here corresponds to c there if p = from + c stride.
    std::size_t size, from, stride, limit;
    std::size_t step;  // distance between elements there
  };
  TensorArray<const float> there;
  std::size_t start;
  unsigned rank;
  Step steps[kMaxTensorDim + 1];

  void append(const Step& s) { steps[rank++] = s; }
  __device__ float operator()(std::size_t i, std::size_t e) const {
    std::size_t at = start;
    for (unsigned k = 0; k < rank; ++k) {
      const Step& s = steps[k];
      const Quotient here = divide(e, s.size);
      e = here.by;
      if (here.rest < s.from) return 0;
      const Quotient p = divide(here.rest - s.from, s.stride);
      if (p.rest != 0 || p.by >= s.limit) return 0;
      at += p.by * s.step;
    }
    return there[i][at];
  }
};

// Map from the result to the operand, or, with `back`, from the operand to the result.
Walk transposed(const Batch<float>& b, TensorArray<const float> there, bool back) {
  const auto& a = b.attr<TransposeAttr>();
  const Dim &x = b.dim(0), &y = b.dim();
  std::size_t steps[kMaxTensorDim], of_x = 1, of_y = 1;
  unsigned place[kMaxTensorDim];
  for (unsigned k = 0; k < kMaxTensorDim; ++k) place[k] = k;
  for (unsigned k = 0; k < a.rank; ++k) place[a.order[k]] = k;
  for (unsigned k = 0; k < kMaxTensorDim; ++k) {
    steps[k] = back ? of_y : of_x;
    of_x *= x[k];
    of_y *= y[k];
  }
  Walk walk{there, 0, 0, {}};
  for (unsigned k = 0; k < kMaxTensorDim; ++k) {
    const std::size_t size = back ? x[k] : y[k];
    if (size == 1) continue;
    walk.append({size, 0, 1, size, steps[back ? place[k] : k < a.rank ? a.order[k] : k]});
  }
  walk.append({y.bd, 0, 1, y.bd, of_x});
  return walk;
}

Walk strided(const Batch<float>& b, TensorArray<const float> there, bool back) {
  const auto& a = b.attr<StridedAttr>();
  const Dim &x = b.dim(0), &y = b.dim();
  Walk walk{there, 0, 0, {}};
  std::size_t of_x = 1, of_y = 1;
  for (unsigned k = 0; k <= x.nd; ++k) {
    const auto stride = static_cast<std::size_t>(k < a.strides.count ? a.strides.v[k] : 1);
    const auto from = static_cast<std::size_t>(k < a.from.count ? a.from.v[k] : 0);
    const std::size_t x_size = k < x.nd ? x[k] : x.bd, y_size = k < x.nd ? y[k] : y.bd;
    if (back) {
      walk.append({x_size, from, stride, y_size, of_y});
    } else {
      walk.append({y_size, 0, 1, y_size, stride * of_x});
      walk.start += from * of_x;
    }
    of_x *= x_size;
    of_y *= y_size;
  }
  return walk;
}

// A matrix transpose: the first `rows` numbers of x (merged sizes) are swapped with the `columns`
// that follow, in each of `others` matrices. Zero rows if the permutation is no matrix transpose.
struct Turn {
  std::size_t rows = 0, columns = 1, others = 1;

  explicit Turn(const Batch<float>& b) {
    const auto& a = b.attr<TransposeAttr>();
    const Dim& x = b.dim(0);
    std::size_t size[kMaxTensorDim];  // sizes other than one, and their order in the result
    unsigned number[kMaxTensorDim], order[kMaxTensorDim], n = 0, m = 0;
    for (unsigned k = 0; k < a.rank; ++k)
      if (x[k] != 1) {
        size[n] = x[k];
        number[k] = n++;
      }
    for (unsigned k = 0; k < a.rank; ++k)
      if (x[a.order[k]] != 1) order[m++] = number[a.order[k]];
    if (n == 0 || order[0] == 0) return;
    const unsigned r = order[0];
    unsigned c = 1;
    while (c < n && order[c] == r + c) ++c;
    for (unsigned k = c; k < n; ++k)
      if (order[k] != (k < c + r ? k - c : k)) return;
    rows = 1;
    for (unsigned k = 0; k < n; ++k) (k < r ? rows : k < r + c ? columns : others) *= size[k];
    others *= x.bd;
  }
  // Returns whether the matrix is large enough for tiles.
  bool tiled() const { return rows >= kWarp / 2 && columns >= kWarp / 2; }
  Turn back() const {
    Turn t = *this;
    std::swap(t.rows, t.columns);
    return t;
  }
};

// One block per tile of 32 x 32, with contiguous reads and writes.
DYNET_GLOBAL void transpose_kernel(Turn turn, TensorArray<const float> from, Targets to) {
  begin_kernel();
  constexpr unsigned kPitch = kWarp + 1;  // avoids bank conflicts in a warp
  DYNET_SHARED(float, tile, kWarp* kPitch);
  const std::size_t down = (turn.rows + kWarp - 1) / kWarp;
  const std::size_t across = (turn.columns + kWarp - 1) / kWarp;
  const Quotient at = divide(blockIdx.x, down), matrix = divide(at.by, across);
  const Quotient place = divide(matrix.by, turn.others);
  const std::size_t first = place.rest * turn.rows * turn.columns, j = place.by;
  const std::size_t row = at.rest * kWarp, column = matrix.rest * kWarp;
  const unsigned x = threadIdx.x % kWarp;
  for (unsigned y = threadIdx.x / kWarp; y < kWarp; y += kThreads / kWarp) {
    if (row + x >= turn.rows || column + y >= turn.columns) continue;
    float sum = 0;
    for (std::uint32_t m = to.begin(j); m < to.end(j); ++m)
      sum += from[to.node(m)][first + (column + y) * turn.rows + row + x];
    tile[y * kPitch + x] = sum;
  }
  __syncthreads();
  for (unsigned y = threadIdx.x / kWarp; y < kWarp; y += kThreads / kWarp)
    if (row + y < turn.rows && column + x < turn.columns)
      to.put(j, first + (row + y) * turn.columns + column + x, tile[x * kPitch + y]);
}

void transpose(Queue& q, const Turn& t, TensorArray<const float> from, const Targets& to) {
  const std::size_t tiles = (t.rows + kWarp - 1) / kWarp * ((t.columns + kWarp - 1) / kWarp);
  q.launch(Grid{static_cast<unsigned>(to.count * t.others * tiles)}, transpose_kernel, t, from, to);
}

void transpose_forward(Queue& q, const Batch<float>& b) {
  const TensorArray<const float> x = q.ins(b, 0);
  if (const Turn t(b); t.tiled())
    transpose(q, t, x, {b.count, q.outs(b), nullptr, nullptr, nullptr, false});
  else
    each_value(q, b, transposed(b, x, false));
}
void transpose_backward(Queue& q, const GradientBatch<float>& b) {
  const TensorArray<const float> dy = q.d_outs(b);
  const Turn t(b);
  if (!t.tiled()) return each_gradient(q, b, 0, transposed(b, dy, true));
  const GradientTargets p = q.targets(b, 0);
  transpose(q, t.back(), dy, p.first);
  add_parts(q, p, b.dim(0).size());
}

void strided_select_forward(Queue& q, const Batch<float>& b) {
  each_value(q, b, strided(b, q.ins(b, 0), false));
}
void strided_select_backward(Queue& q, const GradientBatch<float>& b) {
  each_gradient(q, b, 0, strided(b, q.d_outs(b), true));
}

// Concatenated operands, in each of the `outer` lines of a batch element of the result.
struct Lines {
  std::size_t all, outer, batch;  // length of a line, lines per batch element, batch elements

  // Lines along the dimension of the attributes, or along the batch.
  static Lines of(const Batch<float>& b, bool along_batch) {
    if (along_batch) return {b.dim().size(), 1, 1};
    const Along y(b.dim(), b.attr<ConcatenateAttr>().dimension);
    return {y.size * y.inner, y.outer, b.dim().bd};
  }
};
struct Piece {
  std::size_t before, length;  // in a line
  std::size_t step;            // between batch elements; zero: one for all

  static Piece next(const Lines& lines, const Dim& dim, bool along_batch, std::size_t before) {
    if (along_batch) return {before, dim.size(), 0};
    return {before, lines.outer ? dim.batch_size() / lines.outer : 0,
            dim.bd == 1 ? 0 : dim.batch_size()};
  }
};

struct Concatenated {
  const float* const* ins;
  const Piece* pieces;
  std::size_t arity, count;
  Lines lines;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient line = divide(e, lines.all), of = divide(line.by, lines.outer);
    const std::size_t at = line.rest;
    std::size_t k = 0, end = arity;  // finds the last piece that begins at or before `at`
    while (end - k > 1) {
      const std::size_t middle = (k + end) / 2;
      (pieces[middle].before <= at ? k : end) = middle;
    }
    const Piece& p = pieces[k];
    return ins[k * count + i][of.by * p.step + of.rest * p.length + at - p.before];
  }
};

// Gradients of consecutive operands; node i of the k-th one has number k * count + i.
struct PieceGradient {
  TensorArray<const float> dy;
  const Piece* pieces;  // of these operands
  Lines lines;
  std::uint32_t count;
  __device__ float operator()(std::uint32_t number, std::size_t e) const {
    const Piece& piece = pieces[number / count];
    const Quotient line = divide(e, piece.length);
    const std::uint32_t i = number % count;
    const std::size_t at = piece.before + line.rest;
    if (piece.step > 0 || lines.batch == 1) return dy[i][line.by * lines.all + at];
    float sum = 0;
    for (std::size_t k = 0; k < lines.batch; ++k)
      sum += dy[i][(k * lines.outer + line.by) * lines.all + at];
    return sum;
  }
};

// Pieces by operand.
const Piece* pieces_of(Queue& q, const Batch<float>& b, const Lines& lines, bool along_batch) {
  Piece* const pieces = q.stage<Piece>(b.arity);
  std::size_t before = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    pieces[k] = Piece::next(lines, b.dim(k), along_batch, before);
    before += pieces[k].length;
  }
  return q.on_device(pieces);
}

template <bool kBatch>
void concatenate_forward(Queue& q, const Batch<float>& b) {
  const Lines lines = Lines::of(b, kBatch);
  each_value(q, b,
             Concatenated{q.send(const_cast<const float* const*>(b.ins), b.arity * b.count),
                          pieces_of(q, b, lines, kBatch), b.arity, b.count, lines});
}

// Gradients of operands of different sizes in one kernel; returns false if most of its threads
// would be idle, or if many nodes share a target.
bool concatenate_backward_at_once(Queue& q, const GradientBatch<float>& b, const PieceGradient& f) {
  std::size_t largest = 0, all = 0;
  for (std::size_t k = 0; k < b.arity; ++k) {
    largest = std::max(largest, b.dim(k).size());
    all += b.dim(k).size();
  }
  if (b.arity * largest > 4 * all) return false;
  const GradientTargets p = q.targets(b.d_ins, b.writes, b.arity * b.count, largest);
  if (p.then.count > 0) return false;
  auto* const sizes = q.stage<std::size_t>(b.arity);
  for (std::size_t k = 0; k < b.arity; ++k) sizes[k] = b.dim(k).size();
  const Targets t = p.first;
  for_each(q, t.count, largest,
           [=, sizes = q.on_device(sizes)] __device__(std::size_t j, std::size_t e) {
             if (e >= sizes[t.node(t.begin(j)) / f.count]) return;
             float sum = 0;
             for (std::uint32_t m = t.begin(j); m < t.end(j); ++m) sum += f(t.node(m), e);
             t.put(j, e, sum);
           });
  return true;
}

template <bool kBatch>
void concatenate_backward(Queue& q, const GradientBatch<float>& b) {
  const Lines lines = Lines::of(b, kBatch);
  PieceGradient f{q.d_outs(b), pieces_of(q, b, lines, kBatch), lines,
                  static_cast<std::uint32_t>(b.count)};
  const auto end_of = [&](std::size_t k) {  // end of the operands with the shape of operand k
    std::size_t end = k + 1;
    while (end < b.arity && b.dim(end) == b.dim(k)) ++end;
    return end;
  };
  if (end_of(0) < b.arity && concatenate_backward_at_once(q, b, f)) return;
  for (std::size_t k = 0, end = 0; k < b.arity; k = end) {
    end = end_of(k);
    const std::size_t size = b.dim(k).size(), first = k * b.count, n = (end - k) * b.count;
    each_gradient(q, q.targets(b.d_ins + first, b.writes + first, n, size), size, f);
    f.pieces += end - k;
  }
}

}  // namespace

const Kernels kPick = {pick_forward, pick_backward};
const Kernels kPickBatch = {select_forward<true>, select_backward<true>};
const Kernels kPickRange = {pick_range_forward, pick_range_backward};
const Kernels kSelect = {select_forward<false>, select_backward<false>};
const Kernels kStridedSelect = {strided_select_forward, strided_select_backward};
const Kernels kTranspose = {transpose_forward, transpose_backward};
const Kernels kConcatenate = {concatenate_forward<false>, concatenate_backward<false>};
const Kernels kConcatenateBatch = {concatenate_forward<true>, concatenate_backward<true>};

}  // namespace dynet::cuda
