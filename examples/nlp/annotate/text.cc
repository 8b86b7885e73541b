#include "examples/nlp/annotate/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

/// Value of an attribute in MISC.
std::optional<std::string> attribute(const std::string& misc, std::string_view name) {
  for (const std::string& each : split_fields(misc, '|'))
    if (each.size() > name.size() && each[name.size()] == '=' && each.rfind(name, 0) == 0)
      return each.substr(name.size() + 1);
  return std::nullopt;
}

bool begins_paragraph(const conllu::Sentence& sentence) {
  for (const std::string& line : sentence.lines())
    if (line.rfind("# newdoc", 0) == 0 || line.rfind("# newpar", 0) == 0) return true;
  return false;
}

/// Surface token of a treebank.
struct Written {
  std::u32string letters;
  std::vector<std::string> words = {};        ///< see Token::words
  std::u32string before = {};                 ///< white space before it
  std::optional<std::u32string> behind = {};  ///< white space behind it, if the file says it
};

bool is_blank(std::u32string_view letters) {
  return std::all_of(letters.begin(), letters.end(), annotate::is_space);
}

/// A token in front of word number `word`. Throws LineError if MISC contradicts the form.
Written token_of(const conllu::Sentence& sentence, std::size_t word, const std::string& form,
                 const std::string& misc) {
  Written token{code_points(form)};
  if (const auto text = attribute(misc, "SpacesInToken")) token.letters = unescaped(*text);
  if (const auto text = attribute(misc, "SpacesBefore")) token.before = unescaped(*text);
  if (const auto text = attribute(misc, "SpacesAfter"))
    token.behind = unescaped(*text);
  else if (attribute(misc, "SpaceAfter") == "No")
    token.behind = U"";
  const auto without_spaces = [](std::u32string letters) {
    std::erase_if(letters, annotate::is_space);
    return letters;
  };
  if (is_blank(token.letters)) sentence.refuse(word, "the token (column 2, FORM) is blank");
  if (without_spaces(token.letters) != without_spaces(code_points(form)))
    sentence.refuse(word, "SpacesInToken (column 10, MISC) is not the form " + in_quotes(form));
  if (!is_blank(token.before) || (token.behind && !is_blank(*token.behind)))
    sentence.refuse(word, "expected white space in SpacesBefore and SpacesAfter (column 10, MISC)");
  return token;
}

std::vector<Written> tokens_of(const conllu::Sentence& sentence) {
  const std::vector<conllu::Multiword> multiwords = sentence.multiwords();
  auto multiword = multiwords.begin();
  std::vector<Written> tokens;
  for (std::size_t i = 0; i < sentence.size();) {
    if (multiword == multiwords.end() || multiword->begin != i) {
      const std::vector<std::string> fields = sentence.fields(i);
      tokens.push_back(token_of(sentence, i++, fields[conllu::kForm], fields[conllu::kMisc]));
      continue;
    }
    Written& token = tokens.emplace_back(token_of(sentence, i, multiword->form, multiword->misc));
    for (; i < multiword->end; ++i) token.words.push_back(sentence.fields(i)[conllu::kForm]);
    if (token.words.size() == 1) token.words.clear();
    ++multiword;
  }
  return tokens;
}

bool is_closing(const std::u32string& form) {
  static const std::vector<std::u32string> kClosing = {U".",      U",",      U";",  U":", U"!",
                                                       U"?",      U")",      U"]",  U"}", U"\u2026",
                                                       U"\u201d", U"\u00bb", U"..."};
  return std::find(kClosing.begin(), kClosing.end(), form) != kClosing.end();
}
bool is_opening(const std::u32string& form) {
  static const std::vector<std::u32string> kOpening = {U"(",      U"[",      U"{",     U"\u00ab",
                                                       U"\u201c", U"\u00bf", U"\u00a1"};
  return std::find(kOpening.begin(), kOpening.end(), form) != kOpening.end();
}

}  // namespace

std::string Paragraph::text(std::size_t begin, std::size_t end) const {
  return utf8(std::u32string_view(letters).substr(begin, end - begin));
}

bool is_space(char32_t letter) {
  return (letter >= 0x09 && letter <= 0x0d) || letter == 0x20 || letter == 0x85 || letter == 0xa0 ||
         letter == 0x1680 || (letter >= 0x2000 && letter <= 0x200a) || letter == 0x2028 ||
         letter == 0x2029 || letter == 0x202f || letter == 0x205f || letter == 0x3000 ||
         letter == 0xfeff;
}

std::u32string lower_case(std::u32string letters) {
  for (char32_t& letter : letters)
    letter = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(letter)));
  return letters;
}

std::string escaped(std::u32string_view letters) {
  static const std::map<char32_t, std::string> kEscapes = {{U' ', "\\s"},  {U'\t', "\\t"},
                                                           {U'\r', "\\r"}, {U'\n', "\\n"},
                                                           {U'|', "\\p"},  {U'\\', "\\\\"}};
  std::string text;
  for (const char32_t letter : letters) {
    const auto escape = kEscapes.find(letter);
    if (escape != kEscapes.end()) {
      text += escape->second;
    } else if (is_space(letter)) {
      std::array<char, 8> code;
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(letter));
      text += code.data();
    } else {
      text += utf8({&letter, 1});
    }
  }
  return text;
}

std::u32string unescaped(std::string_view text) {
  static const std::map<char32_t, char32_t> kEscapes = {
      {U's', U' '}, {U't', U'\t'}, {U'r', U'\r'}, {U'n', U'\n'}, {U'p', U'|'}, {U'\\', U'\\'}};
  const std::u32string letters = code_points(text);
  std::u32string result;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool escapes = letters[i] == U'\\' && i + 1 < letters.size();
    if (escapes && letters[i + 1] == U'u' && i + 6 <= letters.size()) {
      const std::string code = utf8(std::u32string_view(letters).substr(i + 2, 4));
      unsigned letter = 0;
      const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), letter, 16);
      if (error == std::errc() && end == code.data() + code.size() && is_space(letter)) {
        result += static_cast<char32_t>(letter);
        i += 5;
        continue;
      }
    }
    const auto escape = escapes ? kEscapes.find(letters[i + 1]) : kEscapes.end();
    result += escape == kEscapes.end() ? letters[i] : escape->second;
    i += escape != kEscapes.end();
  }
  return result;
}

std::vector<Paragraph> paragraphs_of(const std::vector<conllu::Sentence>& sentences, bool guess) {
  std::vector<std::vector<Written>> all;
  bool says_spaces = !guess;
  for (const conllu::Sentence& sentence : sentences) {
    all.push_back(tokens_of(sentence));
    for (const Written& token : all.back()) says_spaces = says_spaces || token.behind;
  }
  std::vector<Paragraph> paragraphs;
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (paragraphs.empty() || begins_paragraph(sentences[s])) paragraphs.emplace_back();
    Paragraph& paragraph = paragraphs.back();
    Tokens& tokens = paragraph.sentences.emplace_back();
    const bool is_last = s + 1 == all.size() || begins_paragraph(sentences[s + 1]);
    for (std::size_t i = 0; i < all[s].size(); ++i) {
      Written& token = all[s][i];
      paragraph.letters += token.before;
      const std::size_t begin = paragraph.letters.size();
      paragraph.letters += token.letters;
      tokens.push_back({begin, paragraph.letters.size(), std::move(token.words)});
      const bool ends = i + 1 == all[s].size();
      if (token.behind)
        paragraph.letters += *token.behind;
      else if (ends ? !is_last
                    : says_spaces ||
                          !(is_closing(all[s][i + 1].letters) || is_opening(token.letters)))
        paragraph.letters += U' ';
    }
  }
  return paragraphs;
}

}  // namespace annotate
