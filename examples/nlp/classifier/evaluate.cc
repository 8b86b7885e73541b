#include "examples/nlp/classifier/evaluate.h"

#include <algorithm>
#include <map>
#include <set>

#include "examples/nlp/common/progress.h"

namespace classifier {

std::vector<std::string> labels_of(const Corpus& corpus) {
  std::set<std::string> labels;
  for (const Sample& sample : corpus) labels.insert(sample.label);
  return {labels.begin(), labels.end()};
}

std::string most_frequent_label(const Corpus& train) {
  std::map<std::string, std::size_t> counts;
  for (const Sample& sample : train) ++counts[sample.label];
  const auto rarer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(counts.begin(), counts.end(), rarer);
  return most == counts.end() ? "" : most->first;
}

double Report::decisive() const {
  // A mean probability, below one, never outweighs one more correct text.
  const auto total = static_cast<double>(std::max<std::size_t>(1, model.total));
  return (static_cast<double>(model.right) + sureness / total) / total;
}

nlp::Figures Report::figures() const { return {{"accuracy", model.value(), baseline.value()}}; }

nlp::Counts Report::counts() const { return {{"texts", model.total}, {"unknown labels", unknown}}; }

void Report::print(std::ostream& out) const {
  out << name << ": " << nlp::with_commas(model.total) << " texts";
  if (unknown > 0) {
    out << ", " << nlp::with_commas(unknown) << " with a label that training did not have";
  }
  out << '\n';
  nlp::print_table("  classifier         ", "  most frequent label", figures(), out);
}

}  // namespace classifier
