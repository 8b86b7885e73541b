#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dynet {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

/// First character of a non-empty text. Accepts the well-formed UTF-8 of the Unicode Standard
/// (table 3-7): shortest forms, no surrogates, at most U+10FFFF.
inline Utf8Character first_utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned head = byte(0);
  if (head < 0x80) return {head, 1};
  const std::size_t n = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4) return {0, 0};
  std::uint32_t code = head & (0xffu >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Utf8Character{code, n} : Utf8Character{};
}

}  // namespace dynet
