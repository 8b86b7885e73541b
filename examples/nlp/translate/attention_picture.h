#pragma once

#include <string>
#include <vector>

namespace translate {

/// Attention of a translation: a row of weights for each of its tokens and one for the end.
struct Look {
  std::vector<std::string> source, target;
  std::vector<std::vector<float>> weights;  ///< by token of the target, then of the source
};

/// Tables of them as an SVG picture, one under another: the darker a cell, the larger its weight.
std::string attention_picture(const std::vector<Look>& looks);

}  // namespace translate
