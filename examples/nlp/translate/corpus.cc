#include "examples/nlp/translate/corpus.h"

#include <utility>

#include "examples/nlp/common/text.h"

namespace translate {
namespace {

using nlp::in_quotes;

const char* const kText = "text to translate";
const char* const kTranslation = "translation";

std::string normalized(std::string_view text) { return nlp::join(nlp::split_words(text), " "); }

/// A text with its location for messages.
struct Side {
  const std::string& text;
  const std::string file, what;
};

Pair pair_of(const Side& source, const Side& target, std::size_t line) {
  for (const Side* side : {&source, &target}) {
    if (nlp::is_blank(side->text))
      throw nlp::LineError(side->file, line, "there is no " + side->what);
    nlp::require_readable(nlp::split_words(side->text).size(), line, side->file);
  }
  return {normalized(source.text), normalized(target.text), line};
}

Corpus read_tab(const nlp::TextSource& source) {
  Corpus corpus;
  nlp::SampleReader reader(source, "pair");
  const std::vector<std::string> lines = nlp::read_lines(source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (nlp::is_blank(lines[i])) continue;
    reader.read([&] {
      const std::vector<std::string> fields = nlp::split_fields(lines[i], '\t');
      if (fields.size() != 2)
        throw nlp::LineError(
            source.name(), i + 1,
            "expected a text, a tab and its translation, found " + in_quotes(lines[i]));
      corpus.push_back(pair_of({fields[0], source.name(), kText},
                               {fields[1], source.name(), kTranslation}, i + 1));
    });
  }
  return corpus;
}

Corpus read_parallel(const nlp::TextSource& source) {
  const std::vector<std::string> files = nlp::split_fields(source.path, ',');
  if (files.size() != 2)
    throw nlp::UserError("--format parallel takes two files, as in source.txt,target.txt, not " +
                         in_quotes(source.path));
  const nlp::TextSource first(files[0], source.options), second(files[1], source.options);
  const std::vector<std::string> texts = nlp::read_lines(first),
                                 translations = nlp::read_lines(second);
  if (texts.size() != translations.size())
    throw nlp::UserError(first.name() + " has " + std::to_string(texts.size()) + " lines, " +
                         second.name() + " " + std::to_string(translations.size()));
  Corpus corpus;
  nlp::SampleReader reader(source, "pair");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (nlp::is_blank(texts[i]) && nlp::is_blank(translations[i])) continue;
    reader.read([&] {
      corpus.push_back(pair_of({texts[i], first.name(), kText},
                               {translations[i], second.name(), kTranslation}, i + 1));
    });
  }
  return corpus;
}

}  // namespace

Corpus read_pairs(const nlp::TextSource& source, Format format) {
  Corpus corpus = format == Format::kTab ? read_tab(source) : read_parallel(source);
  if (corpus.empty()) throw nlp::UserError(source.name() + " holds no pair");
  return corpus;
}

std::size_t count_words(const Corpus& corpus) {
  std::size_t words = 0;
  for (const Pair& pair : corpus)
    words += nlp::split_words(pair.source).size() + nlp::split_words(pair.target).size();
  return words;
}

std::map<std::string, std::size_t> words_of(const Corpus& corpus, std::string Pair::*side) {
  std::map<std::string, std::size_t> counts;
  for (const Pair& pair : corpus)
    for (const std::string& word : nlp::split_words(pair.*side)) ++counts[word];
  return counts;
}

}  // namespace translate
