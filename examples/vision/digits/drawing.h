#pragma once

#include <string>
#include <vector>

#include "examples/nlp/common/label_scores.h"

namespace digits {

/// A picture in the format SVG: the filters {height,width,1,n}, column by column as a parameter has
/// them, from black for the lowest weight of one to white for its highest, and the confusion
/// matrix, a row for each right label, darker the larger its share of the row.
std::string drawing(const std::vector<float>& filters, unsigned height, unsigned width,
                    const nlp::LabelScores& confusion);

}  // namespace digits
