#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace tagger {

/// What --format may be.
inline constexpr const char* kFormatHelp =
    "conllu, pipe (word|TAG), columns (a word and its tag), bible (verses as printed by the "
    "Debian package bible-kjv) or text (both restore case and punctuation); guessed by default";

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// Tags sentences, or restores text.
std::unique_ptr<nlp::Command> tag_command();

}  // namespace tagger
