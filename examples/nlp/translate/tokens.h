#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/nlp/common/names.h"

namespace translate {

/// Unit that a text is split into.
enum class Unit {
  kWord,
  kCharacter,
  kPiece,
  kByData  ///< chosen by the training data
};
inline const nlp::Names<Unit> kUnits = {
    {Unit::kWord, "word"}, {Unit::kCharacter, "char"}, {Unit::kPiece, "piece"}};

/// Subword units learned from word counts (byte-pair encoding; Sennrich, Haddow, Birch 2016):
/// repeatedly merges the most frequent pair of neighbours. The first piece of a word starts with
/// kWordBegin.
class Pieces {
 public:
  static constexpr const char* kWordBegin = "\u2581";  ///< as in SentencePiece

  Pieces() = default;
  /// Learns `merges` merges, or fewer if no pair occurs twice. Ties are decided alphabetically.
  Pieces(const std::map<std::string, std::size_t>& words, std::size_t merges);

  std::vector<std::string> split(const std::string& word) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& merges_;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> merges_;  ///< rank of each pair
};

/// Tokens of a text with words separated by single spaces. With Unit::kCharacter a space is a
/// token.
std::vector<std::string> tokens_of(const std::string& text, Unit unit, const Pieces& pieces);
/// The text of tokens, the inverse of tokens_of.
std::string text_of(const std::vector<std::string>& tokens, Unit unit);

}  // namespace translate
