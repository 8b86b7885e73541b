#pragma once

#include <string>
#include <string_view>

namespace nlp {

/// Text content of an SVG element: special characters become entities, control characters '?'.
std::string svg_text(std::string_view text);

}  // namespace nlp
