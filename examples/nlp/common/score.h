#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace nlp {

/// Correct items out of all.
struct Ratio {
  std::size_t right = 0;
  std::size_t total = 0;
  void count(bool is_right) {
    right += is_right ? 1 : 0;
    ++total;
  }
  /// From 0 to 1; 0 for an empty total.
  double value() const {
    return total == 0 ? 0.0 : static_cast<double>(right) / static_cast<double>(total);
  }
};

/// Score of the model and of a trivial baseline.
struct Figure {
  std::string name;
  double model = 0;
  double baseline = 0;  ///< NaN: no baseline
};
using Figures = std::vector<Figure>;

/// Amounts of scored data with their names: "sentences".
using Counts = std::vector<std::pair<std::string, std::size_t>>;
/// "test: 2 sentences, 1,234 words"
void print_counts(const std::string& name, const Counts& counts, std::ostream& out);

/// Prints the figures as percentages, one column per figure, with titles that may differ from the
/// names, and one row each for the model and the baseline, whose names have equal length.
void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 const std::vector<std::string>& titles, std::ostream& out);
void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 std::ostream& out);

/// "93.21 %"
std::string percent(double ratio);
/// Number with `digits` digits after the decimal point.
std::string fixed(double value, int digits);
/// Text left-padded with spaces to `width`.
std::string padded(const std::string& text, std::size_t width);

}  // namespace nlp
