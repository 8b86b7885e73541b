#pragma once

#include <string>
#include <vector>

namespace translate {

/// Attention of a translation: one row of weights per target token and for the end.
struct Look {
  std::vector<std::string> source, target;
  std::vector<std::vector<float>> weights;  ///< by target token, then by source token
};

/// Draws the weights as an SVG picture, one table below another; darker cells have larger weights.
std::string attention_picture(const std::vector<Look>& looks);

}  // namespace translate
