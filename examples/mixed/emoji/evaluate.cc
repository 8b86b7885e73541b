#include "examples/mixed/emoji/evaluate.h"

#include <algorithm>

#include "examples/nlp/common/progress.h"

namespace emoji {

double Report::decisive() const {
  // A mean probability, below one, never outweighs one more correct answer.
  const auto total = 2 * static_cast<double>(std::max<std::size_t>(1, whole().group.total));
  const auto right = static_cast<double>(whole().group.right + whole().subgroup.right);
  return (right + sureness / total) / total;
}

nlp::Figures Report::figures() const {
  nlp::Figures figures = {
      {"group accuracy", whole().group.value(), baseline.group.value()},
      {"subgroup accuracy", whole().subgroup.value(), baseline.subgroup.value()}};
  for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
    const auto& [inputs, accuracy] = choices[i];
    figures.push_back({inputs.names() + ": group", accuracy.group.value(), baseline.group.value()});
    figures.push_back(
        {inputs.names() + ": subgroup", accuracy.subgroup.value(), baseline.subgroup.value()});
  }
  return figures;
}

nlp::Counts Report::counts() const {
  return {{"emoji", whole().group.total}, {"unknown subgroups", unknown}};
}

void Report::print(std::ostream& out) const {
  constexpr std::size_t kName = 18, kFigure = 10;
  out << name << ": " << nlp::with_commas(whole().group.total) << " emoji";
  if (unknown > 0)
    out << ", " << nlp::with_commas(unknown) << " of a subgroup that training did not have";
  const auto line = [&](const std::string& what, const std::string& group,
                        const std::string& subgroup) {
    out << "\n  " << what << std::string(kName - std::min(kName, what.size()), ' ')
        << nlp::padded(group, kFigure) << nlp::padded(subgroup, kFigure);
  };
  line("", "group", "subgroup");
  const auto figures = [&](const std::string& what, const Accuracy& accuracy) {
    line(what, nlp::percent(accuracy.group.value()), nlp::percent(accuracy.subgroup.value()));
  };
  figures("most frequent", baseline);
  for (const auto& [inputs, accuracy] : choices) figures(inputs.names(), accuracy);
  out << std::endl;
}

}  // namespace emoji
