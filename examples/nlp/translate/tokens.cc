#include "examples/nlp/translate/tokens.h"

#include <algorithm>
#include <limits>
#include <set>

#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/text.h"

namespace translate {
namespace {

using Symbols = std::vector<std::string>;
using Both = std::pair<std::string, std::string>;

Symbols characters_of_word(const std::string& word) {
  Symbols parts = nlp::characters_of(word);
  if (!parts.empty()) parts[0] = Pieces::kWordBegin + parts[0];
  return parts;
}

/// Merges all adjacent occurrences of a pair.
Symbols merged(const Symbols& parts, const Both& both) {
  Symbols result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 < parts.size() && parts[i] == both.first && parts[i + 1] == both.second)
      result.push_back(parts[i] + parts[i + 1]), ++i;
    else
      result.push_back(parts[i]);
  }
  return result;
}

}  // namespace

Pieces::Pieces(const std::map<std::string, std::size_t>& words, std::size_t merges) {
  struct Word {
    Symbols parts;
    std::size_t count;
  };
  std::vector<Word> all;
  std::map<Both, std::size_t> counts;
  std::map<Both, std::set<std::size_t>> places;  // words that contain or contained the pair
  const auto count = [&](std::size_t w, bool add) {
    const auto& [parts, times] = all[w];
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const Both both{parts[i], parts[i + 1]};
      if (add)
        counts[both] += times, places[both].insert(w);
      else
        counts[both] -= times;
    }
  };
  for (const auto& [word, times] : words) {
    all.push_back({characters_of_word(word), times});
    count(all.size() - 1, true);
  }
  for (std::size_t k = 0; k < merges; ++k) {
    const auto best =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == counts.end() || best->second < 2) break;
    const Both both = best->first;
    merges_[both] = k;
    for (const std::size_t w : std::set<std::size_t>(std::move(places[both]))) {
      count(w, false);
      all[w].parts = merged(all[w].parts, both);
      count(w, true);
    }
    counts.erase(both);
    places.erase(both);
  }
}

std::vector<std::string> Pieces::split(const std::string& word) const {
  Symbols parts = characters_of_word(word);
  for (;;) {
    std::size_t first = std::numeric_limits<std::size_t>::max();
    Both both;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto at = merges_.find({parts[i], parts[i + 1]});
      if (at == merges_.end() || at->second >= first) continue;
      first = at->second;
      both = at->first;
    }
    if (first == std::numeric_limits<std::size_t>::max()) return parts;
    parts = merged(parts, both);
  }
}

std::vector<std::string> tokens_of(const std::string& text, Unit unit, const Pieces& pieces) {
  if (unit == Unit::kCharacter) return nlp::characters_of(text);
  std::vector<std::string> words = nlp::split_words(text);
  if (unit == Unit::kWord) return words;
  std::vector<std::string> tokens;
  for (const std::string& word : words)
    for (std::string& piece : pieces.split(word)) tokens.push_back(std::move(piece));
  return tokens;
}

std::string text_of(const std::vector<std::string>& tokens, Unit unit) {
  if (unit == Unit::kWord) return nlp::join(tokens, " ");
  const std::string text = nlp::join(tokens, "");
  if (unit == Unit::kCharacter) return nlp::join(nlp::split_words(text), " ");
  std::string words;
  const std::string begin = Pieces::kWordBegin;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, begin.size(), begin) == 0) {
      words += ' ';
      i += begin.size() - 1;
    } else {
      words += text[i];
    }
  }
  return nlp::join(nlp::split_words(words), " ");
}

}  // namespace translate
