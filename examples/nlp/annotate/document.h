#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "examples/nlp/annotate/model.h"
#include "examples/nlp/annotate/text.h"
#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace annotate {

/// Form of an input.
enum class Format {
  kText,       ///< a blank line ends a paragraph
  kLines,      ///< the same, with a sentence a line
  kWords,      ///< a sentence a line, its words separated by spaces
  kWordLines,  ///< a word a line, in the first column; a blank line ends a sentence
  kConllu      ///< fields that are `_` are filled
};
inline const nlp::Names<Format> kFormats = {{Format::kText, "text"},
                                            {Format::kLines, "lines"},
                                            {Format::kWords, "words"},
                                            {Format::kWordLines, "columns"},
                                            {Format::kConllu, "conllu"}};

/// Form of an input, and the result that is wanted.
struct Task {
  Format format = Format::kText;
  bool multiwords = true;  ///< tokens are split into words
  bool ranges = false;     ///< TokenRange in MISC says where a token is in the text
  bool columns = true;     ///< UPOS, XPOS, FEATS and LEMMA
  bool trees = true;       ///< HEAD and DEPREL
  bool replace = false;    ///< fields that are filled already are filled, too

  bool is_text() const { return format == Format::kText || format == Format::kLines; }
};

/// Annotated sentence, as lines of CoNLL-U: those of its words and the comments that the input has.
struct AnnotatedSentence {
  std::vector<std::string> lines;
  std::string text;  ///< for the comment `# text`
  bool begins_paragraph = false;
};

/// Input that is read, and its sentences once it is annotated.
struct Document {
  Task task;
  std::vector<Paragraph> paragraphs;        ///< of text
  std::vector<nlp::conllu::Sentence> rows;  ///< of any other input
  std::vector<std::string> texts;           ///< of each of these
  std::size_t offset = 0;                   ///< letters of the text before the paragraphs

  std::vector<AnnotatedSentence> sentences;  ///< result

  bool empty() const { return paragraphs.empty() && rows.empty(); }
  /// Its letters; eight for each word that is given.
  std::size_t weight() const;
};

/// Weight up to which documents are annotated together, for each thread.
inline constexpr std::size_t kMostWeight = 1 << 15;

/// Reads an input in documents of a weight above `most`, and calls `use` with each, also when what
/// comes next would have to be waited for. Throws LineError for malformed input, after it has
/// called `use` with what came before.
void for_documents(const nlp::TextSource& source, const Task& task, std::size_t most,
                   const std::function<void(Document)>& use);

/// Annotates documents, many sentences of any of them in a graph. Each one gets the same sentences
/// as alone. Returns how many sentences were cut since they had more than 1,000 tokens.
std::size_t annotate(Model& model, std::span<Document> documents);

/// Writes sentences, as CoNLL-U or as JSON.
class SentenceWriter {
 public:
  using Write = std::function<void(const std::string& line)>;

  /// The first comments name the program and the model.
  SentenceWriter(Write write, const std::string& model, bool json = false);
  /// Adds a line to the first comments, or to those of the next sentence.
  void add_comment(const std::string& line) { first_.push_back(line); }
  /// The next sentence begins a document.
  void begin_document(const std::string& id) { add_comment("# newdoc id = " + id); }
  void write(const AnnotatedSentence& sentence);

 private:
  const Write write_;
  const bool json_;
  std::vector<std::string> first_;  ///< comments for the next sentence
  std::size_t count_ = 0;
};

}  // namespace annotate
