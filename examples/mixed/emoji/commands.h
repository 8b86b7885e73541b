#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace emoji {

/// Scores a saved model with every choice of its inputs.
std::unique_ptr<nlp::Command> eval_command();
/// Says what emoji are, one a line, whatever is known of them: the emoji, its group with the
/// probability, its subgroup likewise, with tabs between them.
std::unique_ptr<nlp::Command> predict_command();

}  // namespace emoji
