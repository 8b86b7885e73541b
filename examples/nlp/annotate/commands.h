#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace annotate {

/// The command `run`: annotates text.
std::unique_ptr<nlp::Command> run_command();
/// The command `eval`: scores a saved model on a treebank.
std::unique_ptr<nlp::Command> eval_command();
/// The command `serve`: annotates text over HTTP.
std::unique_ptr<nlp::Command> serve_command();

}  // namespace annotate
