#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace rnnlm {

/// Formats of a file.
enum class Format {
  kAuto,   ///< guessed from the first line
  kText,   ///< one sentence a line
  kBible,  ///< one verse a line, `Ge1:1 In the beginning ...`; the reference is skipped
};

/// Unit of prediction. Words of `text` are separated by white space; in verses punctuation marks
/// are separate words. Characters are UTF-8 code points; invalid bytes stand for themselves.
enum class Level { kWord, kChar };

inline const nlp::Names<Format> kFormats = {
    {Format::kAuto, "auto"}, {Format::kText, "text"}, {Format::kBible, "bible"}};

const char* format_name(Format format);
/// Throws UserError that lists the names.
Format format_from_name(const std::string& name);
inline const nlp::Names<Level> kLevels = {{Level::kWord, "word"}, {Level::kChar, "char"}};

/// Tokenization of lines.
struct ReadOptions {
  Format format = Format::kAuto;
  Level level = Level::kWord;
  bool lower = false;  ///< ASCII letters lower-cased

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& format& level& lower;
  }
  void check() const;  ///< see nlp::Checked
};

/// A sentence, and its length in words and characters, each including the end.
struct Sentence {
  std::vector<std::string> tokens;
  std::size_t words = 1;
  std::size_t characters = 1;
};

using Corpus = std::vector<Sentence>;

/// Tokenizes one line. Verses may lack their reference.
Sentence read_sentence(const std::string& line, const ReadOptions& options);

/// Text of tokens: words separated by single spaces, and punctuation of verses attached to words.
std::string text_of(const std::vector<std::string>& tokens, const ReadOptions& options);

/// Reads all sentences; blank lines are ignored. Replaces kAuto in `options` by the detected
/// format. Throws LineError for a line that is not a verse in a file of verses and for a zero byte,
/// UserError for a file that cannot be read or has no sentence.
Corpus read_corpus(const nlp::TextSource& source, ReadOptions& options);
/// Reads a stream; `source` is its name in messages.
Corpus read_corpus(std::istream& in, const nlp::TextSource& source, ReadOptions& options);

std::size_t count_words(const Corpus& corpus);
/// Number of tokens including the ends of sentences.
std::size_t count_tokens(const Corpus& corpus);

/// Sentence as numbers, without its end.
using Ids = std::vector<unsigned>;

/// Tokens of a model: two special ones, then by descending frequency.
class Vocabulary {
 public:
  static constexpr unsigned kEnd = 0;      ///< ends every sentence, and is the first input
  static constexpr unsigned kUnknown = 1;  ///< unknown token

  explicit Vocabulary(std::vector<std::string> tokens);

  unsigned size() const { return static_cast<unsigned>(tokens_.size()); }
  const std::string& token(unsigned id) const { return tokens_[id]; }
  unsigned id(const std::string& token) const;
  Ids encode(const Sentence& sentence) const;

 private:
  std::vector<std::string> tokens_;
  dynet::Dict dict_;
};

/// Tokens with at least `min_count` occurrences in training.
std::vector<std::string> collect_tokens(const Corpus& train, std::size_t min_count);

/// Sentences processed in parallel, one token of each per step, padded with ends.
class Minibatch {
 public:
  explicit Minibatch(std::vector<const Ids*> sentences);

  std::size_t size() const { return sentences_.size(); }
  /// Number of steps: the length of the longest sentence, with its end.
  std::size_t steps() const { return steps_; }
  /// Number of tokens and ends, without padding.
  std::size_t tokens() const { return tokens_; }

  /// Input tokens of step t: the end at step 0, then the previous token.
  std::vector<unsigned> inputs(std::size_t t) const;
  /// Target tokens of the steps [begin, end), step by step.
  std::vector<unsigned> targets(std::size_t begin, std::size_t end) const;
  /// Mask of the targets: 1, or 0 for padding.
  std::vector<float> mask(std::size_t begin, std::size_t end) const;

 private:
  std::vector<const Ids*> sentences_;
  std::size_t steps_ = 0;
  std::size_t tokens_ = 0;
};

/// Limits of a minibatch.
struct BatchLimits {
  std::size_t sentences = 16;
  std::size_t tokens = 1500;  ///< including padding; a longer sentence is a minibatch of its own
};

/// Minibatches of sentences of similar length, as indices in `sentences`. Sentences of equal length
/// keep the order of `order`, a permutation of all indices.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Ids>& sentences,
                                                 std::vector<std::size_t> order,
                                                 const BatchLimits& limits);

}  // namespace rnnlm
