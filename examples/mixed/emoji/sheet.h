#pragma once

#include <string>
#include <vector>

namespace emoji {

/// An emoji on a contact sheet: what it is, and what it was taken for.
struct Answer {
  std::string emoji, wanted, found;
};

/// A contact sheet as lines of SVG: wrong answers first, framed in red, with what they were taken
/// for; then right ones, framed in green. The viewer's own font draws the emoji. Answers that are
/// not known to be right or wrong, `wanted` being empty, stand between them, framed in grey.
std::vector<std::string> sheet_lines(std::vector<Answer> answers);

}  // namespace emoji
