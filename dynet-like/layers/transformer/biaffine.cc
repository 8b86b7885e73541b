#include "dynet-like/layers/transformer/biaffine.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

BiaffineScorer::BiaffineScorer(ParameterCollection& model, const Settings& settings)
    : settings_(settings) {
  const auto [heads, dependents, outputs, dependent_bias] = settings;
  if (heads == 0 || dependents == 0 || outputs == 0)
    throw ArgumentError("BiaffineScorer: needs vectors and outputs of a size above zero, got " +
                        std::to_string(heads) + ", " + std::to_string(dependents) + " and " +
                        std::to_string(outputs));
  collection_ = model.add_subcollection("biaffine");
  // One matrix of scores for each output, stacked in rows; the product needs no transpose.
  product_ = collection_.add_parameters({outputs * heads, dependents});
  head_ = collection_.add_parameters({outputs * heads}, ParameterInitConst(0.0f));
  if (!dependent_bias) return;
  dependent_ = collection_.add_parameters({outputs, dependents});
  bias_ = collection_.add_parameters({outputs}, ParameterInitConst(0.0f));
}

void BiaffineScorer::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  if (settings_.outputs == 0 || settings_.heads == 0)
    nn_detail::fail("new_graph", "the layer is empty", at);
  const auto put = [&](const Parameter& p) { return nn_detail::put(cg, p, update, at); };
  const Expression product = put(product_), head = put(head_);
  if (settings_.dependent_bias) {
    const Expression dependent = put(dependent_);
    bias_node_ = put(bias_);
    dependent_node_ = dependent;
  }
  product_node_ = product;
  head_node_ = head;
}

void BiaffineScorer::need_graph(const char* who, SourceLocation at) const {
  if (!product_node_.pg) nn_detail::fail(who, "call new_graph first", at);
}

// U d + u; its product with h is the part of the score that depends on h.
Expression BiaffineScorer::weigh(const Expression& dependent, SourceLocation at) const {
  return affine_transform({head_node_, product_node_, dependent}, at);
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
    if (settings_.dependent_bias)
      biases.push_back(affine_transform({bias_node_, dependent_node_, d}, at));
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
  return LocatedExpression(scores, at) +
         affine_transform({bias_node_, dependent_node_, dependent}, at);
}

}  // namespace dynet
