#pragma once

#include <string>

namespace tagger {

// A word and its tag as `word|TAG`. The last '|' without a backslash before it separates them, or
// the last one if all have one. In the tag `\|` is a '|'.

struct TaggedWord {
  std::string word, tag;
  bool operator==(const TaggedWord&) const = default;
};

/// The word and the tag of a token; both are empty if it has no '|'.
TaggedWord from_pipe(const std::string& token);

/// Throws UserError for what `from_pipe` would not read as it is: a word with a space, for one.
std::string to_pipe(const TaggedWord& tagged);

}  // namespace tagger
