#pragma once

#include <boost/serialization/string.hpp>
#include <string>

#include "examples/nlp/common/text.h"

namespace nlp {

inline std::string model_kind(const std::string& program) { return program + " model 1"; }
inline std::string checkpoint_kind(const std::string& program) { return program + " checkpoint 1"; }

/// The first thing in a program's files is what they hold, say "tagger model 1", so that no file is
/// taken for another kind. Throws UserError naming the file.
template <typename Archive>
void read_kind(Archive& archive, const std::string& path, const std::string& wanted) {
  std::string kind;
  archive >> kind;
  if (kind != wanted) {
    throw UserError(path + " holds " + in_quotes(kind) + ", expected " + in_quotes(wanted));
  }
}

}  // namespace nlp
