#pragma once

#include <type_traits>

namespace dynet {

/// File and line of the user's code that created a node.
///
/// A default argument `SourceLocation at = SourceLocation::current()` records the caller. It
/// replaces std::source_location, which Clang 14 lacks with GCC's standard library.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;

  constexpr SourceLocation() = default;
  // Template, so that a list of numbers such as {0, 1} does not convert to a location.
  template <class File, class = std::enable_if_t<std::is_same_v<File, const char*>>>
  constexpr SourceLocation(File f, unsigned l) : file(f), line(l) {}

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace dynet
