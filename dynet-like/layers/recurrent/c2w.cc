#include "dynet-like/layers/recurrent/c2w.h"

#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/selection.h"

namespace dynet {

namespace {

ParameterCollection add_collection(ParameterCollection& model, const C2WBuilder::Settings& s) {
  if (s.layers == 0 || s.hidden_dim % 2)
    throw ArgumentError("C2WBuilder: needs a layer and an even hidden size, got " +
                        std::to_string(s.layers) + " and " + std::to_string(s.hidden_dim));
  return nn_detail::add_collection(model, "c2w-builder", s.layers, s.input_dim, s.hidden_dim);
}

}  // namespace

C2WBuilder::C2WBuilder(ParameterCollection& model, const Settings& s)
    : settings_(s),
      collection_(add_collection(model, s)),
      p_lookup(collection_.add_lookup_parameters(s.vocab_size, {s.input_dim})),
      fc2w_rnn(s.layers, s.input_dim, s.hidden_dim / 2, collection_),
      rc2w_rnn(s.layers, s.input_dim, s.hidden_dim / 2, collection_) {}

void C2WBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  in_graph_ = {};
  fc2w_rnn.new_graph(cg, update, at);
  rc2w_rnn.new_graph(cg, update, at);
  in_graph_ = zeros(cg, {1}, {}, at);
  update_ = update;
}

Expression C2WBuilder::compose(const std::vector<unsigned>& characters, SourceLocation at) {
  if (!in_graph_.pg) nn_detail::fail("compose", "call new_graph first", at);
  in_graph_.dim(at);  // throws if the graph is gone
  ComputationGraph& graph = *in_graph_.pg;
  if (characters.empty()) nn_detail::fail("compose", "a word needs a character", at);
  fc2w_rnn.start_new_sequence({}, at);
  rc2w_rnn.start_new_sequence({}, at);
  const Expression rows = update_ ? lookup(graph, p_lookup, characters, at)
                                  : const_lookup(graph, p_lookup, characters, at);
  const Expression xs =
      reshape(rows, {settings_.input_dim, static_cast<unsigned>(characters.size())}, at);
  fc2w_rnn.transduce_columns(xs, false, at);
  rc2w_rnn.transduce_columns(xs, true, at);
  return concatenate({fc2w_rnn.back(at), rc2w_rnn.back(at)}, 0, at);
}

void C2WBuilder::set_dropout(float d, float d_h) {
  fc2w_rnn.set_dropout(d, d_h);
  rc2w_rnn.set_dropout(d, d_h);
}

}  // namespace dynet
