#pragma once

// Sums over projective dependency trees, by the algorithm of Eisner (1996; 2000, "Bilexical
// grammars and their cubic-time parsing algorithms"), in logarithms.
//
// Five sums belong to the nodes i .. i+w, where node 0 is the root, each over all sets of arcs
// between them: A, with the arc from the left end to the right end, and B, with the arc from right
// to left; S, the common part of A and B; R, with all nodes below the left end, and L, below the
// right end. Each is a sum over the split points of the span:
//
//     S[w][i] = sum_k R[k][i] L[w-1-k][i+k+1]      A = S e^arc(i, i+w), B = S e^arc(i+w, i)
//     R[w][i] = sum_k A[k+1][i] R[w-1-k][i+k+1]    L[w][i] = sum_k L[k][i] B[w-k][i+k]
//
// for k from 0 to w-1. Tables have one row per w, so that spans of equal width are lanes of
// vectors. Tables are double, so that differences of large scores are exact enough; their
// exponentials have type T. Directional derivatives differentiate these formulas.
#include <algorithm>
#include <utility>

#include "dynet-like/structures/dependency_trees/attributes.h"
#include "kernels/cpu/exponential.h"

namespace dynet::cpu::DYNET_ISA {

/// Doubles for all lanes of a vector of T.
template <class T>
struct DoublePack {
  using D = Lanes<double>;
  using V = typename Lanes<T>::V;
  static constexpr std::size_t kParts = sizeof(double) / sizeof(T);
  typename D::V part[kParts];

  static DoublePack load(const double* x) {
    DoublePack y;
    for (std::size_t p = 0; p < kParts; ++p) y.part[p] = D::load(x + p * D::kWidth);
    return y;
  }
  void store(double* to) const {
    for (std::size_t p = 0; p < kParts; ++p) D::store(to + p * D::kWidth, part[p]);
  }

  template <class F>
  static DoublePack each(const DoublePack& a, const DoublePack& b, F f) {
    DoublePack y;
    for (std::size_t p = 0; p < kParts; ++p) y.part[p] = f(a.part[p], b.part[p]);
    return y;
  }
  friend DoublePack operator+(const DoublePack& a, const DoublePack& b) {
    return each(a, b, [](auto x, auto y) { return x + y; });
  }
  friend DoublePack operator-(const DoublePack& a, const DoublePack& b) {
    return each(a, b, [](auto x, auto y) { return x - y; });
  }
  friend DoublePack operator*(const DoublePack& a, const DoublePack& b) {
    return each(a, b, [](auto x, auto y) { return x * y; });
  }
  friend DoublePack larger(const DoublePack& a, const DoublePack& b) {
    return each(a, b, [](auto x, auto y) { return x < y ? y : x; });
  }
  /// a / b, or zero if b is zero.
  friend DoublePack quotient(const DoublePack& a, const DoublePack& b) {
    return each(a, b, [](auto x, auto y) { return y == 0.0 ? y : x / y; });
  }
  static DoublePack all(double x) {
    DoublePack y;
    for (auto& v : y.part) v = typename D::V{} + x;
    return y;
  }
  /// Replaces minus infinity by `to`.
  DoublePack forbidden_as(double to) const {
    DoublePack y = *this;
    for (auto& v : y.part) v = v == -kInfinity<double> ? typename D::V{} + to : v;
    return y;
  }

  static DoublePack from(V x) {
    if constexpr (kParts == 1)
      return {{x}};
    else
      return split(x, std::make_index_sequence<D::kWidth>());
  }
  V rounded() const {
    if constexpr (kParts == 1)
      return part[0];
    else
      return join(std::make_index_sequence<Lanes<T>::kWidth>());
  }

 private:
  typedef T Half __attribute__((vector_size(kLaneBytes / kParts)));

  template <std::size_t... I>
  static DoublePack split(V x, std::index_sequence<I...>) {
    return {{__builtin_convertvector(__builtin_shufflevector(x, x, I...), typename D::V),
             __builtin_convertvector(__builtin_shufflevector(x, x, (I + D::kWidth)...),
                                     typename D::V)}};
  }
  template <std::size_t... I>
  V join(std::index_sequence<I...>) const {
    return __builtin_shufflevector(__builtin_convertvector(part[0], Half),
                                   __builtin_convertvector(part[1], Half), I...);
  }
};

/// Sums of a sentence; `tables` has DependencyTables::kTables tables, enough for derivatives as
/// well.
template <class T>
class ProjectiveTrees {
  using L = Lanes<T>;
  using V = typename L::V;
  using Pack = DoublePack<T>;

 public:
  enum Table : std::size_t { kShared, kToRight, kToLeft, kRight, kLeft };

  ProjectiveTrees(std::size_t nodes, bool single_root, double* tables)
      : nodes_(nodes),
        stride_(DependencyTables{nodes}.stride()),
        size_(DependencyTables{nodes}.size()),
        single_root_(single_root),
        sums_(tables) {}

  std::size_t size() const { return DependencyTables::kTables * size_; }
  double log_partition() const { return sums_[place(kRight, nodes_ - 1, 0)]; }

  /// Computes the sums; `arcs` are {nodes, nodes}, column-major.
  void find_sums(const T* arcs) {
    std::fill_n(sums_, size(), -kInfinity<double>);
    for (std::size_t i = 0; i < nodes_; ++i)
      sums_[place(kRight, 0, i)] = sums_[place(kLeft, 0, i)] = 0;
    for (std::size_t w = 1; w < nodes_; ++w) {
      for_spans(Sum(*this, kShared, w), [&](const Sum& s) { add_up(s); });
      for (std::size_t i = 0; i + w < nodes_; ++i) {
        const double shared = sums_[place(kShared, w, i)];
        sums_[place(kToRight, w, i)] = shared + arc(arcs, i, i + w);
        sums_[place(kToLeft, w, i)] = i == 0 ? -kInfinity<double> : shared + arc(arcs, i + w, i);
      }
      for_spans(Sum(*this, kRight, w), [&](const Sum& s) { add_up(s); });
      for_spans(Sum(*this, kLeft, w), [&](const Sum& s) { add_up(s); });
      // A single root requires the spans below it to cover all words.
      if (single_root_ && w + 1 < nodes_) sums_[place(kRight, w, 0)] = -kInfinity<double>;
    }
  }

  /// After find_sums: computes the probabilities of all spans into tables of T.
  void find_probabilities(T* mass) const {
    descend(mass, [&](const Sum& s, V own) {
      const Pack all = own_sums(s);
      each_term(s, [&](std::size_t x, std::size_t y) {
        const V t = own * probability(s, all, x, y);
        L::store(mass + x, L::load(mass + x) + t);
        L::store(mass + y, L::load(mass + y) + t);
      });
    });
  }

  /// Entropy by the chain rule: the entropy of each span's split, weighted by the span's
  /// probability. Fills in `mass` like find_probabilities.
  double entropy(T* mass) const {
    double sum = 0;
    descend(mass, [&](const Sum& s, V own) {
      const Pack all = own_sums(s);
      V surprise{};
      each_term(s, [&](std::size_t x, std::size_t y) {
        const V log_p = (Pack::load(sums_ + x) + Pack::load(sums_ + y) - all).rounded();
        const V p = s.only(positive(exp(log_p)));
        surprise -= p > T(0) ? p * log_p : V{};
        const V t = own * p;
        L::store(mass + x, L::load(mass + x) + t);
        L::store(mass + y, L::load(mass + y) + t);
      });
      const V h = own * surprise;
      for (std::size_t k = 0; k < L::kWidth; ++k) sum += static_cast<double>(h[k]);
    });
    return sum;
  }

  /// Derivatives of the log sums in a direction(head, dependent).
  template <class Direction>
  void find_derivatives(Direction direction, double* d) const {
    std::fill_n(d, size(), 0.0);
    const auto mean = [&](const Sum& s) {
      const Pack all = own_sums(s);
      Pack total = Pack::all(0), weight = Pack::all(0);
      each_term(s, [&](std::size_t x, std::size_t y) {
        const Pack p = Pack::from(probability(s, all, x, y));
        weight = weight + p;
        total = total + p * (Pack::load(d + x) + Pack::load(d + y));
      });
      quotient(total, weight).store(d + s.own);  // weights sum to one, apart from rounding
    };
    for (std::size_t w = 1; w < nodes_; ++w) {
      for_spans(Sum(*this, kShared, w), mean);
      for (std::size_t i = 0; i + w < nodes_; ++i) {
        const double shared = d[place(kShared, w, i)];
        d[place(kToRight, w, i)] = shared + direction(i, i + w);
        d[place(kToLeft, w, i)] = i == 0 ? 0 : shared + direction(i + w, i);
      }
      for_spans(Sum(*this, kRight, w), mean);
      for_spans(Sum(*this, kLeft, w), mean);
    }
  }

  /// After find_derivatives: computes the probabilities of all spans, and their derivatives.
  void find_probabilities(const double* d, T* mass, double* d_mass) const {
    std::fill_n(d_mass, size(), 0.0);
    const auto share = [&](const Sum& s, V own) {
      const Pack all = own_sums(s), mean = Pack::load(d + s.own),
                 d_own = Pack::load(d_mass + s.own);
      const Pack wide = Pack::from(own);
      each_term(s, [&](std::size_t x, std::size_t y) {
        const V p = probability(s, all, x, y);
        const V t = own * p;
        L::store(mass + x, L::load(mass + x) + t);
        L::store(mass + y, L::load(mass + y) + t);
        const Pack slope = Pack::load(d + x) + Pack::load(d + y) - mean;
        const Pack dt = Pack::from(p) * (d_own + wide * slope);
        (Pack::load(d_mass + x) + dt).store(d_mass + x);
        (Pack::load(d_mass + y) + dt).store(d_mass + y);
      });
    };
    descend(mass, share, [&](std::size_t w, std::size_t i) {
      d_mass[place(kShared, w, i)] = d_mass[place(kToRight, w, i)] + d_mass[place(kToLeft, w, i)];
    });
  }

  /// Calls use(head, dependent, element) for all spans of a table that are arcs.
  template <class X, class Use>
  void each_arc(const X* table, Use use) const {
    for (std::size_t w = 1; w < nodes_; ++w)
      for (std::size_t i = 0; i + w < nodes_; ++i) {
        use(i, i + w, table[place(kToRight, w, i)]);
        if (i > 0) use(i + w, i, table[place(kToLeft, w, i)]);
      }
  }

 private:
  std::size_t place(Table table, std::size_t w, std::size_t i) const {
    return table * size_ + w * stride_ + i;
  }
  static V positive(V e) { return e < 8 * std::numeric_limits<T>::min() ? V{} : e; }
  static double arc(const T* arcs, std::size_t nodes, std::size_t head, std::size_t dependent) {
    return static_cast<double>(arcs[dependent * nodes + head]);
  }
  double arc(const T* arcs, std::size_t head, std::size_t dependent) const {
    return arc(arcs, nodes_, head, dependent);
  }

  /// Vector of spans of one width: index of their sum, and of the two factors of the first term;
  /// those of later terms follow by strides.
  struct Sum {
    std::size_t own, x, y, width, spans, stride;
    Sum(const ProjectiveTrees& t, Table table, std::size_t w)
        : own(t.place(table, w, 0)), width(w), spans(t.nodes_ - w), stride(t.stride_) {
      if (table == kShared) x = t.place(kRight, 0, 0), y = t.place(kLeft, w - 1, 1);
      if (table == kRight) x = t.place(kToRight, 1, 0), y = t.place(kRight, w - 1, 1);
      if (table == kLeft) x = t.place(kLeft, 0, 0), y = t.place(kToLeft, w, 0);
    }
    /// Zeroes the lanes beyond the last span.
    V only(V v) const {
      V lane;
      for (std::size_t k = 0; k < L::kWidth; ++k) lane[k] = static_cast<T>(k);
      return lane < static_cast<T>(spans) ? v : V{};
    }
  };

  /// Calls f(sum) for the spans of one width.
  template <class F>
  void for_spans(Sum s, F f) const {
    for (;;) {
      f(static_cast<const Sum&>(s));
      if (s.spans <= L::kWidth) return;
      s.own += L::kWidth, s.x += L::kWidth, s.y += L::kWidth, s.spans -= L::kWidth;
    }
  }
  /// Calls f(x, y) with the indices of the factors of each term.
  template <class F>
  [[gnu::always_inline]] static void each_term(const Sum& s, F f) {
    for (std::size_t k = 0, x = s.x, y = s.y; k < s.width; ++k, x += s.stride, y -= s.stride - 1)
      f(x, y);
  }

  void add_up(const Sum& s) {
    Pack most = Pack::all(-kInfinity<double>);
    each_term(s, [&](std::size_t x, std::size_t y) {
      most = larger(most, Pack::load(sums_ + x) + Pack::load(sums_ + y));
    });
    const Pack shift = most.forbidden_as(0);
    V sum{};
    each_term(s, [&](std::size_t x, std::size_t y) {
      sum += exp((Pack::load(sums_ + x) + Pack::load(sums_ + y) - shift).rounded());
    });
    (shift + Pack::from(log(sum))).store(sums_ + s.own);
  }

  /// Replaces minus infinity by infinity, so that impossible spans have terms of probability zero.
  Pack own_sums(const Sum& s) const {
    return Pack::load(sums_ + s.own).forbidden_as(kInfinity<double>);
  }
  V probability(const Sum& s, const Pack& all, std::size_t x, std::size_t y) const {
    const V e = exp((Pack::load(sums_ + x) + Pack::load(sums_ + y) - all).rounded());
    return s.only(positive(e));
  }

  /// Top-down pass: share(sum, mass) distributes the mass of each span to its parts.
  template <class Share>
  void descend(T* mass, Share share) const {
    descend(mass, share, [](std::size_t, std::size_t) {});
  }
  template <class Share, class Join>
  void descend(T* mass, Share share, Join join) const {
    std::fill_n(mass, size(), T(0));
    if (!(log_partition() > -kInfinity<double>)) {
      if (log_partition() != log_partition())
        std::fill_n(mass, size(), static_cast<T>(log_partition()));
      return;
    }
    mass[place(kRight, nodes_ - 1, 0)] = 1;
    const auto pass_on = [&](const Sum& s) { share(s, s.only(L::load(mass + s.own))); };
    for (std::size_t w = nodes_ - 1; w > 0; --w) {
      for_spans(Sum(*this, kRight, w), pass_on);
      for_spans(Sum(*this, kLeft, w), pass_on);
      for (std::size_t i = 0; i + w < nodes_; ++i) {
        mass[place(kShared, w, i)] = mass[place(kToRight, w, i)] + mass[place(kToLeft, w, i)];
        join(w, i);
      }
      for_spans(Sum(*this, kShared, w), pass_on);
    }
  }

  std::size_t nodes_, stride_, size_;
  bool single_root_;
  double* sums_;
};

}  // namespace dynet::cpu::DYNET_ISA
