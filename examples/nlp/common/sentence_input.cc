#include "examples/nlp/common/sentence_input.h"

#include <algorithm>

#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/tokenizer.h"

namespace nlp {
namespace {

using Use = std::function<void(const InputSentence&)>;

void for_lines(InputFile& in, PlainText plain, const Use& use) {
  for (std::string line; in.next(line);) {
    plain.check(line, in);
    const std::vector<std::string> words = split_words(line);
    use({line, conllu::Sentence(words, std::vector<bool>(words.size(), false), in.name(),
                                {in.number(), 0})});
  }
}

void for_text(InputFile& in, PlainText plain, const Use& use) {
  for_paragraphs(in, [&](const Paragraph& paragraph) {
    const std::string& text = paragraph.text;
    plain.check(text, paragraph.first_line, in.name());
    std::size_t at = 0;
    const auto find = [&](const std::string& word) {
      const std::size_t found = text.find(word, at);
      return found == text.npos ? at : found;
    };
    for (const TokenizedSentence& found : tokenize(text)) {
      const std::size_t line = paragraph.line_at(find(found.words[0]));
      for (const std::string& word : found.words) at = find(word) + word.size();
      use({"", conllu::Sentence(found.words, found.joined, in.name(), {line, 0})});
    }
  });
}

/// Calls `use_block` with the lines of each block and the index of its first line, from 0.
template <typename UseBlock>
void for_blocks(InputFile& in, UseBlock use_block) {
  std::vector<std::string> lines;
  std::size_t first = 0;
  const auto end = [&] {
    if (!lines.empty()) use_block(lines, first);
    lines.clear();
  };
  for (std::string line; in.next(line);) {
    if (is_blank(line)) {
      end();
      continue;
    }
    if (lines.empty()) first = in.number() - 1;
    lines.push_back(line);
  }
  end();
}

void for_conllu(InputFile& in, const Use& use) {
  for_blocks(in, [&](const std::vector<std::string>& lines, std::size_t first) {
    use({"", conllu::Sentence(lines, {0, lines.size()}, in.name(), first)});
  });
}

void for_columns(InputFile& in, const Use& use) {
  for_blocks(in, [&](const std::vector<std::string>& lines, std::size_t first) {
    if (conllu::is_conllu(lines[0]))
      throw LineError(in.name(), first + 1,
                      "expected columns, found CoNLL-U: " + in_quotes(lines[0]));
    std::vector<std::string> words;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t tab = lines[i].find('\t');
      words.push_back(tab == std::string::npos ? split_words(lines[i])[0]
                                               : lines[i].substr(0, tab));
      if (words.back().empty())
        throw LineError(in.name(), first + i + 1, "the word (column 1) is empty");
    }
    use({"", conllu::Sentence(words, std::vector<bool>(words.size(), false), in.name(),
                              {first + 1, 1})});
  });
}

}  // namespace

void for_sentences(const TextSource& source, InputFormat format, const Use& use,
                   const std::function<void()>& before_waiting) {
  InputFile in(source, before_waiting);
  switch (format) {
    case InputFormat::kWords:
      return for_lines(in, PlainText(source), use);
    case InputFormat::kText:
      return for_text(in, PlainText(source), use);
    case InputFormat::kConllu:
      return for_conllu(in, use);
    case InputFormat::kColumns:
      return for_columns(in, use);
  }
}

void for_pieces(const TextSource& source, InputFormat format, const Use& use,
                const std::function<void()>& before_waiting) {
  const auto use_pieces = [&](const InputSentence& whole) {
    const conllu::Sentence& rows = whole.rows;
    if (rows.size() <= kMostWords) return use(whole);
    if (format == InputFormat::kConllu)
      require_readable(rows.size(), rows.line_number(0), rows.file());
    warn(rows.file() + ":" + std::to_string(rows.line_number(0)) + ": a sentence of " +
         with_commas(rows.size()) + " words begins here and is cut into pieces of " +
         with_commas(kMostWords));
    for (std::size_t begin = 0; begin < rows.size(); begin += kMostWords)
      use({"", rows.piece(begin, std::min(begin + kMostWords, rows.size()))});
  };
  for_sentences(source, format, use_pieces, before_waiting);
}

}  // namespace nlp
