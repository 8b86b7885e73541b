#include "dynet-like/ops/selection.h"

#include <algorithm>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/ops/families.h"
#include "dynet-like/ops/form.h"
#include "kernels/cpu/selection.h"
#include "kernels/cuda/kernels.h"

namespace dynet {
namespace {

// Scratch: the indices of this run.
std::size_t pick_aux(const GraphStore& graph, const Node& n) {
  return index_scratch(graph.attr<PickAttr>(n).indices);
}

struct ReshapeAttr {
  Dim to;
  std::uint32_t unused;
};

unsigned largest(const PickAttr& a) { return largest_index(a.indices, a.extreme); }
unsigned dimension(std::uint64_t d) { return static_cast<unsigned>(d); }

const OpForm kPick = {.name = "pick",
                      .shape =
                          [](const Operands& x) {
                            const auto& a = x.as<PickAttr>();
                            return shape::pick(x[0], a.indices.count, largest(a),
                                               dimension(a.dimension));
                          },
                      .batch = BatchRule::each(offsetof(PickAttr, indices)),
                      .reads = Reads::nothing,
                      .aux = pick_aux,
                      .forward = DYNET_FORWARD(cpu::pick_forward),
                      .backward = DYNET_BACKWARD(cpu::pick_backward),
                      .cuda = CudaRule::by(&cuda::kPick)};

constexpr OpForm pick_batch(const char* name) {
  return {.name = name,
          .shape =
              [](const Operands& x) {
                const auto& a = x.as<PickAttr>();
                return shape::pick_batch(x[0], a.indices.count, largest(a));
              },
          .batch = BatchRule::each(),
          .reads = Reads::nothing,
          .aux = pick_aux,
          .forward = DYNET_FORWARD(cpu::pick_batch_forward),
          .backward = DYNET_BACKWARD(cpu::pick_batch_backward),
          .cuda = CudaRule::by(&cuda::kPickBatch)};
}

const OpForm kPickBatchElem = pick_batch("pick_batch_elem");
const OpForm kPickBatchElems = pick_batch("pick_batch_elems");

const OpForm kPickRange = {.name = "pick_range",
                           .shape =
                               [](const Operands& x) {
                                 const auto& a = x.as<RangeAttr>();
                                 return shape::pick_range(x[0], a.start, a.end,
                                                          dimension(a.dimension));
                               },
                           .batch = BatchRule::each(offsetof(RangeAttr, start)),
                           .reads = Reads::nothing,
                           .aux = no_aux,
                           .forward = DYNET_FORWARD(cpu::pick_range_forward),
                           .backward = DYNET_BACKWARD(cpu::pick_range_backward),
                           .cuda = CudaRule::by(&cuda::kPickRange)};

constexpr OpForm selection(const char* name) {
  return {.name = name,
          .shape =
              [](const Operands& x) {
                const auto& a = x.as<PickAttr>();
                return shape::select(x[0], a.indices.count, largest(a), dimension(a.dimension));
              },
          .batch = BatchRule::each(offsetof(PickAttr, indices)),
          .reads = Reads::nothing,
          .aux = pick_aux,
          .forward = DYNET_FORWARD(cpu::select_forward),
          .backward = DYNET_BACKWARD(cpu::select_backward),
          .cuda = CudaRule::by(&cuda::kSelect)};
}
const OpForm kSelectRows = selection("select_rows");
const OpForm kSelectCols = selection("select_cols");

std::span<const int> entries(const StridedAttr::List& list) { return {list.v, list.count}; }

const OpForm kStridedSelect = {.name = "strided_select",
                               .shape =
                                   [](const Operands& x) {
                                     const auto& a = x.as<StridedAttr>();
                                     return shape::strided_select(x[0], entries(a.strides),
                                                                  entries(a.from), entries(a.to));
                                   },
                               .batch = BatchRule::each(sizeof(StridedAttr)),
                               .reads = Reads::nothing,
                               .aux = no_aux,
                               .forward = DYNET_FORWARD(cpu::strided_select_forward),
                               .backward = DYNET_BACKWARD(cpu::strided_select_backward),
                               .cuda = CudaRule::by(&cuda::kStridedSelect)};

const OpForm kReshape = {
    .name = "reshape",
    .kind = Kind::alias,
    .shape = [](const Operands& x) { return shape::reshape(x[0], x.as<ReshapeAttr>().to); },
    .batch = BatchRule::each(),
    .reads = Reads::nothing,
    .aux = no_aux,
    .forward = kNoForward,
    .backward = DYNET_BACKWARD(cpu::alias_backward),
    .cuda = CudaRule::by(&cuda::kAlias)};

const OpForm kNoBackprop = {.name = "nobackprop",
                            .kind = Kind::alias,
                            .shape = [](const Operands& x) { return x[0]; },
                            .batch = BatchRule::each(),
                            .reads = Reads::nothing,
                            .aux = no_aux,
                            .passes_gradient = false,
                            .forward = kNoForward,
                            .backward = kNoBackward,
                            .cuda = CudaRule::by_executor()};

const OpForm kTranspose = {.name = "transpose",
                           .shape =
                               [](const Operands& x) {
                                 const auto& a = x.as<TransposeAttr>();
                                 return shape::transpose(x[0], {a.order, a.rank});
                               },
                           .batch = BatchRule::each(sizeof(TransposeAttr)),
                           .reads = Reads::nothing,
                           .aux = no_aux,
                           .forward = DYNET_FORWARD(cpu::transpose_forward),
                           .backward = DYNET_BACKWARD(cpu::transpose_backward),
                           .cuda = CudaRule::by(&cuda::kTranspose)};

constexpr OpForm concatenation(const char* name) {
  return {.name = name,
          .shape =
              [](const Operands& x) {
                return shape::concatenate(x.dims, dimension(x.as<ConcatenateAttr>().dimension));
              },
          .batch = BatchRule::each(sizeof(ConcatenateAttr)),
          .reads = Reads::nothing,
          .aux = no_aux,
          .forward = DYNET_FORWARD(cpu::concatenate_forward),
          .backward = DYNET_BACKWARD(cpu::concatenate_backward),
          .cuda = CudaRule::by(&cuda::kConcatenate)};
}

const OpForm kConcatenate = concatenation("concatenate");
const OpForm kConcatenateCols = concatenation("concatenate_cols");

const OpForm kConcatenateToBatch = {
    .name = "concatenate_to_batch",
    .shape = [](const Operands& x) { return shape::concatenate_batch(x.dims); },
    .batch = BatchRule::each(),
    .reads = Reads::nothing,
    .aux = no_aux,
    .forward = DYNET_FORWARD(cpu::concatenate_batch_forward),
    .backward = DYNET_BACKWARD(cpu::concatenate_batch_backward),
    .cuda = CudaRule::by(&cuda::kConcatenateBatch)};

Expression pick_with(const OpForm& form, const Expression& x, const IndexArgument& v, unsigned d,
                     SourceLocation at) {
  return add_node(form, x, {PickAttr{d, v.indices(), v.extreme()}, v.payload(), v.payload_size()},
                  at);
}

// Stores only the count of a list that is too long for any shape; the shape rule rejects it.
StridedAttr::List list_of(const std::vector<int>& v) {
  StridedAttr::List list{static_cast<std::uint32_t>(v.size()), {}};
  std::copy_n(v.begin(), std::min<std::size_t>(v.size(), StridedAttr::kMost), list.v);
  return list;
}

Expression transpose_with(const Expression& x, const unsigned* order, std::size_t rank,
                          SourceLocation at) {
  TransposeAttr a{static_cast<std::uint32_t>(rank), {}};
  if (rank > kMaxTensorDim)
    a.rank = kMaxTensorDim + 1;  // the shape rule rejects this rank without reading the order
  else
    std::copy_n(order, rank, a.order);
  return add_node(kTranspose, x, a, at);
}

std::span<const Expression> all(std::initializer_list<Expression> xs) {
  return {xs.begin(), xs.size()};
}

}  // namespace

OpFamily selection_ops() {
  static constexpr const OpForm* kAll[] = {
      &kSelectRows,      &kSelectCols,         &kStridedSelect, &kPick,      &kPickBatchElem,
      &kPickBatchElems,  &kPickRange,          &kReshape,       &kTranspose, &kConcatenate,
      &kConcatenateCols, &kConcatenateToBatch, &kNoBackprop};
  return kAll;
}

Expression pick(const Expression& x, const IndexArgument& v, unsigned d, SourceLocation at) {
  return pick_with(kPick, x, v, d, at);
}
Expression pick_range(const Expression& x, unsigned start, unsigned end, unsigned d,
                      SourceLocation at) {
  return add_node(kPickRange, x, RangeAttr{d, start, end}, at);
}
Expression pickrange(const Expression& x, unsigned start, unsigned end, SourceLocation at) {
  return pick_range(x, start, end, 0, at);
}
Expression select_rows(const Expression& x, const IndexArgument& rows, SourceLocation at) {
  return pick_with(kSelectRows, x, rows, 0, at);
}
Expression select_cols(const Expression& x, const IndexArgument& cols, SourceLocation at) {
  return pick_with(kSelectCols, x, cols, 1, at);
}
Expression strided_select(const Expression& x, const std::vector<int>& strides,
                          const std::vector<int>& from, const std::vector<int>& to,
                          SourceLocation at) {
  return add_node(kStridedSelect, x, StridedAttr{list_of(strides), list_of(from), list_of(to), 0},
                  at);
}
Expression pick_batch_elem(const Expression& x, const IndexArgument& v, SourceLocation at) {
  return pick_with(kPickBatchElem, x, v, 0, at);
}
Expression pick_batch_elems(const Expression& x, const IndexArgument& v, SourceLocation at) {
  return pick_with(kPickBatchElems, x, v, 0, at);
}

Expression reshape(const Expression& x, const Dim& d, SourceLocation at) {
  return add_node(kReshape, x, ReshapeAttr{d, 0}, at);
}
Expression transpose(const Expression& x, SourceLocation at) {
  constexpr unsigned kOrder[] = {1, 0};
  return transpose_with(x, kOrder, 2, at);
}
Expression transpose(const Expression& x, std::initializer_list<unsigned> dims, SourceLocation at) {
  return transpose_with(x, dims.begin(), dims.size(), at);
}
Expression transpose(const Expression& x, const std::vector<unsigned>& dims, SourceLocation at) {
  return transpose_with(x, dims.data(), dims.size(), at);
}

Expression concatenate(std::initializer_list<Expression> xs, unsigned d, SourceLocation at) {
  return add_node(kConcatenate, all(xs), ConcatenateAttr{d}, at);
}
Expression concatenate(const std::vector<Expression>& xs, unsigned d, SourceLocation at) {
  return add_node(kConcatenate, xs, ConcatenateAttr{d}, at);
}
Expression concatenate_cols(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kConcatenateCols, all(xs), ConcatenateAttr{1}, at);
}
Expression concatenate_cols(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kConcatenateCols, xs, ConcatenateAttr{1}, at);
}
Expression concatenate_to_batch(std::initializer_list<Expression> xs, SourceLocation at) {
  return add_node(kConcatenateToBatch, all(xs), {}, at);
}
Expression concatenate_to_batch(const std::vector<Expression>& xs, SourceLocation at) {
  return add_node(kConcatenateToBatch, xs, {}, at);
}

Expression nobackprop(const Expression& x, SourceLocation at) {
  return add_node(kNoBackprop, x, {}, at);
}

}  // namespace dynet
