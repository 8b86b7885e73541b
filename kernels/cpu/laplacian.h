#pragma once

// Sums over non-projective dependency trees by elimination of the Laplacian matrix of the weights
// of arcs, in vectors, without subtractions before the last step. See spanning_trees.h for the
// method that has none at all, and for logarithms.
//
// Equation of word d, with x_0 = 0 for the root:   D_d x_d = b_d + sum_h a(h, d) x_h.
// Eliminating word k makes c(h, k) = a(h, k) / D_k and a(h, d) += c(h, k) a(k, d), where D_k is the
// sum of the remaining a(h, k). All numbers are positive. The sum over all trees is the product of
// all D; the inverse G, with x = G b, gives the probability of an arc:
//
//     p(h, d) = a(h, d) (G(d, d) - G(h, d))
//
// With a single root, word s is in place of the root: G is the inverse for the other words, y = G r
// with the weights r of the root. Trees below word d have the sum Z_s pi_d, pi_s = 1, with
// pi_d = sum_h a(h, s) G(h, d); the root is d with the probability c_d r_d = pi_d r_d / sum(pi r),
// and
//
//     p(h, d) = a(h, d) (G(d, d) - G(h, d) - c_d (y_d - y_h))      with y_s = 0, G(s, .) = G(., s)
//     = 0
//
// Gauss-Jordan elimination by Grassmann, Taksar, Heyman 1985; matrix-tree theorem: Koo, Globerson,
// Carreras, Collins 2007.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/elementary.h"

namespace dynet::cpu::DYNET_ISA {

inline double sum_of_doubles(const double* x, std::size_t n) {
  Doubles sum{};
  each_vector<double>(n,
                      [&](std::size_t at, auto part) { sum += Lanes<double>::load(x + at, part); });
  return Lanes<double>::sums<1>(&sum)[0];
}
inline double sum_of_products_of_doubles(const double* x, const double* y, std::size_t n) {
  using L = Lanes<double>;
  Doubles sum{};
  each_vector<double>(
      n, [&](std::size_t at, auto part) { sum += L::load(x + at, part) * L::load(y + at, part); });
  return L::sums<1>(&sum)[0];
}

/// Square matrix in rows of whole vectors, not initialized.
class PaddedRows {
 public:
  using L = Lanes<double>;

  explicit PaddedRows(std::size_t n)
      : stride_((n + L::kWidth - 1) / L::kWidth * L::kWidth),
        data_(std::make_unique_for_overwrite<double[]>(stride_ * stride_)) {}
  void clear() { std::fill_n(row(0), stride_ * stride_, 0.0); }
  void copy(const PaddedRows& from) { std::copy_n(from.row(0), stride_ * stride_, row(0)); }
  double* row(std::size_t i) { return data_.get() + i * stride_; }
  const double* row(std::size_t i) const { return data_.get() + i * stride_; }
  std::size_t stride() const { return stride_; }

  PaddedRows transposed() const {
    PaddedRows to(stride_);
    for (std::size_t i = 0; i < stride_; i += L::kWidth)
      for (std::size_t j = 0; j < stride_; j += L::kWidth) {
        L::V v[L::kWidth];
        for (std::size_t r = 0; r < L::kWidth; ++r) v[r] = L::load(row(i + r) + j);
        L::transpose(v);
        for (std::size_t r = 0; r < L::kWidth; ++r) L::store(to.row(j + r) + i, v[r]);
      }
    return to;
  }

  static constexpr std::size_t kTogether = 4;  // rows

  void scale(std::size_t i, double by) {
    double* const x = row(i);
    for (std::size_t at = 0; at < stride_; at += L::kWidth)
      L::store(x + at, L::load(x + at) * L::all(by));
  }
  /// Adds f times row `from` to row `to`.
  void add_multiple(std::size_t to, double f, std::size_t from) {
    const double* const x = row(from);
    double* const y = row(to);
    for (std::size_t at = 0; at < stride_; at += L::kWidth)
      L::store(y + at, L::load(y + at) + L::all(f) * L::load(x + at));
  }
  /// Adds factors[i * kTogether + b] times row from[b] to rows [begin, end).
  void add_multiples(std::size_t begin, std::size_t end, const double* factors,
                     const std::size_t (&from)[kTogether]) {
    for (std::size_t at = 0; at < stride_;)
      at += add_block<kRegisters / 8>(begin, end, factors, from, at);
  }

 private:
  template <int N>
  std::size_t add_block(std::size_t begin, std::size_t end, const double* factors,
                        const std::size_t (&from)[kTogether], std::size_t at) {
    if constexpr (N > 1)
      if (at + N * L::kWidth > stride_) return add_block<N - 1>(begin, end, factors, from, at);
    typename L::V x[kTogether][N];
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kTogether; ++b)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < N; ++v) x[b][v] = L::load(row(from[b]) + at + v * L::kWidth);
    for (std::size_t i = begin; i < end; ++i) {
      const double* const f = factors + i * kTogether;
      double* const to = row(i) + at;
      typename L::V sum[N];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < N; ++v) sum[v] = L::load(to + v * L::kWidth);
#pragma GCC unroll 8
      for (std::size_t b = 0; b < kTogether; ++b)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < N; ++v) sum[v] += L::all(f[b]) * x[b][v];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < N; ++v) L::store(to + v * L::kWidth, sum[v]);
    }
    return N * L::kWidth;
  }

  std::size_t stride_;
  std::unique_ptr<double[]> data_;
};

/// Trees of the nodes 0 (the root) to n.
class Laplacian {
 public:
  Laplacian(std::size_t nodes, bool single_root)
      : nodes_(nodes), single_root_(single_root), weights_(nodes), green_(nodes) {
    std::fill_n(weights_.row(0), weights_.stride(), 0.0);
    std::fill(weights_.row(nodes), weights_.row(weights_.stride()), 0.0);
  }

  /// Weights of the heads of word d, to be filled: at most one, zero for the word itself and behind
  /// the last node.
  double* heads(std::size_t d) { return weights_.row(d); }
  std::size_t stride() const { return weights_.stride(); }

  /// Log of the sum over all trees. False if there is none or numbers may be too small.
  bool find_log_sum(double& log_sum) {
    log_sum = 0;
    if (nodes_ < 2) return true;
    s_ = single_root_ ? likely_root() : 0;
    green_.copy(weights_);
    if (!invert(log_sum)) return false;
    if (!single_root_) return true;
    const std::size_t n = stride();
    roots_.assign(n, 0.0);
    reached_.assign(n, 0.0);
    pi_.assign(n, 0.0);
    for (std::size_t d = 1; d < nodes_; ++d)
      if (d != s_) roots_[d] = weights_.row(d)[0];
    for (std::size_t d = 1; d < nodes_; ++d) {
      if (d == s_) continue;
      const double weight = weights_.row(s_)[d];
      const double* const row = green_.row(d);
      reached_[d] = sum_of_products_of_doubles(row, roots_.data(), nodes_);
      each_vector<double>(n, [&](std::size_t at, auto part) {
        put<double>(true, pi_.data() + at, weight * Lanes<double>::load(row + at, part), part);
      });
    }
    pi_[0] = 0;
    all_ = weights_.row(s_)[0] + sum_of_products_of_doubles(pi_.data(), roots_.data(), nodes_);
    log_sum += std::log(all_);
    return all_ > 1e-280;
  }

  /// Probabilities of the heads of word d in row d; after find_log_sum. False if a difference is
  /// less than `least` of what is subtracted.
  bool find_probabilities(double least, PaddedRows& p) const {
    const PaddedRows columns = green_.transposed();
    Bits<Doubles> lost{};
    for (std::size_t d = 1; d < nodes_; ++d) {
      if (d == s_) continue;
      const double c = single_root_ ? pi_[d] / all_ : 0;
      lost |= find_row(d, columns.row(d), c, p.row(d), least);
      if (single_root_) p.row(d)[0] = c * roots_[d];
    }
    if (s_ > 0) {
      for (std::size_t h = 0; h < stride(); ++h)
        p.row(s_)[h] = weights_.row(s_)[h] * reached_[h] / all_;
      p.row(s_)[0] = weights_.row(s_)[0] / all_;
    }
    bool clear = true;
    for (std::size_t i = 0; i < Lanes<double>::kWidth; ++i) clear = clear && lost[i] == 0;
    return clear;
  }

 private:
  /// Eliminates words, and multiplies their pivots. Weights of a word that are lost, because
  /// numbers or products of them are below the range of double, are less than 1e-300. They are
  /// eliminated as another head of each word, which shows what they would be in each pivot.
  class Elimination {
   public:
    Elimination(PaddedRows& a, std::size_t nodes)
        : a_(a), nodes_(nodes), lost_(nodes, 1e-300), factors_(nodes * PaddedRows::kTogether) {}

    /// Words [begin, end), the last one first, and not word s.
    bool eliminate(std::size_t begin, std::size_t end, std::size_t s) {
      for (std::size_t k = end; k-- > begin;) {
        if (k == s) continue;
        double* const row = a_.row(k);
        const double d = sum_of_doubles(row, k);
        if (!accept(k, d)) return false;
        a_.scale(k, 1 / d);
        row[k] = 1 / d;
        for (std::size_t j = begin; j < end; ++j) {
          if (j == k) continue;
          const double f = std::exchange(a_.row(j)[k], 0.0);
          a_.add_multiple(j, f, k);
          lost_[j] += f * lost_[k];
        }
      }
      std::size_t from[PaddedRows::kTogether];
      for (std::size_t b = 0; b < PaddedRows::kTogether; ++b)
        from[b] = std::min(begin + b, end - 1);
      for (const auto& [first, last] : {std::pair(std::size_t{1}, begin), std::pair(end, nodes_)}) {
        if (end - begin == PaddedRows::kTogether)
          take_factors(first, last, begin,
                       std::integral_constant<std::size_t, PaddedRows::kTogether>());
        else
          take_factors(first, last, begin, end - begin);
        a_.add_multiples(first, last, factors_.data(), from);
      }
      return true;
    }

    /// Multiplies a pivot; false if it is zero or may have lost digits.
    bool accept(std::size_t k, double pivot) {
      if (!(lost_[k] < 1e-20 * pivot)) return false;
      lost_[k] /= pivot;
      product_ *= pivot;
      if (!(product_ > 1e-20 && product_ < 1e20)) {
        log_ += std::log(product_);
        product_ = 1;
      }
      return true;
    }
    double log_product() const { return log_ + std::log(product_); }

   private:
    // Moves the weights of `count` heads from rows [from, to).
    template <class Count>
    void take_factors(std::size_t from, std::size_t to, std::size_t head, Count count) {
      double lost[PaddedRows::kTogether];
      for (std::size_t b = 0; b < count; ++b) lost[b] = lost_[head + b];
      for (std::size_t i = from; i < to; ++i) {
        double* const x = a_.row(i) + head;
        double* const f = factors_.data() + i * PaddedRows::kTogether;
        double all = lost_[i];
        std::fill_n(f, PaddedRows::kTogether, 0.0);
        for (std::size_t b = 0; b < count; ++b) {
          f[b] = std::exchange(x[b], 0.0);
          all += f[b] * lost[b];
        }
        lost_[i] = all;
      }
    }

    PaddedRows& a_;
    const std::size_t nodes_;
    std::vector<double> lost_, factors_;
    double product_ = 1, log_ = 0;
  };

  /// Word of the largest weight as a root beside other heads.
  std::size_t likely_root() const {
    std::size_t best = 1;
    double most = -1;
    for (std::size_t d = 1; d < nodes_; ++d) {
      const double root = weights_.row(d)[0];
      const double odds = root / sum_of_doubles(weights_.row(d), nodes_);
      if (odds > most) {
        most = odds;
        best = d;
      }
    }
    return best;
  }

  /// The inverse in place of the weights. Word s is in place of the root; its row and column become
  /// zero.
  bool invert(double& log_product) {
    if (s_ > 0) {
      std::fill_n(green_.row(s_), stride(), 0.0);
      for (std::size_t d = 1; d < nodes_; ++d)
        green_.row(d)[0] = std::exchange(green_.row(d)[s_], 0.0);
    }
    Elimination words(green_, nodes_);
    for (std::size_t end = nodes_; end > 1;) {
      const std::size_t begin = end - std::min(end - 1, PaddedRows::kTogether);
      if (!words.eliminate(begin, end, s_)) return false;
      end = begin;
    }
    log_product = words.log_product();
    return true;
  }

  /// p(h, d) = a(h, d) (g_d - g_h - c (y_d - y_h)), where g is the column of d of the inverse.
  /// Returns which lanes have lost digits.
  Bits<Doubles> find_row(std::size_t d, const double* g, double c, double* to, double least) const {
    using L = PaddedRows::L;
    const double* const a = weights_.row(d);
    const double cy = single_root_ ? c * reached_[d] : 0;
    const Doubles own = L::all(g[d] - cy), size = L::all(least * (g[d] + cy));
    Bits<Doubles> lost{};
    for (std::size_t at = 0; at < stride(); at += L::kWidth) {
      const Doubles x = L::load(a + at);
      const Doubles more = single_root_ ? L::all(c) * L::load(reached_.data() + at) : Doubles{};
      const Doubles difference = own - L::load(g + at) + more;
      lost |= (x > 0) & ~(difference >= size + L::all(least) * more);
      L::store(to + at, x * difference);
    }
    return lost;
  }

  const std::size_t nodes_;
  const bool single_root_;
  PaddedRows weights_, green_;                // the inverse
  std::size_t s_ = 0;                         // a word in place of a single root
  std::vector<double> roots_, reached_, pi_;  // r, y, pi; zero for s
  double all_ = 0;                            // sum of r and pi
};

}  // namespace dynet::cpu::DYNET_ISA
