#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace parser {

/// The command `eval`: scores a saved model and prints its speed.
std::unique_ptr<nlp::Command> eval_command();
/// The command `score`: scores a parsed file by the rules of the CoNLL 2018 shared task.
std::unique_ptr<nlp::Command> score_command();
/// The command `parse`: parses sentences.
std::unique_ptr<nlp::Command> parse_command();
/// The command `serve`: does so over HTTP.
std::unique_ptr<nlp::Command> serve_command();

}  // namespace parser
