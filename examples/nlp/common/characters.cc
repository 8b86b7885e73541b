#include "examples/nlp/common/characters.h"

#include "dynet-like/base/utf8.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/vocabulary.h"

namespace nlp {

using dynet::Expression;

namespace {

constexpr const char* kEnd = "<end>";
constexpr unsigned kEndNumber = 1;

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const auto [code, bytes] = dynet::first_utf8_character(text);
    if (bytes == 0) break;
    points += static_cast<char32_t>(code);
    text.remove_prefix(bytes);
  }
  return points;
}

std::string utf8(std::u32string_view points) {
  std::string text;
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  for (const char32_t point : points) {
    if (point < 0x80) {
      put(point);
      continue;
    }
    if (point < 0x800) {
      put(0xC0 | point >> 6);
    } else {
      if (point < 0x10000) {
        put(0xE0 | point >> 12);
      } else {
        put(0xF0 | point >> 18);
        put(0x80 | (point >> 12 & 0x3F));
      }
      put(0x80 | (point >> 6 & 0x3F));
    }
    put(0x80 | (point & 0x3F));
  }
  return text;
}

std::vector<std::string> known_characters(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> known = {kUnknown, kEnd};
  for (const auto& [character, count] : counts) {
    if (count > 1) known.push_back(character);
  }
  return known;
}

std::vector<unsigned> character_numbers(std::string_view word, const dynet::Dict& known) {
  std::vector<unsigned> numbers;
  for (const std::string& character : characters_of(word))
    numbers.push_back(static_cast<unsigned>(known.convert(character)));
  return numbers;
}

CharacterEncoder::CharacterEncoder(Kind kind, unsigned size, std::size_t known,
                                   dynet::ParameterCollection& parameters)
    : kind_(kind) {
  table_ =
      parameters.add_lookup_parameters(static_cast<unsigned>(known), {kCharacter}, "characters");
  if (kind == Kind::kLstm) {
    forward_ = dynet::LSTMBuilder(1, kCharacter, size - size / 2, parameters);
    if (size > 1) backward_ = dynet::LSTMBuilder(1, kCharacter, size / 2, parameters);
    return;
  }
  for (dynet::Parameter& weight : weights_)
    weight = parameters.add_parameters({size, kCharacter}, "window-weight");
  bias_ = parameters.add_parameters({size}, dynet::ParameterInitConst(0), "window-bias");
}

void CharacterEncoder::begin_graph(dynet::ComputationGraph& graph) {
  graph_ = &graph;
  words_.clear();
  if (kind_ == Kind::kLstm) {
    forward_.new_graph(graph);
    if (!backward_.params.empty()) backward_.new_graph(graph);
    return;
  }
  for (std::size_t i = 0; i < 3; ++i) weight_nodes_[i] = parameter(graph, weights_[i]);
  bias_node_ = parameter(graph, bias_);
}

Expression CharacterEncoder::encode(const std::vector<unsigned>& characters) {
  const auto [place, is_new] = words_.try_emplace(characters);
  if (is_new) place->second = read(characters);
  return place->second;
}

Expression CharacterEncoder::read(const std::vector<unsigned>& characters) {
  if (kind_ == Kind::kLstm) {
    const Expression vectors = reshape(lookup(*graph_, table_, characters),
                                       {kCharacter, static_cast<unsigned>(characters.size())});
    forward_.start_new_sequence();
    forward_.transduce_columns(vectors);
    if (backward_.params.empty()) return forward_.back();
    backward_.start_new_sequence();
    backward_.transduce_columns(vectors, true);
    return dynet::concatenate({forward_.back(), backward_.back()});
  }
  std::vector<Expression> vectors;
  for (const unsigned character : characters) vectors.push_back(lookup(*graph_, table_, character));
  const Expression end = lookup(*graph_, table_, kEndNumber);
  std::vector<Expression> windows;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Expression& before = i > 0 ? vectors[i - 1] : end;
    const Expression& behind = i + 1 < vectors.size() ? vectors[i + 1] : end;
    windows.push_back(
        dynet::affine_transform({bias_node_, weight_nodes_[0], before, weight_nodes_[1], vectors[i],
                                 weight_nodes_[2], behind}));
  }
  return tanh(dynet::max(windows));
}

}  // namespace nlp
