#pragma once

#include <cstddef>
#include <string>

#include "examples/nlp/common/text_input.h"

namespace nlp {

/// Name of the markup in a line, empty for plain text: "CoNLL-U", "word|TAG", "columns", "trees".
std::string markup_of(const std::string& line);

/// Throws LineError for a line with markup, which would be read as words.
void require_plain(const std::string& line, std::size_t number, const std::string& name);

/// Checks the first line that is not blank.
class PlainText {
 public:
  void check(const std::string& line, const InputFile& in) { check(line, in.number(), in.name()); }
  void check(const std::string& line, std::size_t number, const std::string& name) {
    if (known_ || is_blank(line)) return;
    known_ = true;
    require_plain(line, number, name);
  }

 private:
  bool known_ = false;
};

}  // namespace nlp
