#include "examples/nlp/common/svg.h"

namespace nlp {

std::string svg_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&' || c == '<' || c == '>' || c == '"')
      result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;";
    else
      result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return result;
}

}  // namespace nlp
