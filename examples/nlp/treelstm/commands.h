#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace treelstm {

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// Labels trees or sentences, one a line: the label, its name, the probabilities of all labels, and
/// the words or the labelled tree, with tabs between them. A blank line stays one.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace treelstm
