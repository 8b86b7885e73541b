#pragma once

#include <string>
#include <string_view>

namespace nlp {

/// The text of an element of SVG: marks become entities, control characters '?'.
std::string svg_text(std::string_view text);

}  // namespace nlp
