#include "examples/nlp/common/tokenizer.h"

#ifdef NLP_ICU
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#endif

#include <memory>

namespace nlp {

#ifdef NLP_ICU
namespace {

using Iterator = std::unique_ptr<icu::BreakIterator>;

Iterator checked(icu::BreakIterator* iterator, UErrorCode error) {
  Iterator owned(iterator);
  if (U_FAILURE(error))
    throw UserError(std::string("ICU cannot split text: ") + u_errorName(error));
  return owned;
}

Iterator sentences() {
  UErrorCode error = U_ZERO_ERROR;
  return checked(icu::BreakIterator::createSentenceInstance(icu::Locale::getRoot(), error), error);
}

Iterator words() {
  UErrorCode error = U_ZERO_ERROR;
  return checked(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), error), error);
}

/// Calls `use` with each piece between two breaks.
template <typename Use>
void for_pieces(icu::BreakIterator& iterator, const icu::UnicodeString& text, Use use) {
  iterator.setText(text);
  std::int32_t begin = iterator.first();
  for (std::int32_t end; (end = iterator.next()) != icu::BreakIterator::DONE; begin = end)
    use(text.tempSubStringBetween(begin, end));
}

bool is_space(const icu::UnicodeString& piece) {
  for (std::int32_t i = 0; i < piece.length(); i = piece.moveIndex32(i, 1)) {
    if (!u_isUWhiteSpace(piece.char32At(i))) return false;
  }
  return true;
}

TokenizedSentence words_of(icu::BreakIterator& iterator, const icu::UnicodeString& sentence) {
  TokenizedSentence result;
  for_pieces(iterator, sentence, [&](const icu::UnicodeString& piece) {
    if (is_space(piece)) {
      if (!result.joined.empty()) result.joined.back() = false;
      return;
    }
    piece.toUTF8String(result.words.emplace_back());
    result.joined.push_back(true);
  });
  return result;
}

}  // namespace

bool has_tokenizer() { return true; }

std::vector<TokenizedSentence> tokenize(std::string_view paragraph) {
  const auto text = icu::UnicodeString::fromUTF8(
      icu::StringPiece(paragraph.data(), static_cast<std::int32_t>(paragraph.size())));
  const Iterator by_sentence = sentences();
  const Iterator by_word = words();
  std::vector<TokenizedSentence> result;
  for_pieces(*by_sentence, text, [&](const icu::UnicodeString& sentence) {
    TokenizedSentence found = words_of(*by_word, sentence);
    if (!found.words.empty()) result.push_back(std::move(found));
  });
  if (!result.empty()) result.back().joined.back() = false;
  return result;
}

std::string unicode_lower_cased(std::string_view text) {
  std::string lower;
  icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())))
      .toLower(icu::Locale::getRoot())
      .toUTF8String(lower);
  return lower;
}

#else

bool has_tokenizer() { return false; }

std::vector<TokenizedSentence> tokenize(std::string_view /*paragraph*/) {
  throw UserError(
      "this program was built without ICU, which finds sentences and words: install libicu-dev and "
      "build it again, or give a sentence a line with spaces between words");
}

std::string unicode_lower_cased(std::string_view text) { return lower_cased(text); }

#endif

std::size_t Paragraph::line_at(std::size_t byte) const {
  const auto next = std::upper_bound(lines.begin(), lines.end(), byte);
  return first_line + static_cast<std::size_t>(next - lines.begin()) - 1;
}

void for_paragraphs(InputFile& in, const std::function<void(const Paragraph&)>& use) {
  Paragraph paragraph;
  const auto end = [&] {
    if (!paragraph.text.empty()) use(paragraph);
    paragraph = {};
  };
  for (std::string line; in.next(line);) {
    if (is_blank(line)) {
      end();
      continue;
    }
    if (paragraph.text.empty())
      paragraph.first_line = in.number();
    else
      paragraph.text += ' ';
    paragraph.lines.push_back(paragraph.text.size());
    paragraph.text += line;
    if (paragraph.text.size() > LineReader::kLongestLine) end();
  }
  end();
}

}  // namespace nlp
