#include "dynet-like/base/printable.h"

#include <cstdint>

namespace dynet {
namespace {

constexpr char kHex[] = "0123456789abcdef";

struct Character {
  std::uint32_t code;
  std::size_t bytes;  // 0: not UTF-8
};

// The first character; the text is not empty. UTF-8 as the Unicode Standard has it (table 3-7):
// shortest forms, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text) {
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
  return valid ? Character{code, n} : Character{0, 0};
}

bool is_shown_as_it_is(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool reorders = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                        (c >= 0x2066 && c <= 0x2069);
  return !control && !separator && !reorders;
}

std::string escaped(std::uint32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  std::string digits;
  do {
    digits.insert(digits.begin(), kHex[c & 15]);
    c >>= 4;
  } while (c != 0);
  return "\\u{" + digits + "}";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    const auto head = static_cast<unsigned char>(text[0]);
    if (bytes == 0)
      out.append({'\\', 'x', kHex[head >> 4], kHex[head & 15]});
    else if (is_shown_as_it_is(code))
      out += text.substr(0, bytes);
    else
      out += escaped(code);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::string quoted_printable(std::string_view text) { return '"' + printable(text) + '"'; }

}  // namespace dynet
