#pragma once

#include <string>

#include "dynet-like/io/files.h"

namespace dynet {

/// Writes a copy of a model file whose matrices and tables have 8 bits for each value, a quarter of
/// their size: each row is rounded to integers times max |x| / 127. Everything else stays, also
/// what is not a parameter, such as the state of a trainer. Programs load it like the original and
/// multiply by these matrices in integers, on every CPU with the same bits. Throws FileError, for
/// values that are not finite as well.
void write_int8_copy(const std::string& from, const std::string& to,
                     const SaveOptions& options = {});

}  // namespace dynet
