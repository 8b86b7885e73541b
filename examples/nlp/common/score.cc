#include "examples/nlp/common/score.h"

#include <algorithm>
#include <cstdio>

#include "examples/nlp/common/progress.h"

namespace nlp {

void print_counts(const std::string& name, const Counts& counts, std::ostream& out) {
  out << name;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out << (i == 0 ? ": " : ", ") << with_commas(counts[i].second) << ' ' << counts[i].first;
  }
  out << '\n';
}

void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 const std::vector<std::string>& titles, std::ostream& out) {
  constexpr std::size_t kWidth = 9;
  out << std::string(model.size(), ' ');
  for (const std::string& title : titles) out << "  " << padded(title, kWidth);
  for (const double Figure::*score : {&Figure::model, &Figure::baseline}) {
    out << '\n' << (score == &Figure::model ? model : baseline);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      out << "  " << padded(percent(figures[i].*score), std::max(kWidth, titles[i].size()));
    }
  }
  out << std::endl;
}

void print_table(const std::string& model, const std::string& baseline, const Figures& figures,
                 std::ostream& out) {
  std::vector<std::string> titles;
  for (const Figure& figure : figures) titles.push_back(figure.name);
  print_table(model, baseline, figures, titles, out);
}

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
