#pragma once

#include <string>
#include <string_view>

namespace dynet {

/// Escapes untrusted text for messages and terminals: control characters (including line ends and
/// escape sequences) and characters that reorder text become `\n`,
/// `\t`, `\r` or `\u{1b}`, bytes that are not UTF-8 become `\xff`. Idempotent.
std::string printable(std::string_view text);

/// `printable` text in double quotes.
std::string quoted_printable(std::string_view text);

/// Content of an element or attribute of XML and HTML: special characters become entities, what is
/// no text '?'. Line ends stay.
std::string xml_text(std::string_view text);

}  // namespace dynet
