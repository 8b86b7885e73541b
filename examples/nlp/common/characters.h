#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/dynet.h"

namespace nlp {

/// Splits UTF-8 text into characters, each as its bytes.
std::vector<std::string> characters_of(std::string_view text);

/// Code points of a text, up to the first byte that is not UTF-8; and their text.
std::u32string code_points(std::string_view text);
std::string utf8(std::u32string_view points);

/// Characters with a vector: the unknown character, the boundary of a word, and all characters with
/// a count of two or more, so that the unknown character is trained by the rare ones.
std::vector<std::string> known_characters(const std::map<std::string, std::size_t>& counts);

/// Known characters of the words of these sentences.
template <class Sentences>
std::vector<std::string> known_characters_of(const Sentences& sentences) {
  std::map<std::string, std::size_t> counts;
  for (const auto& sentence : sentences)
    for (const std::string& word : sentence.words)
      for (const std::string& character : characters_of(word)) ++counts[character];
  return known_characters(counts);
}

/// Numbers of a word's characters.
std::vector<unsigned> character_numbers(std::string_view word, const dynet::Dict& known);

/// Encodes the characters of a word as a vector: by a bidirectional LSTM (Ling et al., EMNLP 2015),
/// or by convolutions of width three with max pooling (Ma and Hovy, ACL 2016). Each distinct word
/// of a graph is encoded once.
class CharacterEncoder {
 public:
  enum class Kind { kLstm, kCnn };
  static constexpr unsigned kCharacter = 32;  ///< size of a character vector

  CharacterEncoder() = default;
  /// Vectors of `size` for words over `known` characters.
  CharacterEncoder(Kind kind, unsigned size, std::size_t known,
                   dynet::ParameterCollection& parameters);

  /// Declares the parameters in an empty graph.
  void begin_graph(dynet::ComputationGraph& graph);
  /// Vector {size} of a non-empty word, given as character numbers.
  dynet::Expression encode(const std::vector<unsigned>& characters);

 private:
  dynet::Expression read(const std::vector<unsigned>& characters);

  Kind kind_ = Kind::kLstm;
  dynet::LookupParameter table_;
  dynet::LSTMBuilder forward_, backward_;
  dynet::Parameter weights_[3], bias_;  ///< of the convolutions
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  dynet::Expression weight_nodes_[3], bias_node_;
  std::map<std::vector<unsigned>, dynet::Expression> words_;
};

}  // namespace nlp
