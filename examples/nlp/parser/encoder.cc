#include "examples/nlp/parser/encoder.h"

namespace parser {

using dynet::Expression;

Encoder::Encoder(const Description& description, dynet::ParameterCollection& parameters)
    : dropout_(description.settings.dropout),
      reads_characters_(description.settings.character > 0) {
  const ModelSettings& settings = description.settings;
  const auto rows = [](const auto& texts) { return static_cast<unsigned>(texts.size()); };
  words_ = parameters.add_lookup_parameters(rows(description.words), {settings.word}, "words");
  tags_ = parameters.add_lookup_parameters(rows(description.tags), {settings.tag}, "tags");
  if (reads_characters_)
    characters_ = nlp::CharacterEncoder(nlp::CharacterEncoder::Kind::kLstm, settings.character,
                                        rows(description.characters), parameters);
  const unsigned both = 2 * settings.hidden,
                 word = settings.word + settings.tag + settings.character;
  for (unsigned i = 0; i < 2 * settings.layers; ++i) {
    const unsigned input = i < 2 ? word : both;
    lstms_.emplace_back(1, input, settings.hidden, parameters);
  }
  root_ = parameters.add_parameters({both}, "root");
}

void Encoder::begin_graph(dynet::ComputationGraph& graph, bool training) {
  graph_ = &graph;
  training_ = training;
  for (dynet::LSTMBuilder& lstm : lstms_) lstm.new_graph(graph);
  if (reads_characters_) characters_.begin_graph(graph);
  root_node_ = parameter(graph, root_);
}

Vectors Encoder::read(const Encoded& sentence) {
  const std::size_t words = sentence.size();
  Vectors vectors(words);
  for (std::size_t i = 0; i < words; ++i) {
    std::vector<Expression> views = {lookup(*graph_, words_, sentence.words[i]),
                                     lookup(*graph_, tags_, sentence.tags[i])};
    if (reads_characters_) views.push_back(characters_.encode(sentence.characters[i]));
    vectors[i] = dynet::concatenate(views);
  }
  for (std::size_t layer = 0; layer < lstms_.size(); layer += 2) {
    dynet::LSTMBuilder& forward = lstms_[layer];
    dynet::LSTMBuilder& backward = lstms_[layer + 1];
    forward.start_new_sequence();
    backward.start_new_sequence();
    Vectors from_left(words), from_right(words);
    for (Expression& vector : vectors) vector = dropped(vector, dropout_, training_);
    for (std::size_t i = 0; i < words; ++i) from_left[i] = forward.add_input(vectors[i]);
    for (std::size_t i = words; i-- > 0;) from_right[i] = backward.add_input(vectors[i]);
    for (std::size_t i = 0; i < words; ++i) {
      vectors[i] = dynet::concatenate({from_left[i], from_right[i]});
    }
  }
  for (Expression& vector : vectors) vector = dropped(vector, dropout_, training_);
  vectors.insert(vectors.begin(), root_node_);
  return vectors;
}

}  // namespace parser
