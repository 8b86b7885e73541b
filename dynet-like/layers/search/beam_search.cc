#include "dynet-like/layers/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dynet-like/layers/support.h"

namespace dynet {

double coverage_penalty(std::span<const float> attention, double beta) {
  if (beta == 0) return 0;
  double sum = 0;
  for (const float c : attention) sum += std::log(std::min(static_cast<double>(c), 1.0));
  return beta * sum;
}

namespace nn_detail {
namespace {

/// A hypothesis and its next token.
struct Candidate {
  double log_prob;
  std::size_t parent;
  unsigned token;
};

}  // namespace

void check_beam(const BeamSettings& s, std::size_t sentences, SourceLocation at) {
  const char* const who = "beam_search";
  if (s.width == 0) fail(who, "needs a width above zero", at);
  if (s.n == 0 || s.n > s.width)
    fail(who,
         "finds 1 to " + std::to_string(s.width) + " sequences with a beam of so many, asked for " +
             std::to_string(s.n),
         at);
  const auto need_one_of_each = [&](std::size_t count, const std::string& what) {
    if (count != 0 && count != sentences)
      fail(who,
           "needs " + what + " of each of " + std::to_string(sentences) + " sentences, got " +
               std::to_string(count),
           at);
  };
  need_one_of_each(s.max_lengths.size(), "a greatest length");
  need_one_of_each(s.prefixes.size(), "a prefix");
  if (!(s.alpha >= 0) || std::isinf(s.alpha))
    fail(who, "alpha must be zero or more, got " + std::to_string(s.alpha), at);
  for (std::size_t i = 0; i < std::max<std::size_t>(sentences, 1); ++i) {
    const std::size_t most = s.max_lengths.empty() ? s.max_length : s.max_lengths[i];
    if (s.min_length > most)
      fail(who,
           "the least length, " + std::to_string(s.min_length) +
               ", must not exceed the greatest, " + std::to_string(most),
           at);
    if (s.prefixes.empty()) continue;
    const std::vector<unsigned>& prefix = s.prefixes[i];
    if (prefix.size() > most)
      fail(who,
           "a prefix of " + std::to_string(prefix.size()) + " tokens does not fit into " +
               std::to_string(most),
           at);
    if (std::find(prefix.begin(), prefix.end(), s.end) != prefix.end())
      fail(who, "a prefix must not have the token that ends sequences", at);
  }
}

void check_penalty(double penalty, SourceLocation at) {
  if (!(penalty <= 0))
    fail("beam_search", "a penalty must not be above zero, got " + std::to_string(penalty), at);
}

std::vector<std::vector<float>> read_log_probs(const char* who,
                                               const std::vector<Expression>& log_probs,
                                               unsigned end, SourceLocation at) {
  if (!log_probs.empty()) log_probs.back().value(at);  // one forward for all of them
  std::vector<std::vector<float>> values;
  for (const Expression& e : log_probs) {
    if (e.dim(at).batch_elems() != 1)
      fail(who, "needs one vector for each hypothesis, got " + to_string(e.dim(at)), at);
    values.push_back(as_vector(e.value(at)));
    if (values.back().size() <= end)
      fail(who,
           "the token that ends sequences, " + std::to_string(end) + ", is none of " +
               std::to_string(values.back().size()),
           at);
    for (float& x : values.back()) {
      // Rounding may move the logarithm of a probability of one above zero.
      if (!(x <= 1e-3f)) fail(who, "needs log-probabilities, got " + std::to_string(x), at);
      x = std::min(x, 0.0f);
    }
  }
  return values;
}

Beam::Beam(const BeamSettings& settings, std::size_t sentence)
    : settings_(settings),
      max_length_(settings.max_lengths.empty() ? settings.max_length
                                               : settings.max_lengths[sentence]) {
  if (!settings.prefixes.empty()) prefix_ = settings.prefixes[sentence];
}

double Beam::normalized(double log_prob, std::size_t length) const {
  const double n = static_cast<double>(length);
  switch (settings_.normalization) {
    case LengthNormalization::kPower:
      return log_prob / std::pow(n, settings_.alpha);
    case LengthNormalization::kGnmt:
      return log_prob / std::pow((5 + n) / 6, settings_.alpha);
    case LengthNormalization::kNone:
      break;
  }
  return log_prob;
}

bool Beam::may_follow(unsigned token, std::size_t length) const {
  if (length < prefix_.size()) return token == prefix_[length];
  return token == settings_.end ? length >= settings_.min_length : length < max_length_;
}

void Beam::step(std::span<const std::vector<float>> log_probs) {
  // Order: higher log-probability first, of equal ones the lexicographically first.
  const auto better = [&](const Candidate& a, const Candidate& b) {
    if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
    const auto &x = open_[a.parent].tokens, &y = open_[b.parent].tokens;
    return x != y ? x < y : a.token < b.token;
  };
  const std::size_t room = settings_.width - ended_.size();
  std::vector<Candidate> kept;  // a heap with the worst candidate first
  for (std::size_t k = 0; k < open_.size(); ++k)
    for (unsigned v = 0; v < log_probs[k].size(); ++v) {
      const Candidate c{open_[k].log_prob + static_cast<double>(log_probs[k][v]), k, v};
      const bool full = kept.size() == room;
      if (full && c.log_prob < kept.front().log_prob) continue;
      if (!may_follow(v, open_[k].tokens.size()) || std::isinf(c.log_prob)) continue;
      if (full && !better(c, kept.front())) continue;
      if (full) {
        std::pop_heap(kept.begin(), kept.end(), better);
        kept.pop_back();
      }
      kept.push_back(c);
      std::push_heap(kept.begin(), kept.end(), better);
    }
  std::sort_heap(kept.begin(), kept.end(), better);
  before_ = ended_.size();
  std::vector<Sequence> open;
  for (const Candidate& c : kept) {
    const std::vector<unsigned>& tokens = open_[c.parent].tokens;
    Sequence next{tokens, c.log_prob, normalized(c.log_prob, tokens.size() + 1), c.parent};
    if (c.token != settings_.end) next.tokens.push_back(c.token);
    (c.token == settings_.end ? ended_ : open).push_back(std::move(next));
  }
  open_ = std::move(open);
}

std::vector<std::size_t> Beam::best() const {
  std::vector<std::size_t> order(ended_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Sequence &x = ended_[a], &y = ended_[b];
    return x.score != y.score ? x.score > y.score : x.tokens < y.tokens;
  });
  order.resize(std::min(order.size(), settings_.n));
  return order;
}

bool Beam::is_done() const {
  if (open_.empty()) return true;
  if (ended_.size() < settings_.n) return false;
  // Log-probabilities only decrease, and the divisor is largest for the longest sequence.
  const double most = normalized(open_.front().log_prob, max_length_ + 1);
  return most < ended_[best().back()].score;
}

}  // namespace nn_detail
}  // namespace dynet
