#include "examples/nlp/common/score.h"

#include <cstdio>

namespace nlp {

std::string percent(double ratio) { return fixed(100.0 * ratio, 2) + " %"; }

std::string fixed(double value, int digits) {
  char text[512];  // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace nlp
