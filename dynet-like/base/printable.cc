#include "dynet-like/base/printable.h"

#include <cstdint>

#include "dynet-like/base/utf8.h"

namespace dynet {
namespace {

constexpr char kHex[] = "0123456789abcdef";

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
    const auto [code, bytes] = first_utf8_character(text);
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

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character c = first_utf8_character(text);
    const std::size_t bytes = std::max<std::size_t>(1, c.bytes);
    if (c.code == '&')
      result += "&amp;";
    else if (c.code == '<')
      result += "&lt;";
    else if (c.code == '>')
      result += "&gt;";
    else if (c.code == '"')
      result += "&quot;";
    else if (c.bytes == 0 || (c.code < 0x20 && c.code != '\n') || (c.code & 0xfffe) == 0xfffe)
      result += '?';
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace dynet
