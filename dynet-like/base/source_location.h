#pragma once

#include <type_traits>

namespace dynet {

/// The user's file and line at which a node was made.
///
/// A defaulted parameter `SourceLocation at = SourceLocation::current()` records the caller. It
/// stands in for std::source_location, which Clang 14 does not have with GCC's standard library.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;

  constexpr SourceLocation() = default;
  // A template, so that a list of numbers such as {0, 1} is never taken for a place.
  template <class File, class = std::enable_if_t<std::is_same_v<File, const char*>>>
  constexpr SourceLocation(File f, unsigned l) : file(f), line(l) {}

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace dynet
