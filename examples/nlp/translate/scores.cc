#include "examples/nlp/translate/scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/text.h"

namespace translate {
namespace {

using Words = std::vector<std::string>;

/// Replaces non-overlapping pairs of neighbours that match, from left to right.
template <class First, class Second, class Replace>
std::string with_pairs(const std::string& text, First first, Second second, Replace replace) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      result += replace(text[i], text[i + 1]);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string with_all(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

bool is_mark(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

std::map<Words, std::size_t> ngrams(const Words& words, std::size_t length) {
  std::map<Words, std::size_t> counts;
  for (std::size_t i = 0; i + length <= words.size(); ++i) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
    ++counts[Words(begin, begin + static_cast<std::ptrdiff_t>(length))];
  }
  return counts;
}

template <class Matches>
void count_ngrams(const Words& translation, const Words& reference, std::size_t length,
                  Matches& all) {
  const auto found = ngrams(translation, length), wanted = ngrams(reference, length);
  for (const auto& [ngram, count] : found) {
    all.found += count;
    const auto at = wanted.find(ngram);
    if (at != wanted.end()) all.matched += std::min(count, at->second);
  }
  for (const auto& [ngram, count] : wanted) all.wanted += count;
}

/// Levenshtein distance.
std::size_t edits(const Words& a, const Words& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({other, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

double ratio(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

std::vector<std::string> tokenize_13a(std::string_view text) {
  std::string line(text);
  line = with_all(std::move(line), "<skipped>", "");
  for (const auto& [name, mark] :
       {std::pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    line = with_all(std::move(line), name, mark);
  std::string spaced = " ";
  for (const char c : line) spaced += is_mark(c) ? std::string{' ', c, ' '} : std::string{c};
  spaced += ' ';
  const auto is_point = [](char c) { return c == '.' || c == ','; };
  const auto is_other = [](char c) { return !nlp::is_digit(c); };
  spaced = with_pairs(spaced, is_other, is_point, [](char a, char b) {
    return std::string{a, ' ', b, ' '};
  });
  spaced = with_pairs(spaced, is_point, is_other, [](char a, char b) {
    return std::string{' ', a, ' ', b};
  });
  spaced = with_pairs(
      spaced, nlp::is_digit, [](char c) { return c == '-'; },
      [](char a, char b) {
        return std::string{a, ' ', b, ' '};
      });
  return nlp::split_words(spaced);
}

void TranslationScores::add(const std::string& translation, const std::string& reference) {
  const Words tokens = tokenize_13a(translation), wanted = tokenize_13a(reference);
  tokens_ += tokens.size();
  wanted_tokens_ += wanted.size();
  for (std::size_t n = 1; n <= kWords; ++n) count_ngrams(tokens, wanted, n, words_of_[n - 1]);

  const Words found_words = nlp::split_words(translation),
              wanted_words = nlp::split_words(reference);
  const Words found = nlp::characters_of(nlp::join(found_words, "")),
              characters = nlp::characters_of(nlp::join(wanted_words, ""));
  for (std::size_t n = 1; n <= kCharacters; ++n)
    count_ngrams(found, characters, n, characters_of_[n - 1]);

  ++sentences_;
  exact_ += found_words == wanted_words ? 1 : 0;
  words_ += wanted_words.size();
  edits_ += edits(found_words, wanted_words);
}

double TranslationScores::bleu() const {
  double sum = 0, least = 1;
  bool any = false;
  for (const Matches& m : words_of_) {
    if (m.found == 0) return 0;
    any = any || m.matched > 0;
    if (m.matched == 0) least /= 2;
    sum += std::log((m.matched == 0 ? least : static_cast<double>(m.matched)) /
                    static_cast<double>(m.found));
  }
  if (!any) return 0;
  const double missing = 1 - static_cast<double>(wanted_tokens_) / static_cast<double>(tokens_);
  return std::exp(std::min(0.0, missing) + sum / kWords);
}

double TranslationScores::chrf() const {
  constexpr double kRecall = 4;  // weight of recall relative to precision
  double precision = 0, recall = 0;
  for (const Matches& m : characters_of_) {
    if (m.found == 0 || m.wanted == 0) continue;
    precision += ratio(m.matched, m.found);
    recall += ratio(m.matched, m.wanted);
  }
  // Precision and recall average over the same number of lengths.
  std::size_t lengths = 0;
  for (const Matches& m : characters_of_) lengths += m.found > 0 && m.wanted > 0 ? 1 : 0;
  if (lengths == 0 || precision + recall == 0) return 0;
  precision /= static_cast<double>(lengths);
  recall /= static_cast<double>(lengths);
  return (1 + kRecall) * precision * recall / (kRecall * precision + recall);
}

double TranslationScores::word_error_rate() const { return ratio(edits_, words_); }

double TranslationScores::exact() const { return ratio(exact_, sentences_); }

}  // namespace translate
