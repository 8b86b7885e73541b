#pragma once

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <string>
#include <vector>

namespace tagger {

/// One view of a word that gets a vector of its own; the vectors of all views are concatenated.
///
///  - `word`: the word as it is
///  - `lower`: the word in lower case
///  - `shape`: its kinds of characters, repeats once: `McDonald's` is `XxXx'x`
///  - `prefixN`, `suffixN`: its first or last N characters (1 to 9), in lower case
///  - `charlstm`, `charcnn`: made of its characters, see nlp::CharacterEncoder; `char` is the first
struct Feature {
  std::string name;
  unsigned dim = 0;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& name& dim;
  }
  bool operator==(const Feature& other) const = default;
};

/// Reads "word:128,suffix3:32,shape"; a view without a size gets a usual one. Throws UserError
/// for an unknown or repeated view and for sizes outside 1 ... 4096.
std::vector<Feature> parse_features(const std::string& text);
std::string features_text(const std::vector<Feature>& features);

/// The view of that name of a word.
std::string view_of(const std::string& word, const std::string& feature);

/// True for the views that tell most words apart (`word`, `lower`): these are hidden now and then
/// in training.
bool identifies_word(const std::string& feature);

/// True for `charlstm` and `charcnn`, which have no view.
bool reads_characters(const std::string& feature);

}  // namespace tagger
