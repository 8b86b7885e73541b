#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace translate {

/// The words of a text as mteval-v13a and sacreBLEU's `13a` find them: marks are words of their
/// own, but for points and commas within numbers.
std::vector<std::string> tokenize_13a(std::string_view text);

/// How like their references the translations of a corpus are. All figures are from 0 to 1 but for
/// the word error rate, which has no upper limit.
class TranslationScores {
 public:
  /// One more translation: texts whose words stand between spaces.
  void add(const std::string& translation, const std::string& reference);

  /// BLEU (Papineni, Roukos, Ward, Zhu 2002) as sacreBLEU computes it: n-grams up to four words,
  /// where none of a length match half of one, a quarter of one, ... counted instead.
  double bleu() const;
  /// chrF2 (Popović 2015) as sacreBLEU computes it: up to six characters, without white space.
  double chrf() const;
  /// Edits of words by words of the references, as jiwer computes it.
  double word_error_rate() const;
  /// Share of the translations that are their references, word for word.
  double exact() const;
  std::size_t sentences() const { return sentences_; }
  std::size_t words() const { return words_; }  ///< of the references

 private:
  static constexpr std::size_t kWords = 4, kCharacters = 6;
  struct Matches {
    std::size_t found = 0, wanted = 0, matched = 0;
  };

  std::array<Matches, kWords> words_of_;            ///< by length of the n-gram
  std::array<Matches, kCharacters> characters_of_;  ///< likewise
  std::size_t tokens_ = 0, wanted_tokens_ = 0;      ///< as BLEU counts them
  std::size_t sentences_ = 0, exact_ = 0, words_ = 0, edits_ = 0;
};

}  // namespace translate
