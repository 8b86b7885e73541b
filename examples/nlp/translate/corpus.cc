#include "examples/nlp/translate/corpus.h"

#include <utility>

#include "examples/nlp/common/text.h"

namespace translate {
namespace {

using nlp::in_quotes;

std::string normalized(std::string_view text) { return nlp::join(nlp::split_words(text), " "); }

Pair pair_of(const std::string& source, const std::string& target, const std::string& file,
             std::size_t line) {
  Pair pair{normalized(source), normalized(target), line};
  if (pair.source.empty() || pair.target.empty())
    throw nlp::LineError(
        file, line,
        std::string("there is no ") + (pair.source.empty() ? "text to translate" : "translation"));
  for (const std::string* text : {&pair.source, &pair.target})
    nlp::require_readable(nlp::split_words(*text).size(), line, file);
  return pair;
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
      corpus.push_back(pair_of(fields[0], fields[1], source.name(), i + 1));
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
    reader.read([&] { corpus.push_back(pair_of(texts[i], translations[i], first.name(), i + 1)); });
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

}  // namespace translate
