#pragma once

#include <string>
#include <string_view>

namespace nlp {

/// Text of an element or attribute of SVG and HTML: special characters become entities, control
/// characters '?'.
std::string svg_text(std::string_view text);

}  // namespace nlp
