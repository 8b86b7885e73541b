#pragma once

#include <cstddef>
#include <string>

#include "examples/nlp/common/text_input.h"

namespace nlp {

/// Name of the markup in a line, empty for plain text: "CoNLL-U", "word|TAG", "columns", "trees".
std::string markup_of(const std::string& line);

/// Throws LineError for a line with markup, which would be read as words.
void require_plain(const std::string& line, std::size_t number, const std::string& name);

/// Checks the first line of a text that is not blank; a text in memory may have any.
class PlainText {
 public:
  PlainText() = default;
  explicit PlainText(const TextSource& source) : known_(source.content != nullptr) {}

  void check(const std::string& line, const InputFile& in) { check(line, in.number(), in.name()); }
  void check(const std::string& line, std::size_t number, const std::string& name) {
    if (known_ || is_blank(line)) return;
    known_ = true;
    require_plain(line, number, name);
  }

 private:
  bool known_ = false;  ///< the first line is behind, or may be any
};

}  // namespace nlp
