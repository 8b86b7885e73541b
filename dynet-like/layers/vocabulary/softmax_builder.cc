#include "dynet-like/layers/vocabulary/softmax_builder.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {

Expression SoftmaxBuilder::neg_log_softmax(const Expression& rep, unsigned word,
                                           SourceLocation at) {
  return neg_log_softmax(rep, std::vector<unsigned>{word}, at);
}

StandardSoftmaxBuilder::StandardSoftmaxBuilder(ParameterCollection& model, const Settings& s)
    : SoftmaxBuilder(model.add_subcollection("standard-softmax-builder")),
      w_(collection_.add_parameters({s.num_classes, s.rep_dim})) {
  if (s.bias) b_ = collection_.add_parameters({s.num_classes}, ParameterInitConst(0.0f));
}

StandardSoftmaxBuilder::StandardSoftmaxBuilder(Parameter W)
    : StandardSoftmaxBuilder(std::move(W), {}) {}

StandardSoftmaxBuilder::StandardSoftmaxBuilder(Parameter W, Parameter b)
    : SoftmaxBuilder(ParameterCollection()), w_(std::move(W)), b_(std::move(b)) {
  if (w_.dim().nd != 2 || (b_ && b_.dim() != Dim({w_.dim().rows()})))
    throw ShapeError(
        "StandardSoftmaxBuilder: needs a matrix W and a vector b of as many rows, got " +
        to_string(w_.dim()) + (b_ ? " and " + to_string(b_.dim()) : ""));
}

StandardSoftmaxBuilder::Settings StandardSoftmaxBuilder::settings() const {
  return {w_.dim().cols(), w_.dim().rows(), static_cast<bool>(b_)};
}

void StandardSoftmaxBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  const auto put = [&](const Parameter& p) { return nn_detail::put(cg, p, update, at); };
  const Expression w = put(w_), b = b_ ? put(b_) : Expression();
  w_node_ = w;
  b_node_ = b;
}

Expression StandardSoftmaxBuilder::full_logits(const Expression& rep, SourceLocation at) {
  if (!w_node_.pg) nn_detail::fail("full_logits", "call new_graph first", at);
  return b_ ? affine_transform({b_node_, w_node_, rep}, at) : LocatedExpression(w_node_, at) * rep;
}

Expression StandardSoftmaxBuilder::full_log_distribution(const Expression& rep, SourceLocation at) {
  return log_softmax(full_logits(rep, at), at);
}

Expression StandardSoftmaxBuilder::neg_log_softmax(const Expression& rep,
                                                   const std::vector<unsigned>& words,
                                                   SourceLocation at) {
  if (!w_node_.pg) nn_detail::fail("neg_log_softmax", "call new_graph first", at);
  if (rep.dim(at).batch_elems() == 1 && words.size() > 1)
    return nn_detail::choice_loss(full_logits(rep, at), words, at);
  return b_ ? linear_cross_entropy({b_node_, w_node_, rep}, words, at)
            : linear_cross_entropy({w_node_, rep}, words, at);
}

unsigned StandardSoftmaxBuilder::sample(const Expression& rep, SourceLocation at) {
  return nn_detail::draw("sample", full_logits(rep, at), at);
}

}  // namespace dynet
