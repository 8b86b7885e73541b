#pragma once

#include "dynet-like/dynet.h"
#include "tests/support/op_case.h"
#include "tests/support/segments.h"

// Structures, listed one by one, and the results that all of them have.

namespace dynet::test {

/// The distribution over structures that are listed with their scores, and with the places of their
/// parts among all scores.
class Listed {
 public:
  explicit Listed(std::size_t places) : marginals_(places) {}

  void add(double score, std::vector<std::size_t> places) {
    scores_.push_back(score);
    places_.push_back(std::move(places));
  }
  /// To be called when all are added.
  void end() {
    const double most =
        scores_.empty() ? -kInfinity : *std::max_element(scores_.begin(), scores_.end());
    if (most == -kInfinity) return;
    double sum = 0;
    for (const double score : scores_) sum += std::exp(score - most);
    log_z_ = most + std::log(sum);
    for (std::size_t k = 0; k < scores_.size(); ++k) {
      const double p = std::exp(scores_[k] - most) / sum;
      if (p > 0) entropy_ -= p * std::log(p);
      for (const std::size_t place : places_[k]) marginals_[place] += p;
    }
  }

  double log_z() const { return log_z_; }
  double entropy() const { return entropy_; }
  double marginal(std::size_t place) const { return marginals_[place]; }
  /// The log-probability of structures whose scores have this log sum.
  double log_prob(double score) const { return score == -kInfinity ? score : score - log_z_; }

 private:
  std::vector<double> scores_, marginals_;
  std::vector<std::vector<std::size_t>> places_;
  double log_z_ = -kInfinity, entropy_ = 0;
};

/// Lists all structures of a batch element.
using Lister = std::function<Listed(const Arrays&, unsigned element)>;
using Reference = std::function<Array(const Arrays&)>;

/// One number for each batch element.
inline Reference of_elements(const std::function<double(const Arrays&, unsigned element)>& f) {
  return [f](const Arrays& x) {
    return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) { return f(x, p[kBatch]); });
  };
}
inline Reference log_partitions(const Lister& list) {
  return of_elements([list](const Arrays& x, unsigned e) { return list(x, e).log_z(); });
}
inline Reference entropies(const Lister& list) {
  return of_elements([list](const Arrays& x, unsigned e) { return list(x, e).entropy(); });
}
/// A probability for each score.
inline Reference marginals(const Lister& list) {
  return [list](const Arrays& x) {
    Array y{x[0].dim, {}};
    for (unsigned e = 0; e < y.dim.bd; ++e) {
      const Listed all = list(x, e);
      for (std::size_t k = 0; k < y.dim.batch_size(); ++k) y.v.push_back(all.marginal(k));
    }
    return y;
  };
}

/// The score of segments; operands are those of semi_crf_log_partition, or of a linear chain.
inline double score_of(const Arrays& x, unsigned element, std::span<const Segment> segments) {
  double sum = 0;
  unsigned t = 0;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const auto [label, length] = segments[k];
    sum += k == 0 ? x[2].at(label) : x[1].at({segments[k - 1].label, label, t - 1});
    t += length;
    sum += x[0].at((length - 1) * x[1].dim.rows() + label, t - 1, element);
  }
  return segments.empty() ? 0 : sum + x[3].at(segments.back().label);
}

inline Listed ways_to_cut(const Arrays& x, unsigned element) {
  const unsigned rows = x[0].dim.rows(), labels = x[1].dim.rows();
  Listed all(x[0].dim.batch_size());
  for (const std::vector<Segment>& way : all_ways(labels, rows / labels, x[0].dim.cols())) {
    std::vector<std::size_t> places;
    unsigned t = 0;
    for (const Segment& s : way) {
      t += s.length;
      places.push_back(std::size_t{t - 1} * rows + (s.length - 1) * labels + s.label);
    }
    all.add(score_of(x, element, way), places);
  }
  all.end();
  return all;
}

}  // namespace dynet::test
