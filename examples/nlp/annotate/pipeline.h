#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "examples/nlp/annotate/model.h"
#include "examples/nlp/annotate/treebank.h"
#include "examples/nlp/common/conll18.h"
#include "examples/nlp/common/score.h"

namespace annotate {

/// Sets the sentences of paragraphs to those that the model finds, see Segmenter::segment. Cuts
/// those of more than 1,000 tokens and returns how many there were.
std::size_t segment(Model& model, std::vector<Paragraph>& paragraphs, Find find = Find::kSentences);
/// Warns of sentences that were cut.
void warn_of_cut(std::size_t sentences);
/// Makes every token a word.
void remove_multiwords(std::vector<Paragraph>& paragraphs);

/// Annotates the words of sentences, several of similar length in a graph. One of more than 1,000
/// words is annotated in pieces, whose trees are joined. A progress bar is titled `name`, unless it
/// is empty.
std::vector<Annotation> annotate_words(Model& model,
                                       const std::vector<std::vector<std::string>>& sentences,
                                       const std::string& name);

/// Words of a sentence of a paragraph.
std::vector<std::string> words_of(const Paragraph& paragraph, const Tokens& sentence);

/// Lines of CoNLL-U of a sentence, without comments. MISC says what white space is around a token
/// if it is not a single space behind it, see paragraphs_of, so that the text can be had again;
/// and, unless `offset` is missing, the place of the token in a text that has so many letters
/// before the paragraph: `TokenRange=begin:end`.
std::vector<std::string> conllu_lines(const Paragraph& paragraph, const Tokens& sentence,
                                      const Annotation& annotation,
                                      std::optional<std::size_t> offset = {});

/// Text of a sentence, for the comment `# text`: white space is a single space.
std::string text_of(const Paragraph& paragraph, const Tokens& sentence);

/// Paragraphs with what a model says of their sentences, in order.
struct Annotated {
  std::vector<Paragraph> paragraphs;
  std::vector<Annotation> sentences;
};
/// Annotates text that is cut into sentences and words.
Annotated annotate_text(Model& model, std::vector<Paragraph> paragraphs, const std::string& name);

/// Part of a treebank that is given; all else is predicted.
enum class Given { kText, kWords, kTags };
/// Scores of what a model says of a treebank.
struct Report {
  std::string name;
  std::size_t sentences = 0, words = 0;
  nlp::Conll18Scores scores;

  nlp::Figures figures() const;
  nlp::Counts counts() const { return {{"sentences", sentences}, {"words", words}}; }
  void print(std::ostream& out) const;
};
Report evaluate(Model& model, const Treebank& treebank, const std::string& name,
                Given given = Given::kText);

}  // namespace annotate
