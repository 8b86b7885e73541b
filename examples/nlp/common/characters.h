#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/dynet.h"

namespace nlp {

/// The characters of UTF-8, each as its bytes.
std::vector<std::string> characters_of(std::string_view text);

/// The characters that get a vector: behind the one for all others and the one for both ends of a
/// word those that come twice or more, so that the first of all learns from the others.
std::vector<std::string> known_characters(const std::map<std::string, std::size_t>& counts);

/// Those of the words of these sentences.
template <class Sentences>
std::vector<std::string> known_characters_of(const Sentences& sentences) {
  std::map<std::string, std::size_t> counts;
  for (const auto& sentence : sentences)
    for (const std::string& word : sentence.words)
      for (const std::string& character : characters_of(word)) ++counts[character];
  return known_characters(counts);
}

/// The numbers of a word's characters.
std::vector<unsigned> character_numbers(std::string_view word, const dynet::Dict& known);

/// Makes a vector of the characters of a word: LSTMs from both sides (Ling et al., EMNLP 2015), or
/// windows of three characters and the largest of each of their outputs (Ma and Hovy, ACL 2016).
/// A word that comes again in a graph is not read again.
class CharacterEncoder {
 public:
  enum class Kind { kLstm, kCnn };
  static constexpr unsigned kCharacter = 32;  ///< size of a character's vector

  CharacterEncoder() = default;
  /// Vectors of `size` for words of so many known characters.
  CharacterEncoder(Kind kind, unsigned size, std::size_t known,
                   dynet::ParameterCollection& parameters);

  /// Declares the parameters in an empty graph.
  void begin_graph(dynet::ComputationGraph& graph);
  /// Vector {size} of a word of one character or more, given by the numbers of its characters.
  dynet::Expression encode(const std::vector<unsigned>& characters);

 private:
  dynet::Expression read(const std::vector<unsigned>& characters);

  Kind kind_ = Kind::kLstm;
  dynet::LookupParameter table_;
  dynet::LSTMBuilder forward_, backward_;
  dynet::Parameter weights_[3], bias_;  ///< of the windows
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  dynet::Expression weight_nodes_[3], bias_node_;
  std::map<std::vector<unsigned>, dynet::Expression> words_;
};

}  // namespace nlp
