#pragma once

#include <memory>

#include "examples/nlp/common/command_line.h"

namespace translate {

/// The command `eval`: scores a saved model.
std::unique_ptr<nlp::Command> eval_command();
/// The command `translate`: translates texts, one a line. Blank lines are preserved.
std::unique_ptr<nlp::Command> translate_command();

}  // namespace translate
