#pragma once

#include <boost/serialization/split_member.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "corpus.h"

namespace rnnlm {

/// Baseline: an n-gram model, interpolated over all orders (Witten and Bell 1991). With the count
/// c(h, w) of w after the history h, its sum c(h) over w, and the number t(h) of distinct w,
///
///     p(w | h) = (c(h, w) + t(h) p(w | h')) / (c(h) + t(h)),
///
/// where h' is h without its oldest token, and p(w) = 1 / vocabulary below the empty history.
/// Unseen histories are skipped.
class Ngram {
 public:
  Ngram() = default;
  /// Order 0: no model.
  Ngram(unsigned order, unsigned vocabulary, const std::vector<Ids>& train);

  unsigned order() const { return order_; }
  unsigned vocabulary() const { return vocabulary_; }
  /// Negative log-probability of a sentence and its end.
  double loss(const Ids& sentence) const;

  template <typename Archive>
  void save(Archive& archive, unsigned int /*version*/) const {
    archive << order_ << vocabulary_ << parents_ << tokens_ << counts_;
  }
  template <typename Archive>
  void load(Archive& archive, unsigned int /*version*/) {
    archive >> order_ >> vocabulary_ >> parents_ >> tokens_ >> counts_;
    check();
    index();
  }
  void check() const;  ///< see nlp::Checked
  BOOST_SERIALIZATION_SPLIT_MEMBER()

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t child(std::uint32_t node, unsigned token) const;
  std::uint32_t make_child(std::uint32_t node, unsigned token);
  double probability(const unsigned* history_end, unsigned token) const;
  void index();
  Ids padded(const Ids& sentence) const;

  unsigned order_ = 0;
  unsigned vocabulary_ = 0;
  // A node is a sequence of tokens, oldest first; node 0 is the empty sequence.
  std::vector<std::uint32_t> parents_, tokens_, counts_;
  // Computed by index().
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<std::uint32_t> totals_, types_;
};

}  // namespace rnnlm
