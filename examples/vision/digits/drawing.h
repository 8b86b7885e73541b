#pragma once

#include <string>
#include <vector>

#include "examples/nlp/common/label_scores.h"

namespace digits {

/// SVG picture of filters {height,width,1,n}, column-major like the parameter, from black for the
/// smallest to white for the largest weight of each filter, and of the confusion matrix, one row
/// per correct label, darker for larger shares of the row.
std::string drawing(const std::vector<float>& filters, unsigned height, unsigned width,
                    const nlp::LabelScores& confusion);

}  // namespace digits
