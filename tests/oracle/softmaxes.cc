#include "tests/oracle/models.h"

namespace dynet::test {
namespace {

/// Operands: x, parameters. Settings: classes, cutoffs (as many as the first says), words.
AdaptiveSoftmaxBuilder adaptive(Case& c) {
  AdaptiveSoftmaxBuilder::Settings s{c.x[0].dim().rows(), c.setting(0)};
  for (unsigned k = 0; k < c.setting(1); ++k) s.cutoffs.push_back(c.setting(2 + k));
  s.shrink = 2;
  AdaptiveSoftmaxBuilder softmax(c.model, s);
  c.lend(softmax.get_parameter_collection(), 1);
  softmax.new_graph(c.g);
  return softmax;
}

Expression adaptive_distribution(Case& c) { return adaptive(c).full_log_distribution(c.x[0]); }

Expression adaptive_loss(Case& c) {
  return adaptive(c).neg_log_softmax(c.x[0], c.settings(2 + c.setting(1)));
}

/// Settings: the smoothing, classes.
Expression smoothed(Case& c) { return label_smoothed_loss(c.x[0], c.settings(1), c.a[0]); }

/// Operands: gate, scores, attention. Settings: targets, one for each batch element, then sources.
Expression copied(Case& c) {
  const unsigned batch = c.x[0].dim().batch_elems(), length = c.x[2].dim().rows();
  const std::vector<unsigned> all = c.settings();
  std::vector<std::vector<unsigned>> sources;
  for (auto at = all.begin() + batch; at != all.end(); at += length)
    sources.emplace_back(at, at + length);
  return copy_log_prob(c.x[0], c.x[1], c.x[2], sources, {all.begin(), all.begin() + batch});
}

/// Operands: gate, scores, attention. Settings: how many words are the source's own, the source.
Expression copied_distribution(Case& c) {
  return copy_log_distribution(c.x[0], c.x[1], c.x[2], c.settings(1), c.setting(0));
}

}  // namespace

const Builders& softmaxes() {
  static const Builders all = {
      {"adaptive_distribution", adaptive_distribution},
      {"adaptive_loss", adaptive_loss},
      {"label_smoothed_loss", smoothed},
      {"copy_log_prob", copied},
      {"copy_log_distribution", copied_distribution},
  };
  return all;
}

}  // namespace dynet::test
