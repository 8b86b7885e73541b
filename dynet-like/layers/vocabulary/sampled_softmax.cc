#include "dynet-like/layers/vocabulary/sampled_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/random.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/matrix.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {
namespace {

using nn_detail::fail;

ParameterCollection add_collection(ParameterCollection& model,
                                   const SampledSoftmaxBuilder::Settings& s) {
  const auto need = [](bool fine, const std::string& rule) {
    if (!fine) throw ArgumentError("SampledSoftmaxBuilder: " + rule);
  };
  need(s.rep_dim > 0 && s.num_classes > 0 && s.samples > 0,
       "needs a size, classes and samples above zero, got " + std::to_string(s.rep_dim) + ", " +
           std::to_string(s.num_classes) + " and " + std::to_string(s.samples));
  need(s.weights.empty() || s.weights.size() == s.num_classes,
       "needs a weight for each of " + std::to_string(s.num_classes) + " classes, got " +
           std::to_string(s.weights.size()));
  for (const float w : s.weights)
    need(w > 0 && std::isfinite(w), "weights must be above zero, got " + std::to_string(w));
  return model.add_subcollection("sampled-softmax-builder");
}

/// Uniform in [0, 1) with 53 bits, enough to resolve rare classes.
double uniform(const RandomStream& random, std::uint64_t i) {
  return static_cast<double>(random.bits(i) >> 11) * 0x1p-53;
}

}  // namespace

SampledSoftmaxBuilder::SampledSoftmaxBuilder(ParameterCollection& model, const Settings& s)
    : SoftmaxBuilder(add_collection(model, s)), settings_(s) {
  double sum = 0;
  for (const float w : s.weights) sums_.push_back(sum += static_cast<double>(w));
  table_ = collection_.add_lookup_parameters(s.num_classes, {s.rep_dim});
  if (s.bias)
    biases_ = collection_.add_lookup_parameters(
        s.num_classes, {1}, ParameterInitConst(-std::log(static_cast<float>(s.num_classes))));
}

void SampledSoftmaxBuilder::new_graph(ComputationGraph& cg, bool update, SourceLocation at) {
  in_graph_ = zeros(cg, {1}, {}, at);
  matrix_ = bias_vector_ = {};
  update_ = update;
}

void SampledSoftmaxBuilder::need_graph(const char* who, SourceLocation at) const {
  if (!in_graph_.pg) fail(who, "call new_graph first", at);
  in_graph_.dim(at);  // throws if the graph is gone
}

Expression SampledSoftmaxBuilder::rows(const LookupParameter& table,
                                       const std::vector<unsigned>& classes,
                                       SourceLocation at) const {
  ComputationGraph& cg = *in_graph_.pg;
  return update_ ? lookup(cg, table, classes, at) : const_lookup(cg, table, classes, at);
}

Expression SampledSoftmaxBuilder::whole(const LookupParameter& table, SourceLocation at) const {
  ComputationGraph& cg = *in_graph_.pg;
  return update_ ? parameter(cg, table, at) : const_parameter(cg, table, at);
}

Expression SampledSoftmaxBuilder::full_logits(const Expression& rep, SourceLocation at) {
  need_graph("full_logits", at);
  if (!matrix_.pg) {
    const Expression matrix = transpose(whole(table_, at), at);
    if (settings_.bias)
      bias_vector_ = reshape(whole(biases_, at), Dim({settings_.num_classes}), at);
    matrix_ = matrix;
  }
  if (settings_.bias) return affine_transform({bias_vector_, matrix_, rep}, at);
  return LocatedExpression(matrix_, at) * rep;
}

Expression SampledSoftmaxBuilder::full_log_distribution(const Expression& rep, SourceLocation at) {
  return log_softmax(full_logits(rep, at), at);
}

Expression SampledSoftmaxBuilder::neg_log_softmax(const Expression& rep,
                                                  const std::vector<unsigned>& words,
                                                  SourceLocation at) {
  return nn_detail::choice_loss(full_logits(rep, at), words, at);
}

unsigned SampledSoftmaxBuilder::sample(const Expression& rep, SourceLocation at) {
  return nn_detail::draw("sample", full_logits(rep, at), at);
}

double SampledSoftmaxBuilder::log_expected(unsigned c, SourceLocation at) const {
  const unsigned n = settings_.num_classes;
  if (c >= n)
    throw IndexError("log_expected: there is no class " + std::to_string(c) + " among " +
                         std::to_string(n) + "\n  at " + to_string(at),
                     at);
  const double q = sums_.empty() ? std::log1p(1 / (c + 1.0)) / std::log(n + 1.0)
                                 : static_cast<double>(settings_.weights[c]) / sums_.back();
  return std::log(settings_.samples * q);
}

std::vector<float> SampledSoftmaxBuilder::expected(const std::vector<unsigned>& classes,
                                                   SourceLocation at) const {
  std::vector<float> logs;
  for (const unsigned c : classes) logs.push_back(static_cast<float>(log_expected(c, at)));
  return logs;
}

NegativeSamples SampledSoftmaxBuilder::draw(std::uint64_t key) const {
  const RandomStream random(key);
  NegativeSamples drawn;
  for (unsigned i = 0; i < settings_.samples; ++i) {
    const double u = uniform(random, i);
    double c = 0;
    if (sums_.empty())
      c = std::floor(std::expm1(u * std::log(settings_.num_classes + 1.0)));
    else
      c = static_cast<double>(std::upper_bound(sums_.begin(), sums_.end(), u * sums_.back()) -
                              sums_.begin());
    drawn.classes.push_back(static_cast<unsigned>(std::min(c, settings_.num_classes - 1.0)));
  }
  drawn.log_expected = expected(drawn.classes, SourceLocation::current());
  return drawn;
}

SampledSoftmaxBuilder::Scores SampledSoftmaxBuilder::corrected(
    const char* who, const Expression& rep, const std::vector<unsigned>& words,
    const NegativeSamples& negatives, const std::vector<float>& words_log_expected,
    SourceLocation at) const {
  need_graph(who, at);
  nn_detail::need_words(who, rep, words, at);
  const std::size_t k = negatives.classes.size();
  if (k == 0 || negatives.log_expected.size() != k || words_log_expected.size() != words.size())
    fail(who, "needs negatives, and a correction for each of them and for each word", at);
  ComputationGraph& cg = *in_graph_.pg;
  const auto vector = [&](const Dim& d, const std::vector<float>& x) {
    return input(cg, d, x, device_of(rep), at);
  };
  const auto n = static_cast<unsigned>(k), count = static_cast<unsigned>(words.size());
  const Expression matrix =
      transpose(reshape(rows(table_, negatives.classes, at), Dim({settings_.rep_dim, n}), at), at);
  Scores u{dot_product(rows(table_, words, at), rep, at), LocatedExpression(matrix, at) * rep};
  if (settings_.bias) {
    u.words = sum({u.words, rows(biases_, words, at)}, at);
    const Expression b = reshape(rows(biases_, negatives.classes, at), Dim({n}), at);
    u.negatives = sum({u.negatives, b}, at);
  }
  u.words = LocatedExpression(u.words, at) - vector(Dim({1}, count), words_log_expected);
  u.negatives = LocatedExpression(u.negatives, at) - vector(Dim({n}), negatives.log_expected);
  return u;
}

Expression SampledSoftmaxBuilder::sampled_loss(const Expression& rep,
                                               const std::vector<unsigned>& words,
                                               const NegativeSamples& negatives,
                                               const std::vector<float>& words_log_expected,
                                               SourceLocation at) {
  Scores u = corrected("sampled_loss", rep, words, negatives, words_log_expected, at);
  std::vector<float> mask;  // minus infinity where a negative equals the word
  for (const unsigned word : words)
    for (const unsigned c : negatives.classes)
      mask.push_back(c == word ? -std::numeric_limits<float>::infinity() : 0.0f);
  const auto batch = static_cast<unsigned>(words.size());
  const Dim d({static_cast<unsigned>(negatives.classes.size())}, batch);
  u.negatives = sum({u.negatives, input(*rep.pg, d, mask, device_of(rep), at)}, at);
  return pickneglogsoftmax(concatenate({u.words, u.negatives}, 0, at),
                           std::vector<unsigned>(batch, 0), at);
}

Expression SampledSoftmaxBuilder::sampled_loss(const Expression& rep,
                                               const std::vector<unsigned>& words,
                                               SourceLocation at) {
  need_graph("sampled_loss", at);
  const std::vector<float> logs = expected(words, at);
  return sampled_loss(rep, words, draw(next_random_key(rep)), logs, at);
}

Expression SampledSoftmaxBuilder::nce_loss(const Expression& rep,
                                           const std::vector<unsigned>& words, SourceLocation at) {
  need_graph("nce_loss", at);
  const std::vector<float> logs = expected(words, at);
  const Scores u = corrected("nce_loss", rep, words, draw(next_random_key(rep)), logs, at);
  const Expression noise = sum_elems(log_sigmoid(-LocatedExpression(u.negatives, at), at), at);
  return -LocatedExpression(sum({log_sigmoid(u.words, at), noise}, at), at);
}

}  // namespace dynet
