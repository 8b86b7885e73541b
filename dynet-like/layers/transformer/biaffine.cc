#include "dynet-like/layers/transformer/biaffine.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

BiaffineScorer::BiaffineScorer(ParameterCollection& model, const Settings& settings)
    : LayerBase(model, "biaffine", {settings.heads, settings.dependents, settings.outputs}),
      settings_(settings) {
  const auto [heads, dependents, outputs, dependent_bias] = settings;
  // One matrix of scores for each output, stacked in rows; the product needs no transpose.
  product_ = collection_.add_parameters({outputs * heads, dependents});
  head_ = collection_.add_parameters({outputs * heads}, ParameterInitConst(0.0f));
  if (!dependent_bias) return;
  dependent_ = collection_.add_parameters({outputs, dependents});
  bias_ = collection_.add_parameters({outputs}, ParameterInitConst(0.0f));
}

void BiaffineScorer::list_parts(Parts& parts) { parts.add(product_, head_, dependent_, bias_); }

// U d + u; its product with h is the part of the score that depends on h.
Expression BiaffineScorer::weigh(const Expression& dependent, SourceLocation at) const {
  return affine_transform({head_, product_, dependent}, at);
}

Expression BiaffineScorer::all_pairs(const std::vector<Expression>& heads,
                                     const std::vector<Expression>& dependents,
                                     SourceLocation at) const {
  need_graph("all_pairs", at);
  if (settings_.outputs > 1)
    nn_detail::fail(
        "all_pairs",
        "makes one score of a pair, got " + std::to_string(settings_.outputs) + " outputs", at);
  if (heads.empty() || dependents.empty()) nn_detail::fail("all_pairs", "needs a vector", at);
  std::vector<Expression> weighed, biases;
  for (const Expression& d : dependents) {
    weighed.push_back(weigh(d, at));
    if (settings_.dependent_bias) biases.push_back(affine_transform({bias_, dependent_, d}, at));
  }
  const Expression rows = transpose(concatenate_cols(heads, at), at);
  const Expression scores = LocatedExpression(rows, at) * concatenate_cols(weighed, at);
  if (biases.empty()) return scores;
  return LocatedExpression(scores, at) + concatenate_cols(biases, at);
}

Expression BiaffineScorer::pair(const Expression& head, const Expression& dependent,
                                SourceLocation at) const {
  need_graph("pair", at);
  const Expression rows =
      reshape(weigh(dependent, at), Dim({settings_.outputs, settings_.heads}), at);
  const Expression scores = LocatedExpression(rows, at) * head;
  if (!settings_.dependent_bias) return scores;
  return LocatedExpression(scores, at) + affine_transform({bias_, dependent_, dependent}, at);
}

}  // namespace dynet
