#include "dynet-like/layers/transformer/positions.h"

#include <cmath>
#include <numeric>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

namespace {

// Divisors of positions: base^(2i / size) for each pair (2i, 2i + 1) of `size` elements.
std::vector<double> wavelengths(unsigned size, double base) {
  std::vector<double> lengths;
  for (unsigned row = 0; row < size; row += 2)
    lengths.push_back(std::pow(base, double(row) / size));
  return lengths;
}

}  // namespace

Expression sinusoidal_positions(ComputationGraph& cg, unsigned size, unsigned count, unsigned first,
                                SourceLocation at) {
  if (size == 0 || count == 0)
    nn_detail::fail("sinusoidal_positions", "needs a size and a position", at);
  const std::vector<double> lengths = wavelengths(size, 10000);
  std::vector<float> values;
  values.reserve(std::size_t{size} * count);
  for (unsigned t = 0; t < count; ++t)
    for (unsigned row = 0; row < size; ++row) {
      const double angle = (double(first) + t) / lengths[row / 2];
      values.push_back(static_cast<float>(row % 2 ? std::cos(angle) : std::sin(angle)));
    }
  return input(cg, Dim({size, count}), values, {}, at);
}

Expression rotary_positions(const Expression& x, unsigned heads, int first, float base,
                            SourceLocation at) {
  if (heads == 0) nn_detail::fail("rotary_positions", "needs a head", at);
  if (!(base > 1) || !std::isfinite(base))
    nn_detail::fail("rotary_positions",
                    "needs a finite base above one, got " + std::to_string(base), at);
  const Dim d = x.dim(at);
  if (d.nd > 2 || d.rows() % (2 * heads))
    throw ShapeError("rotary_positions: needs columns of " + std::to_string(heads) +
                     " heads of an even size, got " + to_string(d) + "\n  at " + to_string(at));
  const unsigned size = d.rows() / heads, half = size / 2, count = d.cols();
  const std::vector<double> lengths = wavelengths(size, static_cast<double>(base));
  std::vector<float> cosines(std::size_t{size} * count), sines(cosines.size());
  for (unsigned t = 0; t < count; ++t)
    for (unsigned i = 0; i < half; ++i) {
      const double angle = (double(first) + t) / lengths[i];
      const std::size_t at_first = std::size_t{t} * size + i, at_second = at_first + half;
      cosines[at_first] = cosines[at_second] = static_cast<float>(std::cos(angle));
      sines[at_second] = static_cast<float>(std::sin(angle));
      sines[at_first] = -sines[at_second];
    }
  std::vector<unsigned> partners(size);
  for (unsigned i = 0; i < size; ++i) partners[i] = (i + half) % size;
  ComputationGraph& cg = *x.pg;
  const Dim each({size, 1, count});  // shared by all heads
  const Expression split = reshape(x, Dim({size, heads, count}), at);
  const Expression straight = cmult(split, input(cg, each, cosines, {}, at), at);
  const Expression across =
      cmult(select_rows(split, partners, at), input(cg, each, sines, {}, at), at);
  const Expression turned = LocatedExpression(straight, at) + across;
  return reshape(turned, d, at);
}

LearnedPositions::LearnedPositions(ParameterCollection& model, const Settings& settings)
    : settings_(settings) {
  if (settings.positions == 0 || settings.size == 0)
    throw ArgumentError("LearnedPositions: needs positions and vectors of a size above zero, got " +
                        std::to_string(settings.positions) + " and " +
                        std::to_string(settings.size));
  collection_ = model.add_subcollection("positions");
  table_ = Embedding(collection_, {settings.positions, settings.size});
}

void LearnedPositions::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  table_.new_graph(cg, update, at);
}

Expression LearnedPositions::apply(unsigned count, unsigned first, SourceLocation at) const {
  if (count > settings_.positions || first > settings_.positions - count)
    nn_detail::fail("apply",
                    "there are " + std::to_string(settings_.positions) + " positions, asked for " +
                        std::to_string(count) + " from " + std::to_string(first),
                    at);
  std::vector<unsigned> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return table_.apply(rows, at);
}

}  // namespace dynet
