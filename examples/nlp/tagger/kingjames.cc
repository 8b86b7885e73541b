#include "kingjames.h"

#include <algorithm>

#include "examples/nlp/common/text.h"

namespace tagger {

using namespace nlp;

namespace {

/// `_`, `+` and `|` have a meaning in tags, so they count as letters.
bool is_letter_or_digit(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || static_cast<unsigned char>(c) > 127 ||
         c == '_' || c == '+' || c == '|';
}

/// True inside a word: letters, digits, an apostrophe, a hyphen between letters.
bool is_word_byte(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (is_letter_or_digit(c)) return true;
  const bool after = at > 0 && is_letter_or_digit(text[at - 1]);
  const bool before = at + 1 < text.size() && is_letter_or_digit(text[at + 1]);
  if (c == '\'') return after || before;
  return c == '-' && after && before;
}

std::string case_of(std::string_view word) {
  std::string places;
  std::size_t uppers = 0;
  std::size_t letters = 0, leading = 0;  // before the first apostrophe, and its upper-case ones
  bool past_apostrophe = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\'' && i > 0) past_apostrophe = true;
    if (is_upper(word[i])) {
      ++uppers;
      places += "-" + std::to_string(i);
    }
    if (past_apostrophe) continue;
    letters += is_upper(word[i]) || is_lower(word[i]);
    leading += is_upper(word[i]);
  }
  if (uppers == 0) return "lower";
  if (uppers == 1 && is_upper(word[0])) return "Title";
  if (uppers == leading && leading == letters && letters > 1) return "UPPER";
  return "caps" + places;
}

void apply_case(std::string& word, std::string_view casing) {
  if (casing == "Title") {
    if (!word.empty()) word[0] = to_upper(word[0]);
  } else if (casing == "UPPER") {
    for (std::size_t i = 0; i < word.size() && (word[i] != '\'' || i == 0); ++i) {
      word[i] = to_upper(word[i]);
    }
  } else if (casing.substr(0, 4) == "caps") {
    for (const std::string& place : split_fields(casing.substr(4), '-')) {
      if (place.empty()) continue;
      const std::size_t at = parse_number(place, "a place in a caps tag", 1000000);
      if (at < word.size()) word[at] = to_upper(word[at]);
    }
  }
}

/// Encodes runs of white space as '_'; other marks are unchanged.
std::string encoded_marks(std::string_view marks) {
  std::string result;
  for (char c : marks) {
    if (!is_space(c)) {
      result += c;
    } else if (result.empty() || result.back() != '_') {
      result += '_';
    }
  }
  return result;
}

std::string decoded_marks(std::string_view marks) {
  std::string result(marks);
  std::replace(result.begin(), result.end(), '_', ' ');
  return result;
}

}  // namespace

Sentence annotate(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);

  struct Piece {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_byte(text, at)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_word_byte(text, at)) ++at;
    pieces.push_back({begin, at});
  }

  Sentence sentence;
  std::string before;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view word = text.substr(pieces[i].begin, pieces[i].end - pieces[i].begin);
    if (i == 0) before = encoded_marks(text.substr(0, pieces[0].begin));
    const std::size_t next = i + 1 < pieces.size() ? pieces[i + 1].begin : text.size();
    // Marks up to the last space belong to this word, marks after it to the next word.
    const std::string gap = encoded_marks(text.substr(pieces[i].end, next - pieces[i].end));
    std::string after = gap;
    std::string next_before;
    if (i + 1 < pieces.size()) {
      const std::size_t space = gap.rfind('_');
      if (space == std::string::npos) {
        after = gap + "+";
      } else {
        after = gap.substr(0, space);
        next_before = gap.substr(space + 1);
      }
    }
    sentence.tags.push_back(before + case_of(word) + after);
    sentence.words.push_back(lower_cased(word));
    before = next_before;
  }
  return sentence;
}

MarkedCase parse_tag(std::string_view tag) {
  const auto letter = [](char c) { return is_lower(c) || is_upper(c); };
  const auto begin = std::find_if(tag.begin(), tag.end(), letter);
  auto end = std::find_if_not(begin, tag.end(), letter);
  MarkedCase result;
  const std::string casing(begin, end);
  if (casing == "caps") {
    while (end != tag.end() && *end == '-') {
      const auto digits = std::find_if_not(end + 1, tag.end(), is_digit);
      if (digits == end + 1) break;
      end = digits;
    }
  } else if (casing != "lower" && casing != "Title" && casing != "UPPER") {
    return result;
  }
  result.before = std::string(tag.begin(), begin);
  result.casing = std::string(begin, end);
  result.after = std::string(end, tag.end());
  return result;
}

std::string restore(const std::vector<std::string>& words, const std::vector<std::string>& tags) {
  std::string text;
  bool space = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const MarkedCase parts = i < tags.size() ? parse_tag(tags[i]) : MarkedCase();
    std::string word = words[i];
    apply_case(word, parts.casing);
    if (space) text += ' ';
    text += decoded_marks(parts.before) + word;
    std::string after = parts.after;
    space = after.empty() || after.back() != '+';
    if (!space) after.pop_back();
    text += decoded_marks(after);
  }
  return text;
}

}  // namespace tagger
