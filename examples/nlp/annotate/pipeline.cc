#include "examples/nlp/annotate/pipeline.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "examples/nlp/annotate/rows.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

constexpr std::size_t kTogether = 32;       ///< most sentences in a graph
constexpr std::size_t kMostTogether = 400;  ///< most words in a graph, unless it is one sentence
constexpr std::size_t kLongest = 1000;      ///< tokens; all pairs of words are scored

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

std::size_t segment(Model& model, std::vector<Paragraph>& paragraphs, Find find) {
  std::vector<std::span<const Paragraph>> groups;
  for (std::size_t first = 0, last, letters; first < paragraphs.size(); first = last) {
    for (last = first, letters = 0; last < paragraphs.size() && letters < Segmenter::kPart; ++last)
      letters += paragraphs[last].letters.size();
    groups.push_back(std::span<const Paragraph>(paragraphs).subspan(first, last - first));
  }
  std::vector<std::vector<Tokens>> found =
      predict_in_parts(model, groups, 1, "", "",
                       [&](Model& mine, dynet::ComputationGraph& graph, const auto& group) {
                         return mine.segmenter().segment(graph, group[0], find);
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
  return cut;
}

void warn_of_cut(std::size_t sentences) {
  if (sentences > 0)
    warn(with_commas(sentences) + (sentences == 1 ? " sentence has" : " sentences have") +
         " more than " + with_commas(kLongest) + " tokens and " + (sentences == 1 ? "is" : "are") +
         " cut");
}

namespace {

/// Joins the annotations of pieces of a sentence: the roots of later pieces depend on that of the
/// first.
Annotation joined(std::span<const Annotation> pieces) {
  Annotation whole = pieces[0];
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto root = std::find(whole.heads.begin(), whole.heads.end(), 0u) - whole.heads.begin() + 1;
  for (const Annotation& piece : pieces.subspan(1)) {
    const auto before = static_cast<unsigned>(whole.size());
    append(whole.words, piece.words);
    for (std::size_t output = 0; output < kOutputs; ++output)
      append(whole.columns[output], piece.columns[output]);
    for (std::size_t i = 0; i < piece.heads.size(); ++i) {
      const bool is_root = piece.heads[i] == 0;
      whole.heads.push_back(is_root ? static_cast<unsigned>(root) : piece.heads[i] + before);
      whole.labels.push_back(is_root ? "parataxis" : piece.labels[i]);
    }
  }
  return whole;
}

}  // namespace

std::vector<Annotation> annotate_words(Model& model,
                                       const std::vector<std::vector<std::string>>& whole,
                                       const std::string& name) {
  std::vector<std::vector<std::string>> sentences;  // none of them longer than kLongest
  for (const std::vector<std::string>& words : whole) {
    for (std::size_t begin = 0; begin == 0 || begin < words.size(); begin += kLongest) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t count = std::min(kLongest, words.size() - begin);
      sentences.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    }
  }
  std::vector<std::size_t> sizes;
  for (const std::vector<std::string>& words : sentences) sizes.push_back(words.size());
  std::vector<Annotation> found = predict_by_size(
      model, sizes, kTogether, name, "sentences",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const std::size_t> places) {
        std::vector<Annotation> annotations;
        std::vector<std::vector<std::string>> together;
        std::size_t size = 0;  // their words
        const auto annotate = [&] {
          for (Annotation& each : mine.annotate(graph, together))
            annotations.push_back(std::move(each));
          together.clear();
          size = 0;
        };
        for (const std::size_t place : places) {
          if (!together.empty() && size + sizes[place] > kMostTogether) annotate();
          together.push_back(sentences[place]);
          size += sizes[place];
        }
        annotate();
        return annotations;
      });
  if (found.size() == whole.size()) return found;
  std::vector<Annotation> all;
  std::size_t first = 0;
  for (const std::vector<std::string>& words : whole) {
    const std::size_t pieces = std::max<std::size_t>(1, (words.size() + kLongest - 1) / kLongest);
    all.push_back(joined(std::span(found).subspan(first, pieces)));
    first += pieces;
  }
  return all;
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

void remove_multiwords(std::vector<Paragraph>& paragraphs) {
  for (Paragraph& paragraph : paragraphs)
    for (Tokens& sentence : paragraph.sentences)
      for (Token& token : sentence) token.words.clear();
}

Annotated annotate_text(Model& model, std::vector<Paragraph> paragraphs, const std::string& name) {
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

Report evaluate(Model& model, const Treebank& treebank, const std::string& name, Given given) {
  std::vector<conllu::Sentence> rows = treebank.rows;
  if (given == Given::kText) {
    std::vector<Paragraph> paragraphs = treebank.paragraphs;
    warn_of_cut(segment(model, paragraphs));
    rows = rows_of(annotate_text(model, std::move(paragraphs), name), "the annotated " + name);
  } else {
    std::vector<std::vector<std::string>> words;
    for (const conllu::Sentence& sentence : rows) words.push_back(sentence.words());
    const std::vector<Annotation> found = annotate_words(model, words, name);
    for (std::size_t i = 0; i < rows.size(); ++i)
      fill(rows[i], found[i], {.columns = given == Given::kWords, .replace = true});
  }
  return {name, treebank.rows.size(), treebank.words(), conll18_scores(treebank.rows, rows)};
}

}  // namespace annotate
