#include "examples/nlp/common/label_scores.h"

#include <algorithm>
#include <set>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/score.h"

namespace nlp {
namespace {

constexpr std::size_t kGap = 2;  // between columns
constexpr std::size_t kPercent = 8;

/// Title of a row: "0 very negative" if the title of the column is 0.
std::string title_of(const LabelScores::Known& known) {
  return known.column == known.label ? known.label : known.column + " " + known.label;
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

std::size_t title_width(const std::vector<LabelScores::Known>& labels, std::size_t least) {
  std::size_t width = least;
  for (const LabelScores::Known& known : labels) width = std::max(width, title_of(known).size());
  return width;
}

}  // namespace

double FoundScore::precision() const { return Ratio{correct, found}.value(); }
double FoundScore::recall() const { return Ratio{correct, wanted}.value(); }
double FoundScore::f1() const {
  return wanted + found == 0
             ? 0.0
             : 2.0 * static_cast<double>(correct) / static_cast<double>(wanted + found);
}

void LabelScores::count(const std::string& wanted, const std::string& predicted, bool right) {
  FoundScore& score = found_[wanted];
  ++score.wanted;
  score.correct += right ? 1 : 0;
  ++found_[predicted].found;
  ++taken_[{wanted, predicted}];
}

std::size_t LabelScores::taken(const std::string& wanted, const std::string& predicted) const {
  const auto found = taken_.find({wanted, predicted});
  return found == taken_.end() ? 0 : found->second;
}

std::vector<LabelScores::Known> LabelScores::labels() const {
  std::vector<Known> labels;
  std::set<std::string> seen;
  for (const Known& known : known_) {
    seen.insert(known.label);
    if (found_.count(known.label) > 0) labels.push_back(known);
  }
  for (const auto& [label, score] : found_) {
    if (seen.count(label) == 0) labels.push_back({label, label});
  }
  return labels;
}

void LabelScores::print(std::ostream& out) const {
  static const std::string kMean = "mean";
  const std::vector<Known> labels = this->labels();
  const std::size_t width = title_width(labels, kMean.size());
  const auto row = [&](const std::string& title, double precision, double recall, double f1) {
    out << "  " << left(title, width);
    for (const double score : {precision, recall, f1}) out << padded(percent(score), kPercent + 3);
  };
  const std::size_t count_width = std::max<std::size_t>(10, what_.size() + kGap);
  out << what_ << ": how well each label is found\n"
      << std::string(2 + width, ' ') << padded("precision", kPercent + 3)
      << padded("recall", kPercent + 3) << padded("F1", kPercent + 3) << padded(what_, count_width)
      << '\n';
  double precision = 0, recall = 0, f1 = 0;
  for (const Known& known : labels) {
    const FoundScore& score = found_.at(known.label);
    row(title_of(known), score.precision(), score.recall(), score.f1());
    out << padded(with_commas(score.wanted), count_width) << '\n';
    precision += score.precision();
    recall += score.recall();
    f1 += score.f1();
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, labels.size()));
  row(kMean, precision / count, recall / count, f1 / count);
  out << std::endl;
}

void LabelScores::print_confusion(std::ostream& out) const {
  const std::vector<Known> labels = this->labels();
  const std::size_t width = title_width(labels, 0);
  std::vector<std::size_t> widths;
  for (const Known& column : labels) {
    widths.push_back(column.column.size());
    for (const Known& row : labels) {
      const std::size_t digits = with_commas(taken(row.label, column.label)).size();
      widths.back() = std::max(widths.back(), digits);
    }
  }
  out << what_ << ": right label by row, predicted label by column\n"
      << std::string(2 + width, ' ');
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out << padded(labels[i].column, widths[i] + kGap);
  }
  out << padded("right", kPercent + kGap) << '\n';
  for (const Known& row : labels) {
    out << "  " << left(title_of(row), width);
    Ratio right{taken(row.label, row.label), 0};
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::size_t count = taken(row.label, labels[i].label);
      out << padded(with_commas(count), widths[i] + kGap);
      right.total += count;
    }
    out << padded(percent(right.value()), kPercent + kGap) << '\n';
  }
  out.flush();
}

}  // namespace nlp
