#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace classifier {

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `classify`: labels texts, one a line: the label, the probabilities of all labels in
/// descending order, and the words, separated by tabs. Blank lines are preserved.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace classifier
