#pragma once

namespace dynet {

/// The user's file and line at which a node was made.
///
/// A defaulted parameter `SourceLocation at = SourceLocation::current()` records the caller. It
/// stands in for std::source_location, which Clang 14 does not have with GCC's standard library.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace dynet
