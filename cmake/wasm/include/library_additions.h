// Included before each source: what dynet-like uses of C++20's library and libc++ 13, that of
// Debian 12's Emscripten, lacks. Later versions have all but numbers with a point.
#pragma once

#if __cplusplus >= 202002L  // not the checks of CMake
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace std {

#if _LIBCPP_VERSION < 14000
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
#endif

#if _LIBCPP_VERSION < 16000
template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t n) {
  return unique_ptr<Array>(new remove_extent_t<Array>[n]);
}
#endif

/// Digits that restore the number exactly, though not the shortest.
template <class Number, class = enable_if_t<is_floating_point_v<Number>>>
to_chars_result to_chars(char* begin, char* end, Number x) {
  char digits[32];
  const int n = snprintf(digits, sizeof digits, "%.17g", static_cast<double>(x));
  if (n > end - begin) return {end, errc::value_too_large};
  memcpy(begin, digits, static_cast<size_t>(n));
  return {begin + n, errc()};
}

template <class Number, class = enable_if_t<is_floating_point_v<Number>>>
from_chars_result from_chars(const char* begin, const char* end, Number& x) {
  const string text(begin, end);
  char* last = nullptr;
  const Number read = is_same_v<Number, float> ? strtof(text.c_str(), &last)
                                               : static_cast<Number>(strtod(text.c_str(), &last));
  if (last == text.c_str() || text[0] == '+' || text[0] == ' ')
    return {begin, errc::invalid_argument};
  x = read;
  return {begin + (last - text.c_str()), errc()};
}

}  // namespace std
#endif
