#pragma once

#include <string>
#include <vector>

namespace emoji {

/// Emoji on a contact sheet, with its correct and its predicted label.
struct Answer {
  std::string emoji, wanted, found;
};

/// Contact sheet as lines of SVG: wrong answers first, framed in red, with the predicted label;
/// then unknown ones (empty `wanted`) in grey; then correct ones in green. The viewer's font draws
/// the emoji.
std::vector<std::string> sheet_lines(std::vector<Answer> answers);

}  // namespace emoji
