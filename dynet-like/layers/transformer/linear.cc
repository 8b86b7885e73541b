#include "dynet-like/layers/transformer/linear.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

Linear::Linear(ParameterCollection& model, const Settings& settings)
    : LayerBase(model, "linear", {settings.input, settings.output}),
      settings_(settings),
      matrix_(collection_.add_parameters({settings.output, settings.input})) {
  if (settings.bias)
    bias_ = collection_.add_parameters({settings.output}, ParameterInitConst(0.0f));
}

void Linear::list_parts(Parts& parts) { parts.add(matrix_, bias_); }

Expression Linear::apply(const Expression& x, SourceLocation at) const {
  need_graph("apply", at);
  if (bias_) return affine_transform({bias_, matrix_, x}, at);
  return LocatedExpression(matrix_, at) * x;
}

Embedding::Embedding(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  if (settings.words == 0 || settings.size == 0)
    throw ArgumentError("Embedding: needs words and vectors of a size above zero, got " +
                        std::to_string(settings.words) + " and " + std::to_string(settings.size));
  collection_ = model.add_subcollection("embedding");
  table_ = collection_.add_lookup_parameters(settings.words, {settings.size});
}

void Embedding::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  if (settings_.words == 0) nn_detail::fail("new_graph", "the layer is empty", at);
  in_graph_ = zeros(cg, {1}, {}, at);
  transposed_ = {};
  update_ = update;
}

ComputationGraph& Embedding::graph(const char* who, SourceLocation at) const {
  if (!in_graph_.pg) nn_detail::fail(who, "call new_graph first", at);
  in_graph_.dim(at);  // throws if the graph is gone
  return *in_graph_.pg;
}

Expression Embedding::apply(const std::vector<unsigned>& sentence, SourceLocation at) const {
  ComputationGraph& cg = graph("apply", at);
  if (sentence.empty()) nn_detail::fail("apply", "a sentence needs a word", at);
  const Expression rows =
      update_ ? lookup(cg, table_, sentence, at) : const_lookup(cg, table_, sentence, at);
  return reshape(rows, Dim({settings_.size, static_cast<unsigned>(sentence.size())}), at);
}

Expression Embedding::logits(const Expression& h, SourceLocation at) {
  ComputationGraph& cg = graph("logits", at);
  if (!transposed_.pg)
    transposed_ =
        transpose(update_ ? parameter(cg, table_, at) : const_parameter(cg, table_, at), at);
  return LocatedExpression(transposed_, at) * h;
}

}  // namespace dynet
