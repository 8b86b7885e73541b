#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace parser {

/// Scores a saved model, and says how fast it is.
std::unique_ptr<nlp::Command> eval_command();
/// Gives CoNLL-U sentences new trees.
std::unique_ptr<nlp::Command> parse_command();

}  // namespace parser
