#pragma once

#include <string>

namespace tagger {

// Format `word|TAG`. The separator is the last '|' without a backslash before it, or the last one
// if all have a backslash. In the tag `\|` stands for '|'.

struct TaggedWord {
  std::string word, tag;
  bool operator==(const TaggedWord&) const = default;
};

/// Word and tag of a token; both are empty without a '|'.
TaggedWord from_pipe(const std::string& token);

/// Throws UserError for a word or tag that `from_pipe` would not restore, such as a word with a
/// space.
std::string to_pipe(const TaggedWord& tagged);

}  // namespace tagger
