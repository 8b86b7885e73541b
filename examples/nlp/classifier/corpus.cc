#include "examples/nlp/classifier/corpus.h"

#include <numeric>
#include <utility>

#include "examples/nlp/common/text.h"

namespace classifier {
namespace {

Sample parse_sample(const std::string& line, const std::string& file, std::size_t number) {
  const auto fail = [&](const std::string& what) {
    throw nlp::LineError(file, number, "expected a label, a tab and a text, found " + what);
  };
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) fail("no tab in " + nlp::in_quotes(line));
  Sample sample{nlp::join(nlp::split_words(line.substr(0, tab)), " "),
                nlp::split_words(line.substr(tab + 1)), number};
  if (sample.label.empty()) fail("nothing before the tab");
  if (sample.words.empty()) fail("nothing behind the tab");
  return sample;
}

Corpus parse_lines(const std::vector<std::string>& lines, const nlp::TextSource& source) {
  const std::string name = source.name();
  Corpus corpus;
  nlp::SampleReader reader(source, "text");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (nlp::is_blank(lines[i])) continue;
    reader.read([&] {
      Sample sample = parse_sample(lines[i], name, i + 1);
      nlp::require_readable(sample.words.size(), i + 1, name);
      corpus.push_back(std::move(sample));
    });
  }
  if (corpus.empty()) throw nlp::UserError(name + " holds no sample");
  return corpus;
}

}  // namespace

Corpus read_samples(const nlp::TextSource& source) {
  return parse_lines(nlp::read_lines(source), source);
}

Corpus read_samples(std::istream& in, const nlp::TextSource& source) {
  return parse_lines(nlp::read_lines(in, source), source);
}

std::size_t count_words(const Corpus& corpus) {
  return std::accumulate(
      corpus.begin(), corpus.end(), std::size_t{0},
      [](std::size_t sum, const Sample& sample) { return sum + sample.words.size(); });
}

}  // namespace classifier
