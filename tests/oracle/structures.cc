#include <span>

#include "tests/oracle/models.h"

namespace dynet::test {
namespace {

/// Settings that come in groups, as elements of structs: labels and lengths, or spans.
template <class T, std::size_t N>
std::vector<T> grouped(const std::vector<unsigned>& settings) {
  std::vector<T> all;
  for (std::size_t k = 0; k + N <= settings.size(); k += N) {
    if constexpr (N == 2)
      all.push_back({settings[k], settings[k + 1]});
    else
      all.push_back({settings[k], settings[k + 1], settings[k + 2]});
  }
  return all;
}

/// The first two settings say which trees there are.
DependencyRules rules_of(const Case& c) { return {c.setting(0) != 0, c.setting(1) != 0}; }

/// Log-probabilities of columns, to which `labels` are aligned.
Expression frames(const Case& c) { return log_softmax(c.x[0]); }

}  // namespace

const Builders& structures() {
  static const Builders all = {
      {"crf_log_partition",
       [](Case& c) { return crf_log_partition(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"crf_log_prob",
       [](Case& c) { return crf_log_prob(c.x[0], c.x[1], c.x[2], c.x[3], c.settings()); }},
      {"crf_marginals", [](Case& c) { return crf_marginals(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"crf_entropy", [](Case& c) { return crf_entropy(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"semi_crf_log_partition",
       [](Case& c) { return semi_crf_log_partition(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"semi_crf_log_prob",
       [](Case& c) {
         return semi_crf_log_prob(c.x[0], c.x[1], c.x[2], c.x[3],
                                  grouped<Segment, 2>(c.settings()));
       }},
      {"semi_crf_marginals",
       [](Case& c) { return semi_crf_marginals(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"semi_crf_entropy",
       [](Case& c) { return semi_crf_entropy(c.x[0], c.x[1], c.x[2], c.x[3]); }},
      {"span_log_partition", [](Case& c) { return span_log_partition(c.x[0]); }},
      {"span_log_prob",
       [](Case& c) { return span_log_prob(c.x[0], grouped<LabelledSpan, 3>(c.settings())); }},
      {"span_marginals", [](Case& c) { return span_marginals(c.x[0]); }},
      {"span_entropy", [](Case& c) { return span_entropy(c.x[0]); }},
      {"dependency_log_partition",
       [](Case& c) { return dependency_log_partition(c.x[0], rules_of(c)); }},
      {"dependency_log_prob",
       [](Case& c) { return dependency_log_prob(c.x[0], c.settings(2), rules_of(c)); }},
      {"dependency_marginals", [](Case& c) { return dependency_marginals(c.x[0], rules_of(c)); }},
      {"dependency_entropy", [](Case& c) { return dependency_entropy(c.x[0], rules_of(c)); }},
      {"ctc_loss", [](Case& c) { return ctc_loss(frames(c), c.settings()); }},
      {"ctc_alignment", [](Case& c) { return ctc_alignment(frames(c), c.settings()); }},
      {"ctc_entropy", [](Case& c) { return ctc_entropy(frames(c), c.settings()); }},
  };
  return all;
}

}  // namespace dynet::test
