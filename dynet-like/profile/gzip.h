#pragma once

#include <string>

namespace dynet {

/// The bytes in gzip's format (RFC 1952). Throws FileError in a library that was built without
/// zlib.
std::string gzip(const std::string& bytes);

}  // namespace dynet
