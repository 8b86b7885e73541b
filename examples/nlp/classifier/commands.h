#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace classifier {

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// Labels texts, one a line: the label, the probabilities of all labels, the most probable first,
/// and the words, with tabs between them. A blank line stays one.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace classifier
