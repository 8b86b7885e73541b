#pragma once

// Sums over all dependency trees, projective and non-projective: determinants of Laplacian matrices
// by the matrix-tree theorem (Tutte 1984; Koo, Globerson, Carreras, Collins 2007; McDonald and
// Satta 2007; Smith and Smith 2007), computed without subtractions (Grassmann, Taksar, Heyman 1985;
// Alfa, Xue, Ye 2002). The relative error of each sum is about 1e-13 even for nearly singular
// matrices.
//
// A word k whose heads have the weights a(h, k) is eliminated; its dependents get its heads:
//
//     D = sum_h a(h, k)      c(h, k) = a(h, k) / D      a(h, d) += c(h, k) a(k, d)
//
// The sum over all trees is the product of all D. This is a random walk from words to their heads:
// c are the steps from k to the remaining nodes. When all words but d are eliminated, the
// probability that the walk from h reaches the root before d gives the weight of the trees with arc
// (h, d). Leaving out each word in turn costs O(n^3) in total, since halves of the words share
// eliminations.
//
// With a single root, weights of the root are of first order in a vanishing number, and the lowest
// order counts: D is the sum over words alone. The first word with no other remaining head is the
// root; in later eliminations it takes the place of the root as head.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/exponential.h"
#include "kernels/cpu/laplacian.h"
#include "kernels/cpu/power.h"

namespace dynet::cpu::DYNET_ISA {

/// Number with its derivative.
struct DualNumber {
  double v = 0, d = 0;

  friend DualNumber operator+(DualNumber a, DualNumber b) { return {a.v + b.v, a.d + b.d}; }
  friend DualNumber operator*(DualNumber a, DualNumber b) {
    return {a.v * b.v, a.v * b.d + a.d * b.v};
  }
  friend DualNumber operator/(DualNumber a, DualNumber b) {
    const double quotient = a.v / b.v;
    return {quotient, (a.d - quotient * b.d) / b.v};
  }
};

/// Logarithm of a non-negative number, and its derivative, for weights beyond the range of double.
struct LogNumber {
  double log = -kInfinity<double>, d = 0;

  friend LogNumber operator+(LogNumber a, LogNumber b) {
    if (a.log < b.log) std::swap(a, b);
    if (b.log == -kInfinity<double>) return a;
    const double r = std::exp(b.log - a.log);
    return {a.log + std::log1p(r), (a.d + r * b.d) / (1 + r)};
  }
  friend LogNumber operator*(LogNumber a, LogNumber b) {
    if (a.log == -kInfinity<double> || b.log == -kInfinity<double>) return {};
    return {a.log + b.log, a.d + b.d};
  }
  friend LogNumber operator/(LogNumber a, LogNumber b) {
    if (a.log == -kInfinity<double>) return {};
    return {a.log - b.log, a.d - b.d};
  }
};

/// Probability with its derivative.
struct ArcShare {
  double p, d;
};

// Conversions: to a number e^log with a log-derivative, back, and to a magnitude.
template <class N>
N number_of(double log, double slope);
template <>
inline double number_of<double>(double log, double) {
  return std::exp(log);
}
template <>
inline DualNumber number_of<DualNumber>(double log, double slope) {
  const double v = std::exp(log);
  return {v, v * slope};
}
template <>
inline LogNumber number_of<LogNumber>(double log, double slope) {
  return {log, log == -kInfinity<double> ? 0 : slope};
}
inline double log_of(double x) { return std::log(x); }
inline double log_of(DualNumber x) { return std::log(x.v); }
inline double log_of(LogNumber x) { return x.log; }
inline bool is_zero(double x) { return x == 0; }
inline bool is_zero(DualNumber x) { return x.v == 0; }
inline bool is_zero(LogNumber x) { return x.log == -kInfinity<double>; }
inline ArcShare share_of(double x, double all) { return {x / all, 0}; }
inline ArcShare share_of(DualNumber x, DualNumber all) {
  const DualNumber y = x / all;
  return {y.v, y.d};
}
inline ArcShare share_of(LogNumber x, LogNumber all) {
  const double p = std::exp(x.log - all.log);
  return {p, p == 0 ? 0 : p * (x.d - all.d)};
}

/// to += f x, for n elements.
template <class N>
void add_multiple(N* to, const N* x, N f, std::size_t n) {
  if (is_zero(f)) return;
  if constexpr (std::is_same_v<N, double>)
    each_vector<double>(n, [&](std::size_t at, auto part) {
      put<double>(true, to + at, f * Lanes<double>::load(x + at, part), part);
    });
  else
    for (std::size_t i = 0; i < n; ++i) to[i] = to[i] + f * x[i];
}
template <class N>
N sum_of(const N* x, std::size_t n) {
  if constexpr (std::is_same_v<N, double>) {
    return sum_of_doubles(x, n);
  } else {
    N sum{};
    for (std::size_t i = 0; i < n; ++i) sum = sum + x[i];
    return sum;
  }
}
template <class N>
[[gnu::always_inline]] inline N sum_of_products(const N* x, const N* y, std::size_t n) {
  if constexpr (std::is_same_v<N, double>) {
    return sum_of_products_of_doubles(x, y, n);
  } else {
    N sum{};
    for (std::size_t i = 0; i < n; ++i)
      if (!is_zero(x[i])) sum = sum + x[i] * y[i];
    return sum;
  }
}

/// Elimination with one type of numbers. Column d of a matrix has the weights of the heads of word
/// d; the root is the first head.
template <class N>
class SpanningElimination {
 public:
  SpanningElimination(std::size_t nodes, bool single_root, std::vector<N> weights)
      : nodes_(nodes),
        single_root_(single_root),
        weights_(std::move(weights)),
        work_(4 * nodes * nodes + 4 * nodes),
        steps_(nodes * nodes),
        reach_(nodes),
        taken_(nodes) {}

  /// True if some number may have lost its precision. Never with logarithms.
  bool unsure() const { return unsure_; }

  /// Log of the sum over all trees.
  double log_sum() {
    std::copy(weights_.begin(), weights_.end(), work_.begin());
    Walk walk;
    double sum = 0;
    for (std::size_t k = nodes_ - 1; k > 0 && !walk.dead; --k) {
      const N d = take_out(work_.data(), nodes_, k, walk, reach_.data());
      sum += log_of(d);
    }
    return walk.dead ? -kInfinity<double> : sum;
  }

  /// Calls use(head, dependent, share) for all arcs; no calls if there is no tree.
  template <class Use>
  void each_share(Use use) {
    std::vector<std::size_t> words(nodes_);
    std::iota(words.begin(), words.end(), std::size_t{0});
    leave_out(weights_.data(), nodes_, words, Walk(), work_.data(), use);
  }

 private:
  static constexpr bool kMayLose = !std::is_same_v<N, LogNumber>;

  /// State of an elimination.
  struct Walk {
    std::size_t taken = 0;
    std::size_t root = ~std::size_t{0};  // index of the elimination that found the root
    bool dead = false;                   // there is no tree
    double least = 1;                    // product of all factors below one
  };

  // Eliminates word k from words 1..k of a matrix; `c` gets its steps to the root and to words
  // 1..k-1.
  N take_out(N* a, std::size_t stride, std::size_t k, Walk& walk, N* c) {
    const N* const heads = a + k * stride;
    const bool roots_apart = single_root_ && walk.root == ~std::size_t{0};
    N d = sum_of(heads + roots_apart, k - roots_apart);
    if (roots_apart && is_zero(d)) {
      d = heads[0];
      walk.root = walk.taken;
      need(d, walk);
      if (k > 1 && kMayLose) unsure_ = true;  // the other heads may have underflowed
      std::fill_n(c, k, N{});
      c[0] = number_of<N>(0, 0);
      for (std::size_t j = 1; j < k; ++j) a[j * stride] = a[j * stride + k];
    } else {
      need(d, walk);
      if (is_zero(d)) {
        walk.dead = true;
        return d;
      }
      const N one_by = number_of<N>(0, 0) / d;
      for (std::size_t h = 0; h < k; ++h) c[h] = heads[h] * one_by;
      for (std::size_t j = 1; j < k; ++j) add_multiple(a + j * stride, c, a[j * stride + k], k);
    }
    walk.dead = walk.dead || is_zero(d);
    ++walk.taken;
    return d;
  }

  // Underflow of a product loses less than 1e-300. The loss must remain negligible after division
  // by all small D.
  void need(double d, Walk& walk) {
    walk.least *= std::min(1.0, d);
    if (!(walk.least > 1e-120)) unsure_ = true;
  }
  void need(DualNumber d, Walk& walk) { need(d.v, walk); }
  void need(LogNumber, Walk&) {}

  // Eliminates all words but one, for each word.
  template <class Use>
  void leave_out(const N* a, std::size_t stride, const std::vector<std::size_t>& words, Walk walk,
                 N* work, Use& use) {
    const std::size_t n = words.size() - 1;
    if (n == 1) return finish(words[1], walk, use);
    if (n == 0) return;
    const std::size_t half = n / 2;
    for (const bool second : {false, true}) {
      const std::size_t kept = second ? n - half : half;
      std::vector<std::size_t> order(n + 1);  // the remaining words come first
      for (std::size_t k = 0; k < n; ++k) order[1 + k] = 1 + (second ? (k + half) % n : k);
      std::vector<std::size_t> left(n + 1);
      for (std::size_t k = 0; k <= n; ++k) left[k] = words[order[k]];
      for (std::size_t j = 1; j <= n; ++j) {
        const N* const from = a + order[j] * stride;
        N* const to = work + j * (n + 1);
        for (std::size_t h = 0; h <= n; ++h) to[h] = from[order[h]];
      }
      Walk next = walk;
      for (std::size_t k = n; k > kept; --k) {
        N* const steps = steps_.data() + next.taken * nodes_;
        taken_[next.taken] = left[k];
        take_out(work, n + 1, k, next, reach_.data());
        if (next.dead) return;
        std::fill_n(steps, nodes_, N{});
        for (std::size_t h = 0; h < k; ++h) steps[left[h]] = reach_[h];
      }
      left.resize(kept + 1);
      leave_out(work, n + 1, left, next, work + (n + 1) * (n + 1), use);
      if (unsure_) return;
    }
  }

  // Shares of the arcs into `word`, from the probabilities to reach the root before it.
  template <class Use>
  void finish(std::size_t word, const Walk& walk, Use& use) {
    std::fill(reach_.begin(), reach_.end(), N{});
    reach_[0] = number_of<N>(0, 0);
    for (std::size_t t = walk.taken; t-- > 0;) {
      reach_[taken_[t]] = sum_of_products(steps_.data() + t * nodes_, reach_.data(), nodes_);
      if (t == walk.root) reach_[0] = N{};  // earlier steps had a root of higher order
    }
    const N* const heads = weights_.data() + word * nodes_;
    const N all = sum_of_products(heads, reach_.data(), nodes_);
    Walk last = walk;
    need(all, last);
    if (is_zero(all)) return;
    for (std::size_t h = 0; h < nodes_; ++h)
      if (h != word) use(h, word, share_of(heads[h] * reach_[h], all));
  }

  std::size_t nodes_;
  bool single_root_, unsure_ = false;
  std::vector<N> weights_, work_, steps_, reach_;
  std::vector<std::size_t> taken_;
};

/// Sums over all trees of a sentence: by a Laplacian where its numbers are large enough and little
/// cancels, else by SpanningElimination.
template <class T>
class SpanningTrees {
 public:
  /// Trees over arcs {nodes, nodes}, column-major. Scales the weights of each word to a maximum of
  /// one.
  SpanningTrees(std::size_t nodes, bool single_root, const T* arcs)
      : nodes_(nodes), single_root_(single_root), arcs_(arcs), most_(nodes) {
    for (std::size_t d = 1; d < nodes; ++d) {
      const T* const column = arcs + d * nodes;
      T most = largest(column, d);
      if (d + 1 < nodes) most = std::max(most, largest(column + d + 1, nodes - d - 1));
      most_[d] = static_cast<double>(shift(most));
      scale_ += most_[d];
    }
  }

  double log_partition() const {
    Laplacian all(nodes_, single_root_);
    double sum = 0;
    return scale_ + (find_log_sum(all, sum) ? sum : log_sum_by_logarithms());
  }

  /// Calls use(dependent, p) with the probabilities p[head], and returns the log-partition.
  template <class Use>
  double each_probability(Use use) const {
    constexpr double kLeast = sizeof(T) == 4 ? 1e-6 : 1e-3;  // loses 1e-8, 1e-11 for 60 words
    Laplacian all(nodes_, single_root_);
    PaddedRows p(nodes_);
    double sum = 0;
    const bool found = find_log_sum(all, sum);
    if (!found) sum = log_sum_by_logarithms();
    if (!found || !all.find_probabilities(kLeast, p)) {
      p.clear();
      each_share<double>([](auto, auto) { return 0.0; },
                         [&](std::size_t h, std::size_t d, ArcShare s) { p.row(d)[h] = s.p; });
    }
    for (std::size_t d = 1; d < nodes_; ++d) use(d, static_cast<const double*>(p.row(d)));
    return scale_ + sum;
  }
  /// Calls use(dependent, derivatives) with the derivatives of the probabilities in a
  /// direction(head, dependent).
  template <class Direction, class Use>
  void each_derivative(Direction direction, Use use) const {
    PaddedRows slopes(nodes_);
    slopes.clear();
    each_share<DualNumber>(
        direction, [&](std::size_t h, std::size_t d, ArcShare s) { slopes.row(d)[h] = s.d; });
    for (std::size_t d = 1; d < nodes_; ++d) use(d, static_cast<const double*>(slopes.row(d)));
  }

  /// Entropy: log Z minus the expected score. Scores are relative to the most probable head of each
  /// word, to reduce cancellation for sharp distributions.
  double entropy() const {
    double sum = 0;
    bool sure = true;
    const double log_z = each_probability([&](std::size_t d, const double* p) {
      const std::size_t best = static_cast<std::size_t>(std::max_element(p, p + nodes_) - p);
      sum -= log_of_arc(best, d);
      for (std::size_t h = 0; h < nodes_; ++h) {
        sure = sure && (p[h] == 0 || p[h] == 1);
        if (p[h] != 0) sum -= p[h] * (log_of_arc(h, d) - log_of_arc(best, d));
      }
    });
    sum += log_z - scale_;
    return sure ? 0 : std::isnan(sum) ? sum : std::max(0.0, sum);
  }

 private:
  /// Log of a scaled weight.
  double log_of_arc(std::size_t h, std::size_t d) const {
    return h == d ? -kInfinity<double> : static_cast<double>(arcs_[d * nodes_ + h]) - most_[d];
  }
  static Doubles weights(Doubles logs) {
    if constexpr (sizeof(T) == 8) return exponential(logs);
    constexpr double kLeast = -700;
    const Doubles e = exp_for_float(logs < kLeast ? Doubles{} + kLeast : logs);
    return logs < kLeast ? Doubles{} : e;
  }
  bool find_log_sum(Laplacian& all, double& sum) const {
    for (std::size_t d = 1; d < nodes_; ++d) {
      double* const heads = all.heads(d);
      const auto find = [&](std::size_t at, Doubles arcs) {
        if (at < all.stride()) Lanes<double>::store(heads + at, weights(arcs - most_[d]));
      };
      each_vector<T>(nodes_, [&](std::size_t at, auto part) {
        const auto arcs = Lanes<T>::load(arcs_ + d * nodes_ + at, part);
        if constexpr (sizeof(T) == 8) {
          find(at, arcs);
        } else {
          constexpr std::size_t kHalf = Lanes<double>::kWidth;
          find(at, half_of<0>(arcs, std::make_index_sequence<kHalf>()));
          find(at + kHalf, half_of<kHalf>(arcs, std::make_index_sequence<kHalf>()));
        }
      });
      std::fill(heads + nodes_, heads + all.stride(), 0.0);
      heads[d] = 0;
    }
    return all.find_log_sum(sum);
  }
  double log_sum_by_logarithms() const {
    double sum = 0;
    solve<LogNumber>([](auto, auto) { return 0.0; }, [&](auto& e) { sum = e.log_sum(); });
    return sum;
  }
  /// Calls run(elimination); false if the precision of N is insufficient.
  template <class N, class Direction, class Run>
  bool solve(Direction direction, Run run) const {
    std::vector<N> weights(nodes_ * nodes_);
    for (std::size_t d = 1; d < nodes_; ++d)
      for (std::size_t h = 0; h < nodes_; ++h) {
        const double log = log_of_arc(h, d);
        if (log != -kInfinity<double>) weights[d * nodes_ + h] = number_of<N>(log, direction(h, d));
      }
    SpanningElimination<N> elimination(nodes_, single_root_, std::move(weights));
    run(elimination);
    return !elimination.unsure();
  }
  template <class N, class Direction, class Use>
  void each_share(Direction direction, Use use) const {
    std::vector<ArcShare> shares(nodes_ * nodes_, ArcShare{0, 0});
    const auto find = [&](auto& e) {
      std::fill(shares.begin(), shares.end(), ArcShare{0, 0});
      e.each_share([&](std::size_t h, std::size_t d, ArcShare s) { shares[d * nodes_ + h] = s; });
    };
    if (!solve<N>(direction, find)) solve<LogNumber>(direction, find);
    for (std::size_t d = 1; d < nodes_; ++d)
      for (std::size_t h = 0; h < nodes_; ++h)
        if (h != d) use(h, d, shares[d * nodes_ + h]);
  }

  std::size_t nodes_;
  bool single_root_;
  const T* arcs_;
  std::vector<double> most_;  // score of an arc into each word
  double scale_ = 0;
};

}  // namespace dynet::cpu::DYNET_ISA
