#pragma once

// Linear-chain CRFs in log space. With f_t(j) the log sum over all prefixes that end in tag j at
// position t, the previous tag has the probability p_t(i | j) = exp(f_{t-1}(i) + a(i, j)) / sum of
// the same over i; marginals follow from the last position backwards by
// m_{t-1}(i) = sum_j p_t(i | j) m_t(j). All sums have positive terms, so nothing cancels. The
// largest transition of a position is subtracted first, so that large ones leave the digits of f.
// Lafferty, McCallum, Pereira 2001, "Conditional random fields"; Rabiner 1989 for the recurrence.
//
// Chains of a batch with the same transitions at all positions are computed together, one position
// after the other: sums of e^score are products of the exponentials of transitions with a column
// for each chain.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dynet-like/graph/op.h"
#include "dynet-like/structures/crf/attributes.h"
#include "kernels/cpu/exponential.h"
#include "kernels/cpu/product.h"

namespace dynet::cpu::DYNET_ISA {

template <class T>
class ChainWeights;

/// Scores of a batch element of a node, and its scratch.
template <class T>
struct Chain {
  std::size_t node, element;
  std::size_t tags, length;
  const T *emissions, *start, *stop;
  const T* transitions;
  std::size_t stride;  // stride from the transitions of one position to the next
  T *forward, *norm, *marginals;
  ChainWeights<T>* weights = nullptr;

  Chain(const Batch<T>& b, std::size_t i, std::size_t e)
      : node(i),
        element(e),
        tags(b.dim(0, i).rows()),
        length(b.dim(0, i).cols()),
        emissions(b.in(0, i) + element * tags * length),
        start(b.in(2, i)),
        stop(b.in(3, i)),
        transitions(b.in(1, i)),
        stride(b.dim(1, i)[2] > 1 ? tags * tags : 0) {
    const CrfTables tables{tags * length};
    T* const aux = b.aux(i) + element * (b.node(i).form->aux(b.graph, b.node(i)) / b.dim(0, i).bd);
    forward = aux + tables.forward();
    norm = aux + tables.norm();
    marginals = aux + tables.marginals();
  }

  /// Transitions from all tags at position t - 1 to tag j at t.
  const T* into(std::size_t t, std::size_t j) const {
    return transitions + (t - 1) * stride + j * tags;
  }
  /// The largest transition into a position.
  T scale(std::size_t t) const {
    if (stride > 0 || !knows_scale_) {
      scale_ = shift(largest(transitions + (t - 1) * stride, tags * tags));
      knows_scale_ = true;
    }
    return scale_;
  }
  void set_scale(T of_all_positions) {
    scale_ = of_all_positions;
    knows_scale_ = true;
  }
  /// `forward` of the previous position.
  const T* before(std::size_t t) const { return forward + (t - 1) * tags; }

  double first_position() const { return add_emissions(start, 0); }
  /// `forward` from `norm`, which is relative to the scale.
  double next_position(std::size_t t, T scale_of_t) const {
    return add_emissions(norm + t * tags, t) + static_cast<double>(scale_of_t);
  }
  double last_position() const {
    const T* const last = before(length);
    const T m = shift((array(last, tags) + array(stop, tags)).maxCoeff());
    const T sum = sum_of_exponentials<T>(tags, [&](std::size_t at, std::size_t size, T* to) {
      array(to, size) = array(last + at, size) + array(stop + at, size) - m;
    });
    return static_cast<double>(m) + std::log(static_cast<double>(sum));
  }
  T find_norm(std::size_t t, std::size_t j, T scale_of_t) const {
    const T m = shift(prefixes(t, j, scale_of_t).maxCoeff());
    return m + std::log(sum_of_exponentials<T>(tags, [&](std::size_t at, std::size_t size, T* to) {
             array(to, size) = prefixes(t, j, scale_of_t).segment(at, size) - m;
           }));
  }

  /// Calls use(j, p) with the probabilities p_t(i | j), for tags j in [begin, end). Unreachable
  /// tags have zero probabilities.
  template <class Use>
  void probabilities(std::size_t t, std::size_t begin, std::size_t end, Use use) const {
    const T of_t = scale(t);
    over_softmaxes<T>(
        begin, end, tags, [&](std::size_t j, T* to) { array(to, tags) = prefixes(t, j, of_t); },
        use);
  }
  template <class Use>
  void probabilities(std::size_t t, Use use) const {
    probabilities(t, 0, tags, use);
  }

  /// Marginals of the last position. All are zero if there is no valid sequence.
  void last_marginals() const {
    T* const last = marginals + (length - 1) * tags;
    array(last, tags) = array(before(length), tags) + array(stop, tags);
    softmax_columns<T>(last, last, tags, 1);
  }
  /// Adds the marginals of position t - 1 that come from tag j at t.
  auto add_marginals(std::size_t t) const {
    return [n = tags, now = marginals + t * tags, to = marginals + (t - 1) * tags](std::size_t j,
                                                                                   const T* p) {
      if (now[j] != T(0)) array(to, n) += now[j] * array(p, n);
    };
  }

 private:
  /// f_{t-1}(i) + a(i, j) - scale
  auto prefixes(std::size_t t, std::size_t j, T scale_of_t) const {
    return (array(into(t, j), tags) - scale_of_t) + array(before(t), tags);
  }
  /// `forward` of a position from the log sums before it. Subtracts the largest emission first.
  double add_emissions(const T* sums, std::size_t t) const {
    const T* const scores = emissions + t * tags;
    T* const now = forward + t * tags;
    const T most = shift(largest(scores, tags));
    array(now, tags) = (array(scores, tags) - most) + array(sums, tags);
    return rescale(now) + static_cast<double>(most);
  }
  /// Subtracts the maximum, which keeps numbers small in long sequences, and returns it.
  double rescale(T* f) const {
    const T m = shift(largest(static_cast<const T*>(f), tags));
    array(f, tags) -= m;
    return static_cast<double>(m);
  }

  mutable T scale_ = 0;
  mutable bool knows_scale_ = false;
};

/// Exponentials of the transitions of chains, scaled by a factor. Underflowing terms are negligible
/// if a sum exceeds kEnough; smaller sums are computed in logarithms.
template <class T>
class ChainWeights {
 public:
  static constexpr std::size_t kMostTags = 512;
  static constexpr std::size_t kMostChains = 16;
  static constexpr std::size_t kMostNumbers = 1 << 17;  // of columns, that they fit into a cache
  /// Smallest accepted sum; terms lost to underflow are below the smallest normal number.
  static constexpr T kEnough = sizeof(T) == 4 ? T(1e-18) : T(1e-150);

  static bool serve(const Chain<T>& c) {
    return c.stride == 0 && c.tags <= kMostTags && c.length > 1;
  }
  bool are_of(const Chain<T>& c) const { return of_ == c.transitions; }
  void make_for(const Chain<T>& c) {
    if (are_of(c)) return;
    n_ = c.tags;
    of_ = c.transitions;
    scale_ = shift(largest(of_, n_ * n_));
    for (std::vector<T>* m : {&by_row_, &transposed_, &pairs_}) m->resize(n_ * n_);
    array(by_row_.data(), n_ * n_) = array(of_, n_ * n_) - scale_;
    exponentials(by_row_.data(), n_ * n_);
    transpose(n_, n_, by_row_.data(), transposed_.data());
  }

  /// Space for columns of so many positions and chains.
  void reserve(std::size_t chains, std::size_t positions) {
    apart_ = n_ * positions;
    for (std::vector<T>* m : {&prefixes_, &suffixes_})
      if (m->size() < apart_ * chains) m->resize(apart_ * chains);
  }
  /// p_t(i | j) m_t(j) is prefix_i w_ij suffix_j.
  T* prefix(std::size_t chain, std::size_t t) { return prefixes_.data() + chain * apart_ + t * n_; }
  T* suffix(std::size_t chain, std::size_t t) { return suffixes_.data() + chain * apart_ + t * n_; }

  void find_prefix(const Chain<T>& c, std::size_t t, T* prefix) const {
    std::copy_n(c.before(t), n_, prefix);
    exponentials(prefix, n_);
  }
  /// Zero for sums that are too small.
  void find_suffix(const Chain<T>& c, std::size_t t, T* suffix) const {
    std::copy_n(c.norm + t * n_, n_, suffix);
    exponentials(suffix, n_);
    const T* const m = c.marginals + t * n_;
    for (std::size_t j = 0; j < n_; ++j)
      suffix[j] = suffix[j] > 2 * kEnough ? m[j] / suffix[j] : T(0);
  }
  /// Calls use(j, p) for the tags with a marginal whose sums are too small.
  template <class Use>
  void small_probabilities(const Chain<T>& c, std::size_t t, const T* suffix, Use use) const {
    for (std::size_t j = 0; j < n_; ++j)
      if (suffix[j] == T(0) && c.marginals[t * n_ + j] != T(0)) c.probabilities(t, j, j + 1, use);
  }
  /// Norms of a position from the sums in their place.
  void take_logarithms(const Chain<T>& c, std::size_t t) const {
    T* const norm = c.norm + t * n_;
    bool small[kMostTags];
    const bool enough = array(static_cast<const T*>(norm), n_).minCoeff() >= kEnough;
    for (std::size_t j = 0; j < n_ && !enough; ++j) small[j] = !(norm[j] >= kEnough);
    map_vectors(norm, norm, n_, [](auto v) { return log(v); });
    for (std::size_t j = 0; j < n_ && !enough; ++j)
      if (small[j]) norm[j] = c.find_norm(t, j, scale_);
  }

  /// Expected numbers of pairs of tags in a chain, after find_marginals: pairs * weights.
  const T* count_pairs(std::size_t chain, std::size_t length) {
    std::vector<const T*> prefixes, suffixes;
    for (std::size_t t = 1; t < length; ++t) {
      prefixes.push_back(prefix(chain, t));
      suffixes.push_back(suffix(chain, t));
    }
    multiply_outer(n_, n_, length - 1, false, pairs_.data(), prefixes.data(), suffixes.data());
    return pairs_.data();
  }
  T scale() const { return scale_; }
  const std::vector<T>& by_row() const { return by_row_; }
  const std::vector<T>& transposed() const { return transposed_; }

 private:
  std::size_t n_ = 0, apart_ = 0;
  T scale_ = 0;  // log of the factor
  const T* of_ = nullptr;
  std::vector<T> by_row_, transposed_;  // column-major like the transitions, and transposed
  std::vector<T> pairs_;                // scratch of equal size
  std::vector<T> prefixes_, suffixes_;  // scratch: columns for each chain and position
};

/// Chains that share their weights, or one that has none.
template <class T>
class ChainGroup {
 public:
  explicit ChainGroup(std::span<const Chain<T>> chains)
      : chains_(chains), weights_(chains[0].weights), n_(chains[0].tags) {
    for (const Chain<T>& c : chains) longest_ = std::max(longest_, c.length);
  }

  /// Computes `forward` and `norm`, and the log-partitions.
  void run_forward(double* all) const {
    for (std::size_t k = 0; k < chains_.size(); ++k)
      all[k] = chains_[k].length == 0 ? 0 : chains_[k].first_position();
    if (weights_) weights_->reserve(chains_.size(), 1);
    for (std::size_t t = 1; t < longest_; ++t) {
      if (weights_) {
        Columns columns;
        each_at(t, [&](const Chain<T>& c, std::size_t k) {
          weights_->find_prefix(c, t, weights_->prefix(k, 0));
          columns.add(weights_->prefix(k, 0), c.norm + t * n_);
        });
        columns.multiply(weights_->transposed(), n_);
      }
      each_at(t, [&](const Chain<T>& c, std::size_t k) {
        const T scale = c.scale(t);
        if (weights_)
          weights_->take_logarithms(c, t);
        else
          for (std::size_t j = 0; j < n_; ++j) c.norm[t * n_ + j] = c.find_norm(t, j, scale);
        all[k] += c.next_position(t, scale);
      });
    }
    for (std::size_t k = 0; k < chains_.size(); ++k)
      if (chains_[k].length > 0) all[k] += chains_[k].last_position();
  }

  /// Computes the marginals; after run_forward.
  void find_marginals() const {
    if (weights_) weights_->reserve(chains_.size(), longest_);
    for (const Chain<T>& c : chains_)
      if (c.length > 0) c.last_marginals();
    for (std::size_t t = longest_; t-- > 1;) {
      if (!weights_) {
        each_at(t, [&](const Chain<T>& c, std::size_t) {
          std::fill_n(c.marginals + (t - 1) * n_, n_, T(0));
          c.probabilities(t, c.add_marginals(t));
        });
        continue;
      }
      Columns columns;
      each_at(t, [&](const Chain<T>& c, std::size_t k) {
        weights_->find_prefix(c, t, weights_->prefix(k, t));
        weights_->find_suffix(c, t, weights_->suffix(k, t));
        columns.add(weights_->suffix(k, t), c.marginals + (t - 1) * n_);
      });
      columns.multiply(weights_->by_row(), n_);
      each_at(t, [&](const Chain<T>& c, std::size_t k) {
        array(c.marginals + (t - 1) * n_, n_) *=
            array(static_cast<const T*>(weights_->prefix(k, t)), n_);
        weights_->small_probabilities(c, t, weights_->suffix(k, t), c.add_marginals(t));
      });
    }
  }

 private:
  struct Columns {
    const T* x[ChainWeights<T>::kMostChains];
    T* y[ChainWeights<T>::kMostChains];
    std::size_t count = 0;

    void add(const T* from, T* to) {
      x[count] = from;
      y[count++] = to;
    }
    void multiply(const std::vector<T>& w, std::size_t n) const {
      static constexpr bool kNone[ChainWeights<T>::kMostChains] = {};
      cpu::DYNET_ISA::multiply(n, n, count, w.data(), x, y, kNone);
    }
  };

  // Calls f(chain, its index) for the chains that reach a position.
  template <class F>
  void each_at(std::size_t t, F f) const {
    for (std::size_t k = 0; k < chains_.size(); ++k)
      if (t < chains_[k].length) f(chains_[k], k);
  }

  std::span<const Chain<T>> chains_;
  ChainWeights<T>* weights_;
  std::size_t n_, longest_ = 0;
};

/// Calls f(chains) for the chains of all batch elements of all nodes, in order: groups that share
/// their weights, or one that has none or belongs to a node i with alone(i).
template <class T, class F, class Alone>
void each_chain_group(const Batch<T>& b, F f, Alone alone) {
  ChainWeights<T> weights;
  std::vector<Chain<T>> group;
  std::size_t longest = 0;
  const auto finish = [&] {
    if (!group.empty()) f(std::span<const Chain<T>>(group));
    group.clear();
    longest = 0;
  };
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) {
      Chain<T> c(b, i, e);
      const bool serve = ChainWeights<T>::serve(c), joins = serve && !alone(i);
      const std::size_t positions = std::max(longest, c.length);
      if (!joins || !weights.are_of(c) || group.size() == ChainWeights<T>::kMostChains ||
          (group.size() + 1) * positions * c.tags > ChainWeights<T>::kMostNumbers)
        finish();
      if (serve) {
        weights.make_for(c);
        c.weights = &weights;
        c.set_scale(weights.scale());
      }
      longest = std::max(longest, c.length);
      group.push_back(c);
      if (!joins) finish();
    }
  finish();
}
template <class T, class F>
void each_chain_group(const Batch<T>& b, F f) {
  each_chain_group(b, f, [](std::size_t) { return false; });
}
template <class T, class F>
void each_chain(const Batch<T>& b, F f) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) f(Chain<T>(b, i, e));
}

}  // namespace dynet::cpu::DYNET_ISA
