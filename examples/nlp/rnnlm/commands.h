#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace rnnlm {

/// Values of --format, for --help.
inline constexpr const char* kFormatHelp =
    "text (one sentence a line) or bible (verses as printed by the Debian package bible-kjv); "
    "guessed by default";

/// Perplexities of a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// For each line its log-probability, its number of tokens with the end, and its perplexity.
std::unique_ptr<nlp::Command> score_command();
/// Sentences drawn from a saved model, one a line.
std::unique_ptr<nlp::Command> sample_command();

}  // namespace rnnlm
