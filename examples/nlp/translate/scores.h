#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace translate {

/// Tokenizes like mteval-v13a and sacreBLEU's `13a`: punctuation marks are separate words, except
/// periods and commas inside numbers.
std::vector<std::string> tokenize_13a(std::string_view text);

/// Similarity of translations to their references. All scores range from 0 to 1 except the word
/// error rate, which has no upper limit.
class TranslationScores {
 public:
  /// Adds a translation; words are separated by spaces.
  void add(const std::string& translation, const std::string& reference);

  /// BLEU (Papineni, Roukos, Ward, Zhu 2002) as in sacreBLEU: n-grams of up to four words, with
  /// exponential smoothing: zero matches of a length count as 1/2, 1/4, ...
  double bleu() const;
  /// chrF2 (Popović 2015) as in sacreBLEU: up to six characters, without white space.
  double chrf() const;
  /// Word edits over words of the references, as in jiwer.
  double word_error_rate() const;
  /// Share of translations equal to their reference, word for word.
  double exact() const;
  std::size_t sentences() const { return sentences_; }
  std::size_t words() const { return words_; }  ///< words of the references

 private:
  static constexpr std::size_t kWords = 4, kCharacters = 6;
  struct Matches {
    std::size_t found = 0, wanted = 0, matched = 0;
  };

  std::array<Matches, kWords> words_of_;            ///< by length of the n-gram
  std::array<Matches, kCharacters> characters_of_;  ///< by length of the n-gram
  std::size_t tokens_ = 0, wanted_tokens_ = 0;      ///< tokens of BLEU
  std::size_t sentences_ = 0, exact_ = 0, words_ = 0, edits_ = 0;
};

}  // namespace translate
