#pragma once

#include <cstddef>
#include <string>

#include "examples/nlp/common/text_input.h"

namespace nlp {

/// The name of the markup that a line of a file shows, empty for a line of plain text: "CoNLL-U",
/// "word|TAG", "columns", "trees".
std::string markup_of(const std::string& line);

/// Throws LineError if the line shows markup where plain text is wanted, which would be taken for
/// words.
void require_plain(const std::string& line, std::size_t number, const std::string& name);

/// The same for the first line that is not blank: what a text is shows there.
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
