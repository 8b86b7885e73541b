#include "examples/nlp/common/sentence_input.h"

#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/tokenizer.h"

namespace nlp {
namespace {

using Use = std::function<void(const InputSentence&)>;

void for_lines(InputFile& in, const Use& use) {
  PlainText plain;
  for (std::string line; in.next(line);) {
    plain.check(line, in);
    const std::vector<std::string> words = split_words(line);
    use({line, conllu::Sentence(words, std::vector<bool>(words.size(), false))});
  }
}

void for_text(InputFile& in, const Use& use) {
  PlainText plain;
  for_paragraphs(in, [&](const std::string& paragraph) {
    plain.check(paragraph, in);
    for (const TokenizedSentence& found : tokenize(paragraph))
      use({"", conllu::Sentence(found.words, found.joined)});
  });
}

/// The lines of each block, and the number of the first one, from 0.
template <typename UseBlock>
void for_blocks(InputFile& in, UseBlock use_block) {
  std::vector<std::string> lines;
  const auto end = [&](std::size_t next) {
    if (!lines.empty()) use_block(lines, next - lines.size());
    lines.clear();
  };
  for (std::string line; in.next(line);) {
    if (is_blank(line)) {
      end(in.number() - 1);
    } else {
      lines.push_back(line);
    }
  }
  end(in.number());
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
    use({"", conllu::Sentence(words, std::vector<bool>(words.size(), false))});
  });
}

}  // namespace

void for_sentences(const TextSource& source, InputFormat format, const Use& use,
                   const std::function<void()>& before_waiting) {
  InputFile in(source, before_waiting);
  switch (format) {
    case InputFormat::kWords:
      return for_lines(in, use);
    case InputFormat::kText:
      return for_text(in, use);
    case InputFormat::kConllu:
      return for_conllu(in, use);
    case InputFormat::kColumns:
      return for_columns(in, use);
  }
}

}  // namespace nlp
