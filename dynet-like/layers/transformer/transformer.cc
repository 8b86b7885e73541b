#include "dynet-like/layers/transformer/transformer.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"

namespace dynet {
namespace nn_detail {

Norm::Norm(ParameterCollection& model, const TransformerSettings& settings)
    : rms_norm_(settings.rms_norm) {
  if (rms_norm_)
    rms_ = RMSNorm(model, {settings.size, settings.epsilon});
  else
    layer_ = LayerNorm(model, {settings.size, settings.bias, settings.epsilon});
}

Expression Norm::apply(const Expression& x, SourceLocation at) const {
  return rms_norm_ ? rms_.apply(x, at) : layer_.apply(x, at);
}

namespace {

// Adds the parameters of a layer to `model`.
TransformerLayer make_layer(ParameterCollection& model, const TransformerSettings& s) {
  TransformerLayer layer;
  layer.self = MultiHeadAttention(model, {s.size, s.heads, s.key_heads, 0, s.bias, s.causal,
                                          s.relative, s.rotary, s.rotary_base});
  layer.self_norm = Norm(model, s);
  if (s.memory) {
    layer.cross = MultiHeadAttention(model, {s.size, s.heads, s.key_heads, s.memory, s.bias});
    layer.cross_norm = Norm(model, s);
  }
  layer.feed_forward = FeedForward(model, {s.size, s.hidden, s.activation, s.bias});
  layer.feed_forward_norm = Norm(model, s);
  return layer;
}

}  // namespace

TransformerStack::TransformerStack(ParameterCollection& model, const TransformerSettings& given,
                                   const char* who, const char* name)
    : settings(given) {
  if (given.layers == 0) throw ArgumentError(std::string(who) + ": needs at least one layer");
  ParameterCollection trial;  // throws before `model` is changed
  make_layer(trial, given);
  collection_ = model.add_subcollection(name);
  for (unsigned k = 0; k < given.layers; ++k) layers.push_back(make_layer(collection_, given));
  if (given.final_norm) final_norm_ = Norm(collection_, given);
}

void TransformerStack::list_parts(Parts& parts) {
  for (TransformerLayer& layer : layers)
    parts.add(layer.self, layer.self_norm, layer.cross, layer.cross_norm, layer.feed_forward,
              layer.feed_forward_norm);
  parts.add(final_norm_);
}

void TransformerStack::set_dropout(float rate) {
  dropout_ = checked_rate(rate);
  for (TransformerLayer& layer : layers) layer.feed_forward.set_dropout(rate);
}

Expression TransformerStack::apply(const TransformerLayer& layer, Expression x, KeysValues& past,
                                   const std::vector<unsigned>& self_lengths,
                                   const KeysValues& memory,
                                   const std::vector<unsigned>& memory_lengths,
                                   SourceLocation at) const {
  // Applies a sublayer with its norm and residual connection.
  const auto around = [&](const Norm& norm, const auto& part) {
    const Expression given = settings.norm_first ? norm.apply(x, at) : x;
    const Expression result = LocatedExpression(x, at) + dropped(part(given), dropout_, at);
    x = settings.norm_first ? result : norm.apply(result, at);
  };
  around(layer.self_norm, [&](const Expression& given) {
    past = layer.self.remember(past, given, at);
    return layer.self.attend(given, past, self_lengths, at);
  });
  if (settings.memory)
    around(layer.cross_norm, [&](const Expression& given) {
      return layer.cross.attend(given, memory, memory_lengths, at);
    });
  around(layer.feed_forward_norm,
         [&](const Expression& given) { return layer.feed_forward.apply(given, at); });
  return x;
}

Expression TransformerStack::finish(const Expression& x, SourceLocation at) const {
  return settings.final_norm ? final_norm_.apply(x, at) : x;
}

}  // namespace nn_detail

namespace {

// Throws if an encoder's settings have a memory.
const TransformerSettings& of_encoder(const TransformerSettings& settings) {
  if (settings.memory)
    throw ArgumentError("TransformerEncoder: reads no memory, got one of size " +
                        std::to_string(settings.memory));
  return settings;
}

TransformerSettings of_decoder(TransformerSettings settings) {
  settings.causal = true;
  return settings;
}

}  // namespace

TransformerEncoder::TransformerEncoder(ParameterCollection& model, const Settings& settings)
    : stack_(model, of_encoder(settings), "TransformerEncoder", "transformer-encoder") {}

void TransformerEncoder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  stack_.new_graph(cg, update, at);
}

Expression TransformerEncoder::apply(const Expression& x, const std::vector<unsigned>& lengths,
                                     SourceLocation at) const {
  stack_.need_graph("apply", at);
  Expression y = x;
  for (const nn_detail::TransformerLayer& layer : stack_.layers) {
    KeysValues none;
    y = stack_.apply(layer, y, none, lengths, {}, {}, at);
  }
  return stack_.finish(y, at);
}

TransformerDecoder::TransformerDecoder(ParameterCollection& model, const Settings& settings)
    : stack_(model, of_decoder(settings), "TransformerDecoder", "transformer-decoder") {}

void TransformerDecoder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  stack_.new_graph(cg, update, at);
}

Expression TransformerDecoder::apply(const Expression& x, SourceLocation at) const {
  return step(start(at), x, at).first;
}

Expression TransformerDecoder::apply(const Expression& x, const Expression& memory,
                                     const std::vector<unsigned>& memory_lengths,
                                     SourceLocation at) const {
  return step(start(memory, memory_lengths, at), x, at).first;
}

DecoderCache TransformerDecoder::start(SourceLocation at) const {
  stack_.need_graph("start", at);
  if (stack_.settings.memory) nn_detail::fail("start", "the decoder reads a memory", at);
  DecoderCache cache;
  cache.sentence_.resize(stack_.layers.size());
  cache.memory_.resize(stack_.layers.size());
  return cache;
}

DecoderCache TransformerDecoder::start(const Expression& memory,
                                       const std::vector<unsigned>& memory_lengths,
                                       SourceLocation at) const {
  stack_.need_graph("start", at);
  if (!stack_.settings.memory) nn_detail::fail("start", "the decoder reads no memory", at);
  DecoderCache cache;
  cache.sentence_.resize(stack_.layers.size());
  for (const nn_detail::TransformerLayer& layer : stack_.layers)
    cache.memory_.push_back(layer.cross.remember(memory, at));
  cache.memory_lengths_ = memory_lengths;
  return cache;
}

std::pair<Expression, DecoderCache> TransformerDecoder::step(const DecoderCache& before,
                                                             const Expression& x,
                                                             SourceLocation at) const {
  stack_.need_graph("step", at);
  if (before.sentence_.size() != stack_.layers.size())
    nn_detail::fail("step", "the cache is of no or another decoder", at);
  DecoderCache after = before;
  Expression y = x;
  for (std::size_t k = 0; k < stack_.layers.size(); ++k)
    y = stack_.apply(stack_.layers[k], y, after.sentence_[k], {}, before.memory_[k],
                     before.memory_lengths_, at);
  return {stack_.finish(y, at), std::move(after)};
}

}  // namespace dynet
