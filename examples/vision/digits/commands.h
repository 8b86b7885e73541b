#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace digits {

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// Labels files of pictures, a line for each: the label, the probabilities of all labels, the most
/// probable first, and the file, with tabs between them.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace digits
