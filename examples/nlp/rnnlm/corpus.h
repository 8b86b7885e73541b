#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"

namespace rnnlm {

/// How sentences are written in a file.
enum class Format {
  kAuto,   ///< guessed from the first line
  kText,   ///< one sentence a line
  kBible,  ///< one verse a line, `Ge1:1 In the beginning ...`; the reference is no part of it
};

/// Unit of prediction. White space separates the words of `text`; in verses marks are words of
/// their own. Characters are UTF-8 code points; a byte that belongs to none stands for itself.
enum class Level { kWord, kChar };

const char* format_name(Format format);
/// Throws UserError listing the names.
Format format_from_name(const std::string& name);
inline const nlp::Names<Level> kLevels = {{Level::kWord, "word"}, {Level::kChar, "char"}};

/// How lines become tokens.
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

/// A sentence, and its length in words and in characters, its end counted as one of each.
struct Sentence {
  std::vector<std::string> tokens;
  std::size_t words = 1;
  std::size_t characters = 1;
};

using Corpus = std::vector<Sentence>;

/// One line. Verses may come without their reference here.
Sentence read_sentence(const std::string& line, const ReadOptions& options);

/// The text that tokens stand for: single spaces, marks of verses beside their words.
std::string text_of(const std::vector<std::string>& tokens, const ReadOptions& options);

/// All sentences; blank lines are none. A format of kAuto in `options` is replaced by the one
/// found. Throws LineError for a line that is no verse where verses are wanted or that holds a zero
/// byte, UserError for a file that cannot be read or holds no sentence.
Corpus read_corpus(const nlp::TextSource& source, ReadOptions& options);
/// The same from a stream; `source` says what messages call it.
Corpus read_corpus(std::istream& in, const nlp::TextSource& source, ReadOptions& options);

std::size_t count_words(const Corpus& corpus);
/// With the ends of the sentences.
std::size_t count_tokens(const Corpus& corpus);

/// A sentence as numbers, without its end.
using Ids = std::vector<unsigned>;

/// The tokens that a model knows, from the most to the least frequent behind two special ones.
class Vocabulary {
 public:
  static constexpr unsigned kEnd = 0;  ///< ends every sentence, and stands before the first token
  static constexpr unsigned kUnknown = 1;  ///< stands for every other token

  explicit Vocabulary(std::vector<std::string> tokens);

  unsigned size() const { return static_cast<unsigned>(tokens_.size()); }
  const std::string& token(unsigned id) const { return tokens_[id]; }
  unsigned id(const std::string& token) const;
  Ids encode(const Sentence& sentence) const;

 private:
  std::vector<std::string> tokens_;
  dynet::Dict dict_;
};

/// The tokens of a vocabulary: those that training has at least `min_count` times.
std::vector<std::string> collect_tokens(const Corpus& train, std::size_t min_count);

/// Sentences side by side, one token of each at a time. The shorter ones are padded with ends.
class Minibatch {
 public:
  explicit Minibatch(std::vector<const Ids*> sentences);

  std::size_t size() const { return sentences_.size(); }
  /// Steps: the tokens of the longest sentence and its end.
  std::size_t steps() const { return steps_; }
  /// Tokens and ends, without the padding.
  std::size_t tokens() const { return tokens_; }

  /// Input tokens of step t: the end at step 0, then the token before.
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

/// How many sentences go into one minibatch.
struct BatchLimits {
  std::size_t sentences = 16;
  std::size_t tokens = 1500;  ///< with padding; a longer sentence goes alone
};

/// Minibatches of sentences of similar length, as places in `sentences`. Sentences of equal length
/// stay in the order of `order`, which names every sentence once.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Ids>& sentences,
                                                 std::vector<std::size_t> order,
                                                 const BatchLimits& limits);

}  // namespace rnnlm
