#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace rnnlm {

/// How sentences are written in a file.
enum class Format {
  kAuto,   ///< guessed from the first line
  kText,   ///< one sentence a line
  kBible,  ///< one verse a line, `Ge1:1 In the beginning ...`; the reference is no part of it
};

/// What is predicted. Words of `text` are what white space separates; in verses marks are words of
/// their own. Characters are UTF-8 code points; a byte that belongs to none stands for itself.
enum class Level { kWord, kChar };

const char* format_name(Format format);
/// Throws UserError listing the names.
Format format_from_name(const std::string& name);
const char* level_name(Level level);
Level level_from_name(const std::string& name);

/// How lines become tokens.
struct ReadOptions {
  Format format = Format::kAuto;
  Level level = Level::kWord;
  bool lower = false;  ///< ASCII letters lower-cased

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& format& level& lower;
  }
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
Corpus read_corpus(const std::string& path, ReadOptions& options);
/// The same from a stream; `name` stands for the file in messages.
Corpus read_corpus(std::istream& in, const std::string& name, ReadOptions& options);

std::size_t count_words(const Corpus& corpus);

}  // namespace rnnlm
