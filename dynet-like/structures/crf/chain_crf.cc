#include "dynet-like/structures/crf/chain_crf.h"

#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/structures/crf/op.h"

namespace dynet {
namespace {

// Zero where `allowed` is true, otherwise minus infinity.
std::vector<float> penalties(const std::vector<bool>& allowed) {
  std::vector<float> scores;
  for (const bool may : allowed)
    scores.push_back(may ? 0.0f : -std::numeric_limits<float>::infinity());
  return scores;
}

}  // namespace

ChainCrf::ChainCrf(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  const unsigned n = settings.tags;
  const TagConstraints& c = settings.allowed;
  if (n == 0) throw ArgumentError("ChainCrf: needs a tag");
  if (c.tags != 0 && (c.tags != n || c.follows.size() != std::size_t{n} * n ||
                      c.begins.size() != n || c.ends.size() != n))
    throw ArgumentError("ChainCrf: the constraints are those of " + std::to_string(c.tags) +
                        " tags, not of " + std::to_string(n));
  collection_ = model.add_subcollection("chain-crf");
  transitions_ = collection_.add_parameters({n, n}, ParameterInitConst(0.0f));
  start_ = collection_.add_parameters({n}, ParameterInitConst(0.0f));
  stop_ = collection_.add_parameters({n}, ParameterInitConst(0.0f));
}

void ChainCrf::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  if (settings_.tags == 0) nn_detail::fail("new_graph", "the layer is empty", at);
  const auto put = [&](const Parameter& p, const std::vector<bool>& allowed) {
    const Expression scores = nn_detail::put(cg, p, update, at);
    if (settings_.allowed.tags == 0) return scores;
    return LocatedExpression(scores, at) + input(cg, p.dim(), penalties(allowed), {}, at);
  };
  const Expression transitions = put(transitions_, settings_.allowed.follows);
  const Expression start = put(start_, settings_.allowed.begins);
  const Expression stop = put(stop_, settings_.allowed.ends);
  transition_scores_ = transitions;
  start_scores_ = start;
  stop_scores_ = stop;
}

void ChainCrf::need_graph(const char* who, SourceLocation at) const {
  if (!transition_scores_.pg) nn_detail::fail(who, "call new_graph first", at);
}

Expression ChainCrf::log_partition(const Expression& scores, SourceLocation at) const {
  need_graph("log_partition", at);
  return crf_log_partition(scores, transition_scores_, start_scores_, stop_scores_, at);
}
Expression ChainCrf::log_prob(const Expression& scores, std::span<const unsigned> tags,
                              SourceLocation at) const {
  need_graph("log_prob", at);
  return crf_log_prob(scores, transition_scores_, start_scores_, stop_scores_, tags, at);
}
Expression ChainCrf::marginals(const Expression& scores, SourceLocation at) const {
  need_graph("marginals", at);
  return crf_marginals(scores, transition_scores_, start_scores_, stop_scores_, at);
}
Expression ChainCrf::entropy(const Expression& scores, SourceLocation at) const {
  need_graph("entropy", at);
  return crf_entropy(scores, transition_scores_, start_scores_, stop_scores_, at);
}

ChainScores ChainCrf::values(const char* who, const Expression& scores, SourceLocation at) const {
  need_graph(who, at);
  const Dim d = scores.dim(at);
  if (d.bd > 1) nn_detail::fail(who, "takes the scores of one sequence, got " + to_string(d), at);
  if (d.rank() > 2 || d.rows() != settings_.tags)
    nn_detail::fail(who,
                    "the scores must be those of " + std::to_string(settings_.tags) +
                        " tags, got " + to_string(d),
                    at);
  const auto numbers = [&](const Expression& e) { return as_vector(e.value(at)); };
  return {d.rows(),
          d.cols(),
          numbers(scores),
          numbers(transition_scores_),
          numbers(start_scores_),
          numbers(stop_scores_)};
}

std::vector<unsigned> ChainCrf::best(const Expression& scores, SourceLocation at) const {
  const std::vector<ScoredTags> all = best(scores, 1, at);
  if (all.empty()) nn_detail::nothing_allowed("best", at);
  return all[0].tags;
}
std::vector<ScoredTags> ChainCrf::best(const Expression& scores, std::size_t n,
                                       SourceLocation at) const {
  return best_sequences(values("best", scores, at), n);
}
std::vector<unsigned> ChainCrf::sample(const Expression& scores, std::uint64_t key,
                                       SourceLocation at) const {
  const ChainScores chain = values("sample", scores, at);
  std::vector<unsigned> tags = sample_sequence(chain, key);
  if (tags.size() < chain.length) nn_detail::nothing_allowed("sample", at);
  return tags;
}

}  // namespace dynet
