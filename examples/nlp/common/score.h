#pragma once

#include <cstddef>
#include <string>

namespace nlp {

/// Right ones among all.
struct Ratio {
  std::size_t right = 0;
  std::size_t total = 0;
  void count(bool is_right) {
    right += is_right ? 1 : 0;
    ++total;
  }
  /// From 0 to 1; 0 of 0 is 0.
  double value() const {
    return total == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(total);
  }
};

/// "93.21 %"
std::string percent(double ratio);
/// With so many digits behind the point.
std::string fixed(double value, int digits);
/// The text with spaces before it, so that it is `width` wide.
std::string padded(const std::string& text, std::size_t width);

}  // namespace nlp
