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
  kByData  ///< what fits the training data, until they are known
};
inline const nlp::Names<Unit> kUnits = {
    {Unit::kWord, "word"}, {Unit::kCharacter, "char"}, {Unit::kPiece, "piece"}};

/// Pieces of words that were learned from how often words come (byte-pair encoding; Sennrich,
/// Haddow, Birch 2016): two neighbours that come together most often become one, again and again.
/// A piece with which a word begins has kWordBegin before it.
class Pieces {
 public:
  static constexpr const char* kWordBegin = "\u2581";  ///< as SentencePiece has it

  Pieces() = default;
  /// Makes so many merges, or fewer where no pair comes twice. Of equally frequent pairs the
  /// alphabetically first.
  Pieces(const std::map<std::string, std::size_t>& words, std::size_t merges);

  std::vector<std::string> split(const std::string& word) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& merges_;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> merges_;  ///< by pair: its place
};

/// The tokens of a text whose words stand between single spaces. With characters a space is one.
std::vector<std::string> tokens_of(const std::string& text, Unit unit, const Pieces& pieces);
/// The text again.
std::string text_of(const std::vector<std::string>& tokens, Unit unit);

}  // namespace translate
