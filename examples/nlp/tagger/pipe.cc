#include "pipe.h"

#include <algorithm>

#include "examples/nlp/common/text.h"

namespace tagger {
namespace {

bool is_escaped(const std::string& text, std::size_t at) { return at > 0 && text[at - 1] == '\\'; }

std::size_t separator_of(const std::string& token) {
  for (std::size_t at = token.size(); at-- > 0;) {
    if (token[at] == '|' && !is_escaped(token, at)) return at;
  }
  return token.rfind('|');
}

}  // namespace

TaggedWord from_pipe(const std::string& token) {
  const std::size_t at = separator_of(token);
  if (at == std::string::npos) return {};
  TaggedWord tagged{token.substr(0, at), ""};
  for (std::size_t i = at + 1; i < token.size(); ++i) {
    if (token[i] == '|' && is_escaped(token, i)) tagged.tag.pop_back();
    tagged.tag += token[i];
  }
  return tagged;
}

std::string to_pipe(const TaggedWord& tagged) {
  std::string token = tagged.word + "|";
  for (const char c : tagged.tag) token += c == '|' ? std::string("\\|") : std::string(1, c);
  const bool spaced = std::any_of(token.begin(), token.end(), nlp::is_space);
  if (spaced || from_pipe(token) != tagged) {
    throw nlp::UserError("the word " + nlp::in_quotes(tagged.word) + " with the tag " +
                         nlp::in_quotes(tagged.tag) +
                         " cannot be written as word|TAG: --format columns or json can");
  }
  return token;
}

}  // namespace tagger
