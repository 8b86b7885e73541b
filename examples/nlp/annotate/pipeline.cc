#include "examples/nlp/annotate/pipeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

constexpr std::size_t kTogether = 32;   ///< sentences in a graph
constexpr std::size_t kLong = 200;      ///< words of a sentence that is alone in its graph
constexpr std::size_t kLongest = 1000;  ///< tokens; all pairs of words are scored

/// The letters with runs of white space as single spaces.
std::string with_single_spaces(std::u32string_view letters) {
  std::u32string text;
  for (const char32_t letter : letters) {
    if (!annotate::is_space(letter))
      text += letter;
    else if (!text.empty() && text.back() != U' ')
      text += U' ';
  }
  return utf8(text);
}

std::u32string_view surface_of(const Paragraph& paragraph, const Token& token) {
  return std::u32string_view(paragraph.letters).substr(token.begin, token.end - token.begin);
}

/// The field MISC of a token.
std::string misc_of(const Paragraph& paragraph, const Token& token,
                    std::optional<std::size_t> offset) {
  const std::u32string_view letters = paragraph.letters;
  std::size_t next = token.end;
  while (next < letters.size() && annotate::is_space(letters[next])) ++next;
  const std::u32string_view behind = letters.substr(token.end, next - token.end);
  std::vector<std::string> misc;
  if (behind.empty())
    misc.push_back("SpaceAfter=No");
  else if (behind != U" " || next == letters.size())
    misc.push_back("SpacesAfter=" + escaped(behind));
  if (token.begin > 0 && token == paragraph.sentences.front().front())
    misc.push_back("SpacesBefore=" + escaped(letters.substr(0, token.begin)));
  const std::u32string_view own = surface_of(paragraph, token);
  if (with_single_spaces(own) != utf8(own)) misc.push_back("SpacesInToken=" + escaped(own));
  if (offset)
    misc.push_back("TokenRange=" + std::to_string(*offset + token.begin) + ":" +
                   std::to_string(*offset + token.end));
  return misc.empty() ? "_" : join(misc, "|");
}

/// Rows of CoNLL-U, as if read from a file.
std::vector<conllu::Sentence> rows_of(const Annotated& annotated, const std::string& name) {
  std::vector<conllu::Sentence> rows;
  auto annotation = annotated.sentences.begin();
  for (const Paragraph& paragraph : annotated.paragraphs) {
    for (const Tokens& sentence : paragraph.sentences) {
      const std::vector<std::string> lines = conllu_lines(paragraph, sentence, *annotation++);
      rows.emplace_back(lines, LineRange{0, lines.size()}, name);
    }
  }
  return rows;
}

}  // namespace

void segment(Model& model, std::vector<Paragraph>& paragraphs, const std::string& name) {
  std::vector<std::vector<Tokens>> found = predict_in_parts(
      model, paragraphs, 1, name, "paragraphs",
      [](Model& mine, dynet::ComputationGraph& graph, std::span<const Paragraph> one) {
        return std::vector<std::vector<Tokens>>{mine.segmenter().segment(graph, one[0])};
      });
  std::size_t cut = 0;
  for (std::size_t i = 0; i < paragraphs.size(); ++i) {
    paragraphs[i].sentences.clear();
    for (Tokens& sentence : found[i]) {
      cut += sentence.size() > kLongest;
      for (std::size_t begin = 0; begin < sentence.size(); begin += kLongest) {
        const auto first = sentence.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::size_t count = std::min(kLongest, sentence.size() - begin);
        paragraphs[i].sentences.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
      }
    }
  }
  if (cut > 0)
    warn(with_commas(cut) + (cut == 1 ? " sentence has" : " sentences have") + " more than " +
         with_commas(kLongest) + " tokens and " + (cut == 1 ? "is" : "are") + " cut");
}

std::vector<Annotation> annotate_words(Model& model,
                                       const std::vector<std::vector<std::string>>& sentences,
                                       const std::string& name) {
  std::vector<std::size_t> sizes;
  for (const std::vector<std::string>& words : sentences) sizes.push_back(words.size());
  return predict_by_size(
      model, sizes, kTogether, name, "sentences",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const std::size_t> places) {
        std::vector<Annotation> found;
        std::vector<std::vector<std::string>> together;
        for (const std::size_t place : places) {
          if (sizes[place] > kLong)
            found.push_back(mine.annotate(graph, {&sentences[place], 1})[0]);
          else
            together.push_back(sentences[place]);  // behind the long ones
        }
        if (!together.empty())
          for (Annotation& each : mine.annotate(graph, together)) found.push_back(std::move(each));
        return found;
      });
}

std::vector<std::string> words_of(const Paragraph& paragraph, const Tokens& sentence) {
  std::vector<std::string> words;
  for (const Token& token : sentence) {
    if (token.words.empty()) words.push_back(with_single_spaces(surface_of(paragraph, token)));
    words.insert(words.end(), token.words.begin(), token.words.end());
  }
  return words;
}

std::vector<std::string> conllu_lines(const Paragraph& paragraph, const Tokens& sentence,
                                      const Annotation& annotation,
                                      std::optional<std::size_t> offset) {
  std::vector<std::string> lines;
  const bool tree = !annotation.heads.empty();
  std::size_t word = 0;
  for (const Token& token : sentence) {
    const std::string misc = misc_of(paragraph, token, offset);
    const std::size_t count = std::max<std::size_t>(1, token.words.size());
    if (count > 1)
      lines.push_back(std::to_string(word + 1) + "-" + std::to_string(word + count) + "\t" +
                      with_single_spaces(surface_of(paragraph, token)) + "\t_\t_\t_\t_\t_\t_\t_\t" +
                      misc);
    for (std::size_t k = 0; k < count; ++k, ++word) {
      const auto column = [&](Output output) { return annotation.columns[output][word]; };
      lines.push_back(
          join({std::to_string(word + 1), annotation.words[word], column(kLemma), column(kUpos),
                column(kXpos), column(kFeats), tree ? std::to_string(annotation.heads[word]) : "_",
                tree ? annotation.labels[word] : "_", "_", count > 1 ? "_" : misc},
               "\t"));
    }
  }
  return lines;
}

std::string text_of(const Paragraph& paragraph, const Tokens& sentence) {
  const std::size_t begin = sentence.front().begin, end = sentence.back().end;
  return with_single_spaces(std::u32string_view(paragraph.letters).substr(begin, end - begin));
}

Annotated annotate_text(Model& model, std::vector<Paragraph> paragraphs, const std::string& name) {
  segment(model, paragraphs, "");
  std::vector<std::vector<std::string>> sentences;
  for (const Paragraph& paragraph : paragraphs)
    for (const Tokens& sentence : paragraph.sentences)
      sentences.push_back(words_of(paragraph, sentence));
  return {std::move(paragraphs), annotate_words(model, sentences, name)};
}

Figures Report::figures() const {
  Figures figures;
  for (const auto& [score, items] : scores.named())
    figures.push_back({score, items.f1(), std::numeric_limits<double>::quiet_NaN()});
  return figures;
}

void Report::print(std::ostream& out) const {
  print_counts(name, counts(), out);
  nlp::print(scores, out);
}

Report evaluate(Model& model, const Treebank& treebank, const std::string& name) {
  const Annotated annotated = annotate_text(model, treebank.paragraphs, name);
  return {name, treebank.rows.size(), treebank.words(),
          conll18_scores(treebank.rows, rows_of(annotated, "the annotated " + name))};
}

}  // namespace annotate
