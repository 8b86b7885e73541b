#include "dynet-like/structures/semi_crf/semi_crf.h"

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/structures/semi_crf/op.h"

namespace dynet {

SemiCrf::SemiCrf(ParameterCollection& model, const Settings& settings) : settings_(settings) {
  const unsigned n = settings.labels;
  if (n == 0) throw ArgumentError("SemiCrf: needs a label");
  if (settings.longest == 0) throw ArgumentError("SemiCrf: needs segments of at least a word");
  collection_ = model.add_subcollection("semi-crf");
  transitions_ = collection_.add_parameters({n, n}, ParameterInitConst(0.0f));
  start_ = collection_.add_parameters({n}, ParameterInitConst(0.0f));
  stop_ = collection_.add_parameters({n}, ParameterInitConst(0.0f));
}

void SemiCrf::list_parts(Parts& parts) { parts.add(transitions_, start_, stop_); }

void SemiCrf::need(const char* who, const Expression& scores, SourceLocation at) const {
  need_graph(who, at);
  const Dim d = scores.dim(at);
  if (d.rows() != settings_.labels * settings_.longest)
    nn_detail::fail(who,
                    "the scores must be those of " + std::to_string(settings_.labels) +
                        " labels and lengths up to " + std::to_string(settings_.longest) +
                        ", got " + to_string(d),
                    at);
}

Expression SemiCrf::log_partition(const Expression& scores, SourceLocation at) const {
  need("log_partition", scores, at);
  return semi_crf_log_partition(scores, transitions_, start_, stop_, at);
}
Expression SemiCrf::log_prob(const Expression& scores, std::span<const Segment> segments,
                             SourceLocation at) const {
  need("log_prob", scores, at);
  return semi_crf_log_prob(scores, transitions_, start_, stop_, segments, at);
}
Expression SemiCrf::marginals(const Expression& scores, SourceLocation at) const {
  need("marginals", scores, at);
  return semi_crf_marginals(scores, transitions_, start_, stop_, at);
}
Expression SemiCrf::entropy(const Expression& scores, SourceLocation at) const {
  need("entropy", scores, at);
  return semi_crf_entropy(scores, transitions_, start_, stop_, at);
}

SegmentScores SemiCrf::values(const char* who, const Expression& scores, SourceLocation at) const {
  need(who, scores, at);
  const Dim d = scores.dim(at);
  if (d.bd > 1 || d.rank() > 2)
    nn_detail::fail(who, "takes the scores of one sentence, got " + to_string(d), at);
  const auto numbers = [&](const Expression& e) { return as_vector(e.value(at)); };
  return {settings_.labels,      settings_.longest, d.cols(),      numbers(scores),
          numbers(transitions_), numbers(start_),   numbers(stop_)};
}

std::vector<Segment> SemiCrf::best(const Expression& scores, SourceLocation at) const {
  const std::vector<ScoredSegments> all = best(scores, 1, at);
  if (all.empty()) nn_detail::nothing_allowed("best", at);
  return all[0].segments;
}
std::vector<ScoredSegments> SemiCrf::best(const Expression& scores, std::size_t n,
                                          SourceLocation at) const {
  return best_segments(values("best", scores, at), n);
}
std::vector<Segment> SemiCrf::sample(const Expression& scores, std::uint64_t key,
                                     SourceLocation at) const {
  const SegmentScores sentence = values("sample", scores, at);
  std::vector<Segment> segments = sample_segments(sentence, key);
  if (segments.empty() && sentence.length > 0) nn_detail::nothing_allowed("sample", at);
  return segments;
}

}  // namespace dynet
