#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace digits {

/// The command `eval`: scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `classify`: labels picture files, one line each: the label, the probabilities of all
/// labels in descending order, and the file, separated by tabs.
std::unique_ptr<nlp::Command> classify_command();

}  // namespace digits
