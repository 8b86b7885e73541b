#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/tagger/model.h"

namespace tagger {

/// How tagged sentences are written.
enum class OutputFormat {
  kText,     ///< what the words and tags of a restored text stand for
  kPipe,     ///< one a line, see pipe.h
  kColumns,  ///< word, tab, tag; a blank line behind a sentence
  kConllu,   ///< a column of CoNLL-U, all else as it was
  kJson,     ///< an object a line: {"words": [...], "tags": [...]}, of a restored text "text" too
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
  std::vector<float> probabilities = {};  ///< of the tags, if they were asked for
};

/// The n best sequences of tags of a sentence as lines, best first: each one's probability, a tab
/// and the words as word|TAG; behind them a blank line. Or as JSON: {"words": [...], "best":
/// [{"probability": 0.9, "tags": [...]}, ...]}. Throws UserError for other formats.
std::vector<std::string> best_lines(const std::vector<std::string>& words,
                                    const std::vector<Candidate>& best, OutputFormat format);

/// Whether the format has a place for probabilities: columns a third one, CoNLL-U Prob in MISC,
/// JSON "probabilities".
bool holds_probabilities(OutputFormat format);

/// The lines of a sentence. `column` is where the tag goes in CoNLL-U; `restores` says that words
/// and tags stand for a text. Throws UserError for what the format cannot hold.
std::vector<std::string> output_lines(const Tagged& sentence, OutputFormat format,
                                      nlp::conllu::Column column, bool restores);

}  // namespace tagger
