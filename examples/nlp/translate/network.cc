#include "examples/nlp/translate/network.h"

#include <cmath>

#include "examples/nlp/common/check.h"

namespace translate {

using dynet::Expression;

Ids beginnings(const Ids& tokens) {
  Ids before = tokens;
  before.insert(before.begin(), kEndToken);
  return before;
}

namespace {

/// Tokens followed by the end.
Ids with_end(Ids tokens) {
  tokens.push_back(kEndToken);
  return tokens;
}

/// Converts columns to a batch of vectors.
Expression as_batch(const Expression& columns) {
  return reshape(columns, dynet::Dim({columns.dim().rows()}, columns.dim().cols()));
}

/// Loss of scores {V,T+1} for the tokens of a translation and its end.
Expression loss_of(const Expression& scores, const Ids& target, float smoothing) {
  return sum_batches(label_smoothed_loss(as_batch(scores), with_end(target), smoothing));
}

}  // namespace

void NetworkSettings::check() const {
  nlp::require_named("network", kKinds, kind);
  nlp::require_named("attention", kAttentions, attention);
  nlp::require_size("hidden size", size);
  nlp::require_layers(layers);
  nlp::require_number("number of heads", heads, 1, 256);
  nlp::require_size("feed-forward size", feed_forward);
  nlp::require_dropout(dropout);
  nlp::require(kind == Kind::kLstm || (size % heads == 0 && !copy),
               "its network is no transformer that " + std::to_string(heads) + " heads fit");
}

LstmNetwork::LstmNetwork(const NetworkSettings& settings, unsigned source_tokens,
                         unsigned target_tokens, dynet::ParameterCollection& parameters)
    : settings_(settings), target_tokens_(target_tokens) {
  const unsigned size = settings.size;
  source_table_ = parameters.add_lookup_parameters(source_tokens, {size}, "source");
  target_table_ = parameters.add_lookup_parameters(target_tokens, {size}, "target");
  encoder_.emplace_back(settings.layers, size, 2 * size, parameters);
  decoder_ = dynet::VanillaLSTMBuilder(settings.layers, 2 * size, size, parameters);
  memory_ = dynet::Linear(parameters, {2 * size, size, false});
  first_ = dynet::Linear(parameters, {2 * size, size});
  if (settings.attention != Attention::kDot)
    query_ = dynet::Linear(parameters, {size, size, false});
  if (settings.attention == Attention::kAdditive) {
    key_ = dynet::Linear(parameters, {size, size});
    weigh_ = dynet::Linear(parameters, {size, 1, false});
  }
  combine_ = dynet::Linear(parameters, {2 * size, size});
  output_ = dynet::Linear(parameters, {size, target_tokens});
  if (settings.copy) gate_ = dynet::CopyGate(parameters, {size});
}

void LstmNetwork::begin_graph(dynet::ComputationGraph& graph, bool training) {
  graph_ = &graph;
  training_ = training;
  encoder_[0].new_graph(graph);
  if (training)
    decoder_.set_dropout(settings_.layers > 1 ? settings_.dropout : 0.0f);
  else
    decoder_.disable_dropout();
  decoder_.new_graph(graph);
  decoder_.start_new_sequence();
  for (dynet::Linear* layer : {&memory_, &first_, &combine_, &output_}) layer->new_graph(graph);
  if (settings_.copy) gate_.new_graph(graph);
  if (settings_.attention != Attention::kDot) query_.new_graph(graph);
  if (settings_.attention != Attention::kAdditive) return;
  key_.new_graph(graph);
  weigh_.new_graph(graph);
}

Expression LstmNetwork::dropped(const Expression& x) const {
  return training_ && settings_.dropout > 0 ? dropout(x, settings_.dropout) : x;
}

LstmNetwork::State LstmNetwork::start(const Source& source) {
  std::vector<Expression> vectors;
  for (const unsigned token : source.tokens)
    vectors.push_back(dropped(lookup(*graph_, source_table_, token)));
  const std::vector<Expression> read = encoder_[0].transduce(vectors);
  State state{{}, std::make_shared<Source>(source), dynet::RNNPointer(-1), {}, {}};
  state.memory.columns = memory_.apply(dropped(concatenate_cols(read)));
  state.memory.keys = settings_.attention == Attention::kAdditive ? key_.apply(state.memory.columns)
                                                                  : transpose(state.memory.columns);
  const unsigned size = settings_.size;
  state.seen = tanh(first_.apply(dynet::concatenate(
      {pick_range(read.back(), 0, size), pick_range(read.front(), size, 2 * size)})));
  return state;
}

Expression LstmNetwork::fits(const Memory& memory, const Expression& query) const {
  switch (settings_.attention) {
    case Attention::kDot:
      return memory.keys * query / std::sqrt(static_cast<float>(settings_.size));
    case Attention::kGeneral:
      return memory.keys * query_.apply(query);
    case Attention::kAdditive:
      return reshape(weigh_.apply(tanh(colwise_add(memory.keys, query_.apply(query)))),
                     {memory.keys.dim()[1]});
  }
  return {};
}

Expression LstmNetwork::advance(State& state, unsigned last) {
  // A token that can only be copied has no vector.
  const unsigned known = last < target_tokens_ ? last : kUnknownToken;
  const Expression x =
      dynet::concatenate({dropped(lookup(*graph_, target_table_, known)), state.seen});
  const Expression query = decoder_.add_input(state.at, x);
  state.at = decoder_.state();
  const Expression scores = fits(state.memory, query);
  state.looked.push_back(softmax(scores));
  const Expression read = state.memory.columns * state.looked.back();
  state.seen = dropped(tanh(combine_.apply(dynet::concatenate({query, read}))));
  return scores;
}

Expression LstmNetwork::step(State& state, unsigned last) {
  const Expression fits = advance(state, last), scores = output_.apply(state.seen);
  if (!settings_.copy) return log_softmax(scores);
  const dynet::ExtendedSource& to_copy = state.source->to_copy;
  return copy_log_distribution(gate_.apply(state.seen), scores, fits, to_copy.numbers,
                               static_cast<unsigned>(to_copy.others.size()));
}

LstmNetwork::Steps LstmNetwork::steps(const Source& source, const Ids& read) {
  State state = start(source);
  std::vector<Expression> seen, fits;
  for (const unsigned last : read) {
    fits.push_back(advance(state, last));
    seen.push_back(state.seen);
  }
  return {concatenate_cols(seen), concatenate_cols(fits)};
}

Expression LstmNetwork::scores(const Source& source, const Ids& read) {
  return output_.apply(steps(source, read).seen);
}

Expression LstmNetwork::loss(const Source& source, const Ids& target, float smoothing,
                             const Ids& read) {
  if (!settings_.copy) return loss_of(scores(source, read), target, smoothing);
  const Steps all = steps(source, read);
  const Expression seen = as_batch(all.seen);
  return -sum_batches(copy_log_prob(gate_.apply(seen), output_.apply(seen), as_batch(all.fits),
                                    {source.to_copy.numbers}, with_end(target)));
}

TransformerNetwork::TransformerNetwork(const NetworkSettings& settings, unsigned source_tokens,
                                       unsigned target_tokens,
                                       dynet::ParameterCollection& parameters)
    : settings_(settings),
      source_table_(parameters, {source_tokens, settings.size}),
      target_table_(parameters, {target_tokens, settings.size}) {
  dynet::TransformerSettings stack{.layers = settings.layers,
                                   .size = settings.size,
                                   .heads = settings.heads,
                                   .hidden = settings.feed_forward,
                                   .norm_first = true,
                                   .final_norm = true};
  encoder_ = dynet::TransformerEncoder(parameters, stack);
  stack.memory = settings.size;
  decoder_ = dynet::TransformerDecoder(parameters, stack);
}

void TransformerNetwork::begin_graph(dynet::ComputationGraph& graph, bool training) {
  graph_ = &graph;
  training_ = training;
  encoder_.set_dropout(training ? settings_.dropout : 0.0f);
  decoder_.set_dropout(training ? settings_.dropout : 0.0f);
  source_table_.new_graph(graph);
  target_table_.new_graph(graph);
  encoder_.new_graph(graph);
  decoder_.new_graph(graph);
}

Expression TransformerNetwork::placed(const Expression& x, unsigned first) const {
  const float scale = std::sqrt(static_cast<float>(settings_.size));
  const Expression y =
      x * scale + sinusoidal_positions(*graph_, settings_.size, x.dim().cols(), first);
  return training_ && settings_.dropout > 0 ? dropout(y, settings_.dropout) : y;
}

TransformerNetwork::State TransformerNetwork::start(const Source& source) {
  return decoder_.start(encoder_.apply(placed(source_table_.apply(source.tokens), 0)));
}

Expression TransformerNetwork::step(State& state, unsigned last) {
  auto [y, now] = decoder_.step(state, placed(target_table_.apply({last}), state.size()));
  state = std::move(now);
  return log_softmax(target_table_.logits(y));
}

Expression TransformerNetwork::scores(const Source& source, const Ids& read) {
  const Expression memory = encoder_.apply(placed(source_table_.apply(source.tokens), 0));
  return target_table_.logits(decoder_.apply(placed(target_table_.apply(read), 0), memory));
}

Expression TransformerNetwork::loss(const Source& source, const Ids& target, float smoothing,
                                    const Ids& read) {
  return loss_of(scores(source, read), target, smoothing);
}

}  // namespace translate
