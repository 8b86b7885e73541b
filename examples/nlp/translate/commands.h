#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace translate {

/// Scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// Translates texts, one a line. A blank line stays one.
std::unique_ptr<nlp::Command> translate_command();

}  // namespace translate
