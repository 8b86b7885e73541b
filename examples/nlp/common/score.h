#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

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

/// A score of the model beside that of a trivial one.
struct Figure {
  std::string name;
  double model = 0;
  double baseline = 0;  ///< NaN: there is none
};
using Figures = std::vector<Figure>;

/// How much was scored, by what it is: "sentences".
using Counts = std::vector<std::pair<std::string, std::size_t>>;
/// "test: 2 sentences, 1,234 words"
void print_counts(const std::string& name, const Counts& counts, std::ostream& out);

/// The figures as percentages, a column each under its title, which may be another than its name; a
/// row for the model and one for the baseline, whose labels are of the same length.
void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 const std::vector<std::string>& titles, std::ostream& out);
void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 std::ostream& out);

/// "93.21 %"
std::string percent(double ratio);
/// With so many digits behind the point.
std::string fixed(double value, int digits);
/// The text with spaces before it, so that it is `width` wide.
std::string padded(const std::string& text, std::size_t width);

}  // namespace nlp
