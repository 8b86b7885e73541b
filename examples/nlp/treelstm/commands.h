#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace treelstm {

/// The command `eval`: scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `classify`: labels trees or sentences, one a line: the label, its name, the
/// probabilities of all labels, and the words or the labelled tree, separated by tabs. Blank lines
/// are preserved.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace treelstm
