#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace parser {

/// Scores a saved model, and says how fast it is.
std::unique_ptr<nlp::Command> eval_command();
/// Scores a parsed file by the rules of the CoNLL 2018 shared task.
std::unique_ptr<nlp::Command> score_command();
/// Gives sentences trees.
std::unique_ptr<nlp::Command> parse_command();

}  // namespace parser
