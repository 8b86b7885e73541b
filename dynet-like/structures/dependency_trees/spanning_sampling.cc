// Samples of dependency trees, projective or not, by the elimination of
// kernels/cpu/spanning_trees.h, in logarithms.
#include "dynet-like/layers/search/draw.h"
#include "dynet-like/structures/dependency_trees/tree_decoding.h"

namespace dynet::trees {
namespace {

using nn_detail::log_add;

/// Draws the heads of words one after the other. A word whose head is drawn is merged with its
/// head, so that the graph has the root and the words without a head.
class Sampler {
 public:
  Sampler(const ArcScores& s, bool single_root)
      : s_(s), nodes_(s.words + 1), single_root_(single_root), heads_(nodes_, 0), stands_(nodes_) {
    for (unsigned v = 0; v < nodes_; ++v) stands_[v] = v;
  }

  std::vector<unsigned> run(const RandomStream& random) {
    std::vector<double> ways(nodes_);
    for (unsigned d = 1; d < nodes_; ++d) {
      const std::vector<double> reach = find_reach(d);
      if (reach.empty()) return {};
      for (unsigned h = 0; h < nodes_; ++h) ways[h] = weight(h, d) + reach[stands_[h]];
      if (no_more_roots_) ways[0] = kForbidden;
      const std::size_t h = nn_detail::draw_by_score(ways, random.uniform(d));
      if (h == ways.size()) return {};
      heads_[d] = static_cast<unsigned>(h);
      no_more_roots_ = no_more_roots_ || (single_root_ && h == 0);
      const unsigned to = stands_[h];
      for (unsigned& v : stands_)
        if (v == d) v = to;
    }
    return {heads_.begin() + 1, heads_.end()};
  }

 private:
  double weight(unsigned h, unsigned d) const {
    return stands_[h] == d || (h == 0 && no_more_roots_) ? kForbidden : s_.arc(h, d);
  }

  // Log-probability, up to a factor, that a walk along heads reaches the root from each node before
  // it reaches d. Empty if there is no tree.
  std::vector<double> find_reach(unsigned d) const {
    const std::size_t n = nodes_;
    std::vector<double> a(n * n, kForbidden);  // [dependent, head], heads merged
    for (unsigned w = d; w < n; ++w)
      for (unsigned h = 0; h < n; ++h) {
        double& to = a[w * n + stands_[h]];
        to = log_add(to, weight(h, w));
      }
    // With a single root not yet drawn, the first word left with no head but the root is its child.
    bool open = single_root_ && !no_more_roots_;
    std::size_t root = n;
    for (std::size_t k = n - 1; k > d; --k) {
      double* const heads = &a[k * n];
      double sum = open ? kForbidden : heads[0];
      for (std::size_t h = d; h < k; ++h) sum = log_add(sum, heads[h]);
      if (open && sum == kForbidden) {
        if (heads[0] == kForbidden) return {};
        open = false;
        root = k;
        heads[0] = 0;
        for (std::size_t w = d; w < k; ++w) a[w * n] = a[w * n + k];
        continue;
      }
      if (sum == kForbidden) return {};
      heads[0] -= sum;
      for (std::size_t h = d; h < k; ++h) heads[h] -= sum;
      for (std::size_t w = d; w < k; ++w) {
        const double into = a[w * n + k];
        if (into == kForbidden) continue;
        a[w * n] = log_add(a[w * n], heads[0] + into);
        for (std::size_t h = d; h < k; ++h) a[w * n + h] = log_add(a[w * n + h], heads[h] + into);
      }
    }
    std::vector<double> reach(n, kForbidden);
    reach[0] = 0;
    for (std::size_t k = d + 1; k < n; ++k) {
      // A word eliminated before that child has no direct step to the root.
      double sum = k > root ? kForbidden : a[k * n];
      for (std::size_t h = d + 1; h < k; ++h) sum = log_add(sum, a[k * n + h] + reach[h]);
      reach[k] = sum;
    }
    if (root < n) reach[0] = kForbidden;
    return reach;
  }

  const ArcScores& s_;
  unsigned nodes_;
  bool single_root_, no_more_roots_ = false;
  std::vector<unsigned> heads_, stands_;  // by word; its node after merging
};

}  // namespace

std::vector<unsigned> sample_spanning(const ArcScores& scores, const RandomStream& random,
                                      bool single_root) {
  return Sampler(scores, single_root).run(random);
}

}  // namespace dynet::trees
