#include "examples/nlp/common/plain_text.h"

#include <algorithm>
#include <vector>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/text.h"

namespace nlp {
namespace {

/// True for word|TAG without lower-case letters in the tag.
bool has_tag(const std::string& word) {
  const std::size_t at = word.rfind('|');
  if (at == std::string::npos || at == 0 || at + 1 == word.size()) return false;
  return std::none_of(word.begin() + static_cast<std::ptrdiff_t>(at), word.end(), is_lower);
}

/// True for two tab-separated words: "EU<tab>B-ORG".
bool has_two_columns(const std::string& line) {
  const std::vector<std::string> fields = split_fields(line, '\t');
  return fields.size() == 2 && split_words(line).size() == 2;
}

bool begins_a_tree(const std::string& line) {
  return line.size() > 4 && line[0] == '(' && is_digit(line[1]) && line[2] == ' ' &&
         line.back() == ')';
}

}  // namespace

std::string markup_of(const std::string& line) {
  if (conllu::is_conllu(line)) return "CoNLL-U";
  const std::vector<std::string> words = split_words(line);
  if (!words.empty() && std::all_of(words.begin(), words.end(), has_tag)) return "word|TAG";
  if (has_two_columns(line)) return "columns";
  if (begins_a_tree(line)) return "trees";
  return "";
}

void require_plain(const std::string& line, std::size_t number, const std::string& name) {
  const std::string markup = markup_of(line);
  if (markup.empty()) return;
  throw LineError(name, number, "expected plain text, found " + markup + ": " + in_quotes(line));
}

}  // namespace nlp
