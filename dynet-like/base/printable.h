#pragma once

#include <string>
#include <string_view>

namespace dynet {

/// Text from elsewhere, fit for a message or a terminal: control characters (line ends and escape
/// sequences among them) and characters that reorder text become `\n`, `\t`, `\r` or `\u{1b}`,
/// bytes that are not UTF-8 become `\xff`. All else stays, so that doing it twice changes nothing
/// more.
std::string printable(std::string_view text);

/// The same in double quotes.
std::string quoted_printable(std::string_view text);

}  // namespace dynet
