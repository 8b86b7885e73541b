#include "transformer.h"

#include <cmath>
#include <utility>

namespace rnnlm {

Transformer::Transformer(const TransformerShape& shape, unsigned layers, unsigned size,
                         dynet::ParameterCollection& parameters)
    : shape_(shape), size_(size) {
  if (shape.positions == Positions::kLearned)
    learned_ = dynet::LearnedPositions(parameters, {shape.context, size});
  decoder_ =
      dynet::TransformerDecoder(parameters, {.layers = layers,
                                             .size = size,
                                             .heads = shape.heads,
                                             .hidden = shape.feed_forward,
                                             .norm_first = true,
                                             .final_norm = true,
                                             .rotary = shape.positions == Positions::kRotary});
}

void Transformer::new_graph(dynet::ComputationGraph& graph, float dropout) {
  graph_ = &graph;
  dropout_ = dropout;
  decoder_.set_dropout(dropout);
  decoder_.new_graph(graph);
  if (shape_.positions == Positions::kLearned) learned_.new_graph(graph);
  start();
}

unsigned Transformer::room() const {
  const unsigned left = shape_.context - cache_.size();
  return left > 0 ? left : shape_.context;
}

dynet::Expression Transformer::read(const dynet::Expression& vectors) {
  if (cache_.size() == shape_.context) start();
  const unsigned first = cache_.size(), count = vectors.dim().cols();
  const float scale = std::sqrt(static_cast<float>(size_));
  dynet::Expression x = vectors;
  if (shape_.positions == Positions::kLearned) x = x + learned_.apply(count, first);
  x = x * scale;
  if (shape_.positions == Positions::kSinusoidal)
    x = x + sinusoidal_positions(*graph_, size_, count, first);
  if (dropout_ > 0) x = dropout(x, dropout_);
  auto [y, now] = decoder_.step(cache_, x);
  cache_ = std::move(now);
  return y;
}

}  // namespace rnnlm
