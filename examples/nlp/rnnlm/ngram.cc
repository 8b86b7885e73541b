#include "ngram.h"

#include <cmath>

#include "examples/nlp/common/check.h"

namespace rnnlm {
namespace {

std::uint64_t key_of(std::uint32_t node, unsigned token) {
  return std::uint64_t{node} << 32 | token;
}

}  // namespace

Ngram::Ngram(unsigned order, unsigned vocabulary, const std::vector<Ids>& train)
    : order_(order), vocabulary_(vocabulary) {
  if (order_ == 0) return;
  parents_ = tokens_ = counts_ = {0};
  for (const Ids& sentence : train) {
    const Ids ids = padded(sentence);
    for (std::size_t i = order_ - 1; i < ids.size(); ++i) {
      for (std::size_t k = 0; k < order_; ++k) {
        std::uint32_t node = 0;
        for (std::size_t j = i - k; j <= i; ++j) node = make_child(node, ids[j]);
        ++counts_[node];
      }
    }
  }
  index();
}

Ids Ngram::padded(const Ids& sentence) const {
  Ids ids(order_ - 1, Vocabulary::kEnd);
  ids.insert(ids.end(), sentence.begin(), sentence.end());
  ids.push_back(Vocabulary::kEnd);
  return ids;
}

std::uint32_t Ngram::child(std::uint32_t node, unsigned token) const {
  const auto found = children_.find(key_of(node, token));
  return found == children_.end() ? kNone : found->second;
}

std::uint32_t Ngram::make_child(std::uint32_t node, unsigned token) {
  const auto next = static_cast<std::uint32_t>(parents_.size());
  const auto [at, is_new] = children_.emplace(key_of(node, token), next);
  if (is_new) {
    parents_.push_back(node);
    tokens_.push_back(token);
    counts_.push_back(0);
  }
  return at->second;
}

void Ngram::check() const {
  nlp::require_number("order of n-grams", order_, 0, 9);
  const std::size_t nodes = parents_.size();
  nlp::require((nodes > 0) == (order_ > 0) && tokens_.size() == nodes && counts_.size() == nodes,
               "its n-grams have " + std::to_string(nodes) + " parents, " +
                   std::to_string(tokens_.size()) + " tokens and " +
                   std::to_string(counts_.size()) + " counts");
  std::vector<std::uint64_t> totals(nodes);
  for (std::size_t i = 1; i < nodes; ++i) {
    const std::string which = "its n-gram " + std::to_string(i);
    nlp::require(parents_[i] < i, which + " goes on with one that comes later");
    nlp::require(tokens_[i] < vocabulary_, which + " has a token that it does not know");
    nlp::require((totals[parents_[i]] += counts_[i]) < kNone, which + " has too large a count");
  }
}

void Ngram::index() {
  const std::size_t nodes = parents_.size();
  children_.clear();
  totals_.assign(nodes, 0);
  types_.assign(nodes, 0);
  for (std::size_t i = 1; i < nodes; ++i) {
    children_.emplace(key_of(parents_[i], tokens_[i]), static_cast<std::uint32_t>(i));
    totals_[parents_[i]] += counts_[i];
    types_[parents_[i]] += counts_[i] > 0 ? 1 : 0;
  }
}

double Ngram::probability(const unsigned* history_end, unsigned token) const {
  double p = 1.0 / vocabulary_;
  for (std::size_t k = 0; k < order_; ++k) {
    std::uint32_t context = 0;
    for (std::size_t j = k; j > 0 && context != kNone; --j) {
      context = child(context, *(history_end - j));
    }
    if (context == kNone || totals_[context] == 0) break;
    const std::uint32_t node = child(context, token);
    const double count = node == kNone ? 0.0 : counts_[node];
    const double types = types_[context];
    p = (count + types * p) / (totals_[context] + types);
  }
  return p;
}

double Ngram::loss(const Ids& sentence) const {
  const Ids ids = padded(sentence);
  double loss = 0;
  for (std::size_t i = order_ - 1; i < ids.size(); ++i) {
    loss -= std::log(probability(ids.data() + i, ids[i]));
  }
  return loss;
}

}  // namespace rnnlm
