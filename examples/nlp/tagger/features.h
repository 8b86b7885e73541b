#pragma once

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <string>
#include <vector>

namespace tagger {

/// Feature of a word with its own vector; the vectors of all features are concatenated.
///
///  - `word`: the word unchanged
///  - `lower`: the word in lower case
///  - `shape`: its character classes without repeats: `McDonald's` is `XxXx'x`
///  - `prefixN`, `suffixN`: its first or last N characters (1 to 9), in lower case
///  - `charlstm`, `charcnn`: computed from its characters, see nlp::CharacterEncoder; `char` means
///    `charlstm`
struct Feature {
  std::string name;
  unsigned dim = 0;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& name& dim;
  }
  bool operator==(const Feature& other) const = default;
};

/// Parses "word:128,suffix3:32,shape"; features without a size get a default size. Throws UserError
/// for unknown or repeated features and for sizes outside 1 ... 4096.
std::vector<Feature> parse_features(const std::string& text);
std::string features_text(const std::vector<Feature>& features);

/// Value of a feature for a word.
std::string view_of(const std::string& word, const std::string& feature);

/// True for features that identify most words (`word`, `lower`), which are randomly hidden in
/// training.
bool identifies_word(const std::string& feature);

/// True for `charlstm` and `charcnn`, which have no value per word.
bool reads_characters(const std::string& feature);

}  // namespace tagger
