#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace emoji {

/// The command `eval`: scores a saved model with every combination of its inputs.
std::unique_ptr<nlp::Command> eval_command();
/// The command `predict`: classifies emoji, one a line, from any inputs: the emoji, its group with
/// the probability, its subgroup with the probability, separated by tabs.
std::unique_ptr<nlp::Command> predict_command();

}  // namespace emoji
