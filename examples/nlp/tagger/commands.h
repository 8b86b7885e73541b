#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace tagger {

/// Values of --format, for --help.
inline constexpr const char* kFormatHelp =
    "conllu, pipe (word|TAG), columns (a word and its tag), bible (verses as printed by the "
    "Debian package bible-kjv), text (both restore case and punctuation) or parallel (a folder "
    "with "
    "seq.in and seq.out, or two files: words,tags); guessed by default, but parallel";

/// The command `eval`: scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `tag`: tags sentences, or restores text.
std::unique_ptr<nlp::Command> tag_command();
/// The command `serve`: does so over HTTP.
std::unique_ptr<nlp::Command> serve_command();

}  // namespace tagger
