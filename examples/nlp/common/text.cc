#include "examples/nlp/common/text.h"

#include <algorithm>
#include <cstdio>

#include "dynet-like/base/printable.h"

namespace nlp {

std::string lower_cased(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at])) ++at;
    const std::size_t start = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > start) words.emplace_back(text.substr(start, at - start));
  }
  return words;
}

std::vector<std::string> split_fields(std::string_view text, char separator) {
  std::vector<std::string> fields;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    fields.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return fields;
    start = end + 1;
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) text += separator;
    text += pieces[i];
  }
  return text;
}

std::string in_quotes(std::string_view text, std::size_t longest) {
  std::size_t end = std::min(text.size(), longest);
  // Cuts at a boundary of UTF-8 characters.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return "'" + dynet::printable(text.substr(0, end)) + (end < text.size() ? "...'" : "'");
}

std::size_t parse_number(std::string_view text, const std::string& what, std::size_t largest) {
  std::size_t value = 0;
  bool good = !text.empty();
  for (char c : text) {
    if (!is_digit(c)) {
      good = false;
      break;
    }
    value = value * 10 + static_cast<std::size_t>(c - '0');
    if (value > largest) {
      good = false;
      break;
    }
  }
  if (!good) {
    throw UserError(what + " must be a whole number from 0 to " + std::to_string(largest) +
                    ", not " + in_quotes(text));
  }
  return value;
}

std::string option_text(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", value);
  return digits;
}

}  // namespace nlp
