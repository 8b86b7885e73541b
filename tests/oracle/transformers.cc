#include "tests/oracle/models.h"

namespace dynet::test {
namespace {

/// Settings of both transformers: layers, heads, hidden, norm_first, final_norm, gelu.
constexpr std::size_t kShared = 6;

TransformerSettings settings_of(const Case& c, unsigned size) {
  TransformerSettings s;
  s.layers = c.setting(0);
  s.size = size;
  s.heads = c.setting(1);
  s.hidden = c.setting(2);
  s.norm_first = c.setting(3) != 0;
  s.final_norm = c.setting(4) != 0;
  if (c.setting(5)) s.activation = Activation::gelu;
  return s;
}

/// Operands: x, memory, parameters. Settings: heads, causal, bias, lengths of the memory.
Expression attention_layer(Case& c) {
  MultiHeadAttention layer(c.model, {c.x[0].dim().rows(), c.setting(0), 0, c.x[1].dim().rows(),
                                     c.setting(2) != 0, c.setting(1) != 0});
  c.lend(layer.get_parameter_collection(), 2);
  layer.new_graph(c.g);
  return layer.apply(c.x[0], c.x[1], c.settings(3));
}

/// Operands: x, parameters. Further settings: causal, lengths.
Expression encoder(Case& c) {
  TransformerSettings s = settings_of(c, c.x[0].dim().rows());
  s.causal = c.setting(kShared) != 0;
  TransformerEncoder layers(c.model, s);
  c.lend(layers.get_parameter_collection(), 1);
  layers.new_graph(c.g);
  return layers.apply(c.x[0], c.settings(kShared + 1));
}

/// Operands: x, memory, parameters. Further settings: whether position by position, lengths of the
/// memory.
Expression decoder(Case& c) {
  TransformerSettings s = settings_of(c, c.x[0].dim().rows());
  s.memory = c.x[1].dim().rows();
  TransformerDecoder layers(c.model, s);
  c.lend(layers.get_parameter_collection(), 2);
  layers.new_graph(c.g);
  const std::vector<unsigned> lengths = c.settings(kShared + 1);
  if (!c.setting(kShared)) return layers.apply(c.x[0], c.x[1], lengths);
  DecoderCache cache = layers.start(c.x[1], lengths);
  std::vector<Expression> columns;
  for (unsigned t = 0; t < c.x[0].dim().cols(); ++t) {
    auto [y, after] = layers.step(cache, pick(c.x[0], t, 1));
    columns.push_back(y);
    cache = after;
  }
  return concatenate_cols(columns);
}

/// Operands: source, target, parameters of the encoder, then of the decoder. Further settings:
/// lengths of the source.
Expression transformer(Case& c) {
  TransformerSettings s = settings_of(c, c.x[0].dim().rows());
  TransformerEncoder reader(c.model, s);
  s.memory = s.size;
  TransformerDecoder writer(c.model, s);
  c.lend(reader.get_parameter_collection(), 2);
  c.lend(writer.get_parameter_collection(),
         2 + reader.get_parameter_collection().parameters_list().size());
  reader.new_graph(c.g);
  writer.new_graph(c.g);
  const std::vector<unsigned> lengths = c.settings(kShared);
  return writer.apply(c.x[1], reader.apply(c.x[0], lengths), lengths);
}

}  // namespace

const Builders& transformers() {
  static const Builders all = {
      {"model_attention_layer", attention_layer},
      {"model_transformer_encoder", encoder},
      {"model_transformer_decoder", decoder},
      {"model_transformer", transformer},
  };
  return all;
}

}  // namespace dynet::test
