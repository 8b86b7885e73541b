#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace rnnlm {

/// Values of --format, for --help.
inline constexpr const char* kFormatHelp =
    "text (one sentence a line) or bible (verses as printed by the Debian package bible-kjv); "
    "guessed by default";

/// The command `eval`: perplexities of a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `score`: for each line its log-probability, number of tokens including the end, and
/// perplexity.
std::unique_ptr<nlp::Command> score_command();
/// The command `sample`: draws sentences from a saved model, one a line.
std::unique_ptr<nlp::Command> sample_command();

}  // namespace rnnlm
