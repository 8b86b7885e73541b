#include "examples/nlp/translate/network.h"

#include <cmath>

namespace translate {

using dynet::Expression;

namespace {

/// What comes before each token of a text, and before its end.
Ids beginnings(const Ids& tokens) {
  Ids before = tokens;
  before.insert(before.begin(), kEndToken);
  return before;
}

}  // namespace

LstmNetwork::LstmNetwork(const NetworkSettings& settings, unsigned source_tokens,
                         unsigned target_tokens, dynet::ParameterCollection& parameters)
    : settings_(settings) {
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
  if (settings_.attention != Attention::kDot) query_.new_graph(graph);
  if (settings_.attention != Attention::kAdditive) return;
  key_.new_graph(graph);
  weigh_.new_graph(graph);
}

Expression LstmNetwork::dropped(const Expression& x) const {
  return training_ && settings_.dropout > 0 ? dropout(x, settings_.dropout) : x;
}

LstmNetwork::State LstmNetwork::start(const Ids& source) {
  std::vector<Expression> vectors;
  for (const unsigned token : source)
    vectors.push_back(dropped(lookup(*graph_, source_table_, token)));
  const std::vector<Expression> read = encoder_[0].transduce(vectors);
  State state{{}, dynet::RNNPointer(-1), {}};
  state.memory.columns = memory_.apply(dropped(concatenate_cols(read)));
  state.memory.keys = settings_.attention == Attention::kAdditive ? key_.apply(state.memory.columns)
                                                                  : transpose(state.memory.columns);
  const unsigned size = settings_.size;
  state.seen = tanh(first_.apply(dynet::concatenate(
      {pick_range(read.back(), 0, size), pick_range(read.front(), size, 2 * size)})));
  return state;
}

// What the places of the source say, weighted with how well each fits.
Expression LstmNetwork::attend(const Memory& memory, const Expression& query) const {
  Expression fits;
  switch (settings_.attention) {
    case Attention::kDot:
      fits = memory.keys * query / std::sqrt(static_cast<float>(settings_.size));
      break;
    case Attention::kGeneral:
      fits = memory.keys * query_.apply(query);
      break;
    case Attention::kAdditive:
      fits = transpose(weigh_.apply(tanh(colwise_add(memory.keys, query_.apply(query)))));
  }
  return memory.columns * softmax(fits);
}

Expression LstmNetwork::advance(State& state, unsigned last) {
  const Expression x =
      dynet::concatenate({dropped(lookup(*graph_, target_table_, last)), state.seen});
  const Expression query = decoder_.add_input(state.at, x);
  state.at = decoder_.state();
  state.seen =
      dropped(tanh(combine_.apply(dynet::concatenate({query, attend(state.memory, query)}))));
  return state.seen;
}

Expression LstmNetwork::step(State& state, unsigned last) {
  return log_softmax(output_.apply(advance(state, last)));
}

Expression LstmNetwork::scores(const Ids& source, const Ids& target) {
  State state = start(source);
  std::vector<Expression> columns;
  for (const unsigned last : beginnings(target)) columns.push_back(advance(state, last));
  return output_.apply(concatenate_cols(columns));
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
                                   .hidden = settings.hidden,
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

Expression TransformerNetwork::read(const Ids& source) {
  return encoder_.apply(placed(source_table_.apply(source), 0));
}

TransformerNetwork::State TransformerNetwork::start(const Ids& source) {
  return decoder_.start(read(source));
}

Expression TransformerNetwork::step(State& state, unsigned last) {
  auto [y, now] = decoder_.step(state, placed(target_table_.apply({last}), state.size()));
  state = std::move(now);
  return log_softmax(target_table_.logits(y));
}

Expression TransformerNetwork::scores(const Ids& source, const Ids& target) {
  const Expression x = placed(target_table_.apply(beginnings(target)), 0);
  return target_table_.logits(decoder_.apply(x, read(source)));
}

}  // namespace translate
