#pragma once

#include <boost/serialization/string.hpp>
#include <string>

#include "examples/nlp/common/text.h"

namespace nlp {

inline std::string model_kind(const std::string& program) { return program + " model 1"; }
inline std::string checkpoint_kind(const std::string& program) { return program + " checkpoint 1"; }

/// Reads the kind of a file, such as "tagger model 1". Throws UserError with the name of the file
/// for any other kind.
template <typename Archive>
void read_kind(Archive& archive, const std::string& path, const std::string& wanted) {
  std::string kind;
  archive >> kind;
  if (kind != wanted) {
    throw UserError(path + " holds " + in_quotes(kind) + ", expected " + in_quotes(wanted));
  }
}

}  // namespace nlp
