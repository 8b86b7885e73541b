#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/tagger/model.h"

namespace tagger {

/// Formats of tagged sentences.
enum class OutputFormat {
  kText,     ///< text restored from words and tags
  kPipe,     ///< one sentence a line, see pipe.h
  kColumns,  ///< word, tab, tag; a blank line after each sentence
  kConllu,   ///< one column of CoNLL-U is replaced
  kJson,     ///< one object per line: {"words": [...], "tags": [...]}, and "text" if restored
};
inline const nlp::Names<OutputFormat> kOutputFormats = {{OutputFormat::kText, "text"},
                                                        {OutputFormat::kPipe, "pipe"},
                                                        {OutputFormat::kColumns, "columns"},
                                                        {OutputFormat::kConllu, "conllu"},
                                                        {OutputFormat::kJson, "json"}};

struct Tagged {
  const std::vector<std::string>& words;
  const std::vector<std::string>& tags;
  const nlp::conllu::Sentence& rows;
  std::vector<float> probabilities = {};  ///< of the tags, if requested
};

/// The n best tag sequences of a sentence as lines, best first: the probability, a tab and the
/// words as word|TAG, followed by a blank line. Or as JSON: {"words": [...], "best":
/// [{"probability": 0.9, "tags": [...]}, ...]}. Throws UserError for other formats.
std::vector<std::string> best_lines(const std::vector<std::string>& words,
                                    const std::vector<Candidate>& best, OutputFormat format);

/// True if the format can store probabilities: a third column, Prob in MISC of CoNLL-U, JSON
/// "probabilities".
bool holds_probabilities(OutputFormat format);

/// Formats of the input and output of a model.
struct Formats {
  nlp::InputFormat input = nlp::InputFormat::kWords;
  OutputFormat output = OutputFormat::kPipe;
  nlp::conllu::Column column = nlp::conllu::kXpos;  ///< of tags in CoNLL-U
  bool probabilities = false;                       ///< written beside the tags
  bool restores = false;  ///< the model restores text: a sentence is a line of it
};
/// Formats by their names; an empty one means the usual format of the model. Throws UserError.
Formats formats_of(const Description& description, const std::string& input,
                   const std::string& output, const std::string& column, bool probabilities);

/// Words of a sentence, or of a text to restore.
std::vector<std::string> words_of(const nlp::InputSentence& given, const Formats& formats);
/// Lines of a sentence. Throws UserError for contents that the format cannot store.
std::vector<std::string> output_lines(const Tagged& sentence, const Formats& formats);

}  // namespace tagger
