#include "kernels/cpu/crf.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/cpu/exponential.h"

// Linear-chain CRFs in log space. With f_t(j) the log sum over all prefixes that end in tag j at
// position t, the previous tag has probability p_t(i | j) = exp(f_{t-1}(i) + a(i, j) - norm_t(j)),
// where norm normalizes the sum to one; marginals follow from the last position backwards by
// m_{t-1}(i) = sum_j p_t(i | j) m_t(j). All sums have positive terms, so nothing cancels.
// Directional derivatives, used for the gradients of marginals and of the entropy, differentiate
// these formulas. Lafferty, McCallum, Pereira 2001, "Conditional random fields"; Rabiner 1989 for
// the recurrence.

namespace dynet::cpu::DYNET_ISA {
namespace {

struct Weights;

/// Scores of a batch element of a node, and its scratch.
struct Chain {
  std::size_t tags, length;
  const T *emissions, *start, *stop;
  const T* transitions;
  std::size_t stride;  // stride from the transitions of one position to the next
  T *forward, *norm, *marginals;
  Weights* weights = nullptr;

  Chain(const Batch<T>& b, std::size_t i, std::size_t element)
      : tags(b.dim(0, i).rows()),
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
};

/// Exponentials of transitions that are identical for all positions, scaled by a factor. Sums of
/// e^score are then products of a matrix and a vector. Underflowing terms are negligible if the sum
/// exceeds kEnough; smaller sums are computed in logarithms.
struct Weights {
  static constexpr std::size_t kMost = 512;  // maximum number of tags
  /// Smallest accepted sum; terms lost to underflow are below the smallest normal number.
  static constexpr T kEnough = sizeof(T) == 4 ? T(1e-18) : T(1e-150);

  std::vector<T> by_row, transposed;  // column-major like the transitions, and transposed
  std::vector<T> pairs;               // scratch of equal size
  T scale = 0;                        // log of the factor
  const T* of = nullptr;

  /// Null for chains that do not benefit.
  Weights* made_for(const Chain& c) {
    const std::size_t n = c.tags;
    if (c.stride > 0 || n > kMost || c.length < 2) return nullptr;
    if (of == c.transitions) return this;
    of = c.transitions;
    scale = shift(largest(of, n * n));
    for (std::vector<T>* m : {&by_row, &transposed, &pairs}) m->resize(n * n);
    array(by_row.data(), n * n) = array(of, n * n) - scale;
    exponentials(by_row.data(), n * n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) transposed[i * n + j] = by_row[j * n + i];
    return this;
  }

  /// y = M x, with n rows and columns.
  static void multiply(const T* m, const T* x, std::size_t n, T* y) {
    using L = Lanes<T>;
    each_vector<T>(n, [&](std::size_t at, auto part) {
      typename L::V sum{};
      for (std::size_t k = 0; k < n; ++k) sum += x[k] * L::load(m + k * n + at, part);
      L::store(y + at, sum, part);
    });
  }
};

/// Calls f(at, size, e^(before + into + add)) over the previous tags.
template <class Use>
void column(const T* before, const T* into, T add, std::size_t n, Use use) {
  exponentials_of<T>(
      n,
      [&](std::size_t at, std::size_t size, T* to) {
        array(to, size) = array(before + at, size) + array(into + at, size) + add;
      },
      use);
}

/// log sum_i e^(before_i + into_i)
T log_sum(const T* before, const T* into, std::size_t n) {
  const T m = shift((array(before, n) + array(into, n)).maxCoeff());
  T sum = 0;
  column(before, into, -m, n,
         [&](std::size_t, std::size_t size, const T* e) { sum += sum_in_order(array(e, size)); });
  return m + std::log(sum);
}

/// Computes norms by `weights`.
void find_norms(const Chain& c, std::size_t t) {
  using W = Weights;
  const std::size_t n = c.tags;
  const T* const before = c.forward + (t - 1) * n;
  T* const norm = c.norm + t * n;
  alignas(64) T e[W::kMost], sums[W::kMost];
  std::copy_n(before, n, e);
  exponentials(e, n);
  W::multiply(c.weights->transposed.data(), e, n, sums);
  map_vectors(norm, sums, n, [&](auto v) { return log(v) + c.weights->scale; });
  for (std::size_t j = 0; j < n; ++j)
    if (sums[j] < W::kEnough) norm[j] = log_sum(before, c.into(t, j), n);
}

/// Computes `forward` and `norm`, and returns the log-partition.
double run_forward(const Chain& c, const T* emissions) {
  const std::size_t n = c.tags;
  if (c.length == 0) return 0;
  double scale = 0;
  const auto rescale = [&](T* f) {  // keeps numbers small in long sequences
    const T m = shift(largest(static_cast<const T*>(f), n));
    array(f, n) -= m;
    scale += static_cast<double>(m);
  };
  array(c.forward, n) = array(c.start, n) + array(emissions, n);
  rescale(c.forward);
  for (std::size_t t = 1; t < c.length; ++t) {
    const T* const before = c.forward + (t - 1) * n;
    T *const now = c.forward + t * n, *const norm = c.norm + t * n;
    if (c.weights)
      find_norms(c, t);
    else
      for (std::size_t j = 0; j < n; ++j) norm[j] = log_sum(before, c.into(t, j), n);
    array(now, n) = array(static_cast<const T*>(norm), n) + array(emissions + t * n, n);
    rescale(now);
  }
  const T* const last = c.forward + (c.length - 1) * n;
  const T m = shift((array(last, n) + array(c.stop, n)).maxCoeff());
  T sum = 0;
  exponentials_of<T>(
      n,
      [&](std::size_t at, std::size_t size, T* to) {
        array(to, size) = array(last + at, size) + array(c.stop + at, size) - m;
      },
      [&](std::size_t, std::size_t size, const T* e) { sum += sum_in_order(array(e, size)); });
  return scale + static_cast<double>(m) + std::log(static_cast<double>(sum));
}

/// Calls use(j, at, size, p) with the probabilities p_t(i | j) for i from `at`. Unreachable tags
/// have zero probabilities.
template <class Use>
void probabilities(const Chain& c, std::size_t t, Use use) {
  const T *const before = c.forward + (t - 1) * c.tags, *const norm = c.norm + t * c.tags;
  over_columns<T>(
      c.tags, c.tags,
      [&](std::size_t j, std::size_t at, std::size_t size, T* to) {
        if (norm[j] == -kInfinity<T>)
          std::fill_n(to, size, -kInfinity<T>);
        else
          array(to, size) = array(before + at, size) + array(c.into(t, j) + at, size) - norm[j];
      },
      use);
}

/// Probabilities p_t(i | j) times m(j), by `weights`: element (i, j) is e_i w_ij r_j, except for
/// columns passed to `rest`, which are computed in logarithms.
template <class Rest>
void split_probabilities(const Chain& c, std::size_t t, const T* m, T* e, T* r, Rest rest) {
  const std::size_t n = c.tags;
  const T *const before = c.forward + (t - 1) * n, *const norm = c.norm + t * n;
  std::copy_n(before, n, e);
  exponentials(e, n);
  array(r, n) = array(norm, n) - c.weights->scale;
  exponentials(r, n);
  for (std::size_t j = 0; j < n; ++j) {
    const bool enough = r[j] > 2 * Weights::kEnough;
    r[j] = enough ? m[j] / r[j] : T(0);
    if (enough || m[j] == T(0)) continue;
    column(before, c.into(t, j), -norm[j], n,
           [&](std::size_t at, std::size_t size, const T* p) { rest(j, at, size, p); });
  }
}

/// Computes the marginals; after run_forward. All are zero if there is no valid sequence.
void find_marginals(const Chain& c, T* m) {
  const std::size_t n = c.tags;
  if (c.length == 0) return;
  T* const last = m + (c.length - 1) * n;
  array(last, n) =
      array(static_cast<const T*>(c.forward) + (c.length - 1) * n, n) + array(c.stop, n);
  array(last, n) -= shift(largest(static_cast<const T*>(last), n));
  exponentials(last, n);
  const T sum = sum_in_order(array(static_cast<const T*>(last), n));
  array(last, n) *= sum == T(0) ? T(0) : T(1) / sum;
  for (std::size_t t = c.length - 1; t > 0; --t) {
    const T* const now = m + t * n;
    T* const before = m + (t - 1) * n;
    std::fill_n(before, n, T(0));
    const auto add = [&](std::size_t j, std::size_t at, std::size_t size, const T* p) {
      if (now[j] != T(0)) array(before + at, size) += now[j] * array(p, size);
    };
    if (!c.weights) {
      probabilities(c, t, add);
      continue;
    }
    alignas(64) T e[Weights::kMost], r[Weights::kMost], sums[Weights::kMost];
    split_probabilities(c, t, now, e, r, add);
    Weights::multiply(c.weights->by_row.data(), r, n, sums);
    array(before, n) += array(static_cast<const T*>(e), n) * array(static_cast<const T*>(sums), n);
  }
}

/// Calls f(chain, node, element) for every batch element of every node with a gradient.
template <class F>
void each_chain(const Batch<T>& b, F f) {
  Weights weights;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) {
      Chain c(b, i, e);
      c.weights = weights.made_for(c);
      f(c, i, e);
    }
}

/// Calls f(chain, node, element, to) for the gradient of operand k; `to` is zeroed before a store.
/// Emissions have one part per batch element.
template <class F>
void each_gradient(const GradientBatch<T>& b, std::size_t k, F f) {
  Weights weights;
  for (std::size_t i = 0; i < b.count; ++i) {
    T* const to = b.d_in(k, i);
    if (!to) continue;
    if (!b.add(k, i)) std::fill_n(to, b.dim(k, i).size(), T(0));
    for (std::size_t e = 0; e < b.dim(0, i).bd; ++e) {
      Chain c(b, i, e);
      if (k == 1) c.weights = weights.made_for(c);
      f(c, i, e, to + (k == 0 ? e * c.tags * c.length : 0));
    }
  }
}

/// Adds `factor` times the expected count of each score of operand k.
void add_expectations(const Chain& c, const T* m, std::size_t k, T factor, T* to) {
  const std::size_t n = c.tags;
  if (c.length == 0 || factor == T(0)) return;
  if (k == 0) array(to, n * c.length) += factor * array(m, n * c.length);
  if (k == 2) array(to, n) += factor * array(m, n);
  if (k == 3) array(to, n) += factor * array(m + (c.length - 1) * n, n);
  if (k != 1) return;
  const auto add = [&](std::size_t t) {
    return [&, t](std::size_t j, std::size_t at, std::size_t size, const T* p) {
      const T weight = factor * m[t * n + j];
      if (weight != T(0))
        array(to + (t - 1) * c.stride + j * n + at, size) += weight * array(p, size);
    };
  };
  if (!c.weights) {
    for (std::size_t t = 1; t < c.length; ++t) probabilities(c, t, add(t));
    return;
  }
  using W = Weights;
  alignas(64) T e[W::kMost], r[W::kMost];
  T* const pairs = c.weights->pairs.data();
  std::fill_n(pairs, n * n, T(0));
  for (std::size_t t = 1; t < c.length; ++t) {
    split_probabilities(c, t, m + t * n, e, r, add(t));
    each_vector<T>(n, [&](std::size_t at, auto part) {
      const auto before = Lanes<T>::load(e + at, part);
      for (std::size_t j = 0; j < n; ++j) put<T>(true, pairs + j * n + at, before * r[j], part);
    });
  }
  array(to, n * n) += factor * array(static_cast<const T*>(pairs), n * n) *
                      array(std::as_const(c.weights->by_row).data(), n * n);
}

/// Score of a sequence with known tags, and its gradient.
struct Known {
  const unsigned* tags;

  double score(const Chain& c) const {
    if (c.length == 0) return 0;
    double sum =
        static_cast<double>(c.start[tags[0]]) + static_cast<double>(c.stop[tags[c.length - 1]]);
    for (std::size_t t = 0; t < c.length; ++t) {
      sum += static_cast<double>(c.emissions[t * c.tags + tags[t]]);
      if (t > 0) sum += static_cast<double>(c.into(t, tags[t])[tags[t - 1]]);
    }
    return sum;
  }

  void add(const Chain& c, std::size_t k, T factor, T* to) const {
    if (c.length == 0) return;
    if (k == 2) to[tags[0]] += factor;
    if (k == 3) to[tags[c.length - 1]] += factor;
    for (std::size_t t = 0; t < c.length; ++t) {
      if (k == 0) to[t * c.tags + tags[t]] += factor;
      if (k == 1 && t > 0) to[(t - 1) * c.stride + tags[t] * c.tags + tags[t - 1]] += factor;
    }
  }
};

const unsigned* tags_of(const Batch<T>& b, const Chain& c, std::size_t i, std::size_t e) {
  return b.payload<CrfTagsAttr, unsigned>(i) + e * c.length;
}

/// The chain with all tags forbidden that contradict known tags; its tables follow those of `c`.
Chain constrain(Chain c, const unsigned* tags) {
  const std::size_t size = c.tags * c.length;
  T* const known = c.forward + CrfTables{size}.known();
  std::copy_n(c.emissions, size, known);
  for (std::size_t t = 0; t < c.length; ++t)
    for (std::size_t j = 0; j < c.tags && tags[t] != kAnyTag; ++j)
      if (j != tags[t]) known[t * c.tags + j] = -kInfinity<T>;
  c.emissions = known;
  c.forward += 4 * size;
  c.norm += 4 * size;
  c.marginals += 4 * size;
  return c;
}

/// Calls use(i, j, d) with the derivatives of the probabilities of tag pairs, i at t - 1 and j at
/// t.
template <class E, class A, class Use>
void each_derivative(const Chain& c, std::size_t t, E d_emission, A d_transition, Use use) {
  const std::size_t n = c.tags;
  const CrfTables tables{n * c.length};
  const T *const df = c.forward + tables.d_forward() + t * n, *const before = df - n;
  const T* const dm = c.forward + tables.d_marginals() + t * n;
  const T* const m = c.marginals + t * n;
  probabilities(c, t, [&](std::size_t j, std::size_t at, std::size_t count, const T* p) {
    const T own = df[j] - d_emission(t, j);
    for (std::size_t i = 0; i < count; ++i)
      if (p[i] != T(0))
        use(at + i, j, p[i] * (dm[j] + m[j] * (before[at + i] + d_transition(p[i]) - own)));
  });
}

/// Derivatives of the marginals in a direction of the scores: given by index for emissions, and by
/// probability for transitions and stop scores.
template <class E, class A>
void find_derivatives(const Chain& c, E d_emission, A d_transition, A d_stop) {
  const std::size_t n = c.tags, size = n * c.length;
  if (size == 0) return;
  T* const df = c.forward + CrfTables{size}.d_forward();
  T* const dm = c.forward + CrfTables{size}.d_marginals();
  for (std::size_t j = 0; j < n; ++j) df[j] = d_emission(std::size_t{0}, j);
  for (std::size_t t = 1; t < c.length; ++t) {
    T *const now = df + t * n, *const before = now - n;
    for (std::size_t j = 0; j < n; ++j) now[j] = d_emission(t, j);
    probabilities(c, t, [&](std::size_t j, std::size_t at, std::size_t count, const T* p) {
      for (std::size_t i = 0; i < count; ++i)
        if (p[i] != T(0)) now[j] += p[i] * (before[at + i] + d_transition(p[i]));
    });
  }
  const std::size_t last = (c.length - 1) * n;
  T mean = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const T p = c.marginals[last + j];
    dm[last + j] = p == T(0) ? T(0) : df[last + j] + d_stop(p);
    mean += p * dm[last + j];
  }
  for (std::size_t j = 0; j < n; ++j) dm[last + j] = c.marginals[last + j] * (dm[last + j] - mean);
  for (std::size_t t = c.length - 1; t > 0; --t) {
    T* const before = dm + (t - 1) * n;
    std::fill_n(before, n, T(0));
    each_derivative(c, t, d_emission, d_transition,
                    [&](std::size_t i, std::size_t, T d) { before[i] += d; });
  }
}

/// Adds `factor` times the derivatives of the expected counts of the scores of operand k.
template <class E, class A>
void add_derivatives(const Chain& c, std::size_t k, T factor, E d_emission, A d_transition, T* to) {
  const std::size_t n = c.tags, size = n * c.length;
  if (size == 0) return;
  const T* const dm = c.forward + CrfTables{size}.d_marginals();
  if (k == 0) array(to, size) += factor * array(dm, size);
  if (k == 2) array(to, n) += factor * array(dm, n);
  if (k == 3) array(to, n) += factor * array(dm + size - n, n);
  for (std::size_t t = 1; k == 1 && t < c.length; ++t)
    each_derivative(c, t, d_emission, d_transition, [&](std::size_t i, std::size_t j, T d) {
      to[(t - 1) * c.stride + j * n + i] += factor * d;
    });
}

}  // namespace

void CrfLogPartition::forward(const Batch<T>& b) {
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    b.out(i)[e] = static_cast<T>(run_forward(c, c.emissions));
  });
}

void CrfLogPartition::backward(const GradientBatch<T>& b) {
  each_chain(b, [&](const Chain& c, std::size_t, std::size_t) { find_marginals(c, c.marginals); });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain& c, std::size_t i, std::size_t e, T* to) {
      add_expectations(c, c.marginals, k, b.d_out(i)[e], to);
    });
}

void CrfLogProb::forward(const Batch<T>& b) {
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    const unsigned* const tags = tags_of(b, c, i, e);
    const double all = run_forward(c, c.emissions);
    double score;
    if (b.attr<CrfTagsAttr>(i).partly) {
      const Chain known = constrain(c, tags);
      score = run_forward(known, known.emissions);
    } else {
      score = Known{tags}.score(c);
    }
    const bool possible = score != -kInfinity<double>;  // otherwise log Z may also be -infinity
    b.out(i)[e] = possible ? std::min(T(0), static_cast<T>(score - all)) : -kInfinity<T>;
    if (possible && std::isnan(score - all)) b.out(i)[e] = static_cast<T>(score - all);
  });
}

void CrfLogProb::backward(const GradientBatch<T>& b) {
  const auto partly = [&](std::size_t i) { return b.attr<CrfTagsAttr>(i).partly != 0; };
  const auto constrained = [&](const Chain& c, std::size_t i, std::size_t e) {
    return constrain(c, tags_of(b, c, i, e));
  };
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    find_marginals(c, c.marginals);
    if (!partly(i)) return;
    const Chain known = constrained(c, i, e);
    find_marginals(known, known.marginals);
  });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain& c, std::size_t i, std::size_t e, T* to) {
      const T d = b.d_out(i)[e];
      if (b.out(i)[e] == -kInfinity<T>) return;
      add_expectations(c, c.marginals, k, -d, to);
      if (!partly(i)) return Known{tags_of(b, c, i, e)}.add(c, k, d, to);
      const Chain known = constrained(c, i, e);
      add_expectations(known, known.marginals, k, d, to);
    });
}

void CrfMarginals::forward(const Batch<T>& b) {
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    run_forward(c, c.emissions);
    find_marginals(c, c.marginals);
    std::copy_n(c.marginals, c.tags * c.length, b.out(i) + e * c.tags * c.length);
  });
}

void CrfMarginals::backward(const GradientBatch<T>& b) {
  const auto zero = [](auto...) { return T(0); };
  const auto direction = [&](const Chain& c, std::size_t i, std::size_t e) {
    return [d = b.d_out(i) + e * c.tags * c.length, n = c.tags](std::size_t t, std::size_t j) {
      return d[t * n + j];
    };
  };
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    find_derivatives(c, direction(c, i, e), zero, zero);
  });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain& c, std::size_t i, std::size_t e, T* to) {
      add_derivatives(c, k, T(1), direction(c, i, e), zero, to);
    });
}

// Entropy by the chain rule, from the last position backwards: that of the last tag, and of each
// tag given its successor.
void CrfEntropy::forward(const Batch<T>& b) {
  each_chain(b, [&](const Chain& c, std::size_t i, std::size_t e) {
    run_forward(c, c.emissions);
    find_marginals(c, c.marginals);
    double sum = 0;
    const auto add = [&](T weight, T p) {
      if (p > T(0)) sum -= static_cast<double>(weight * p) * std::log(static_cast<double>(p));
    };
    const std::size_t n = c.tags;
    for (std::size_t j = 0; j < n && c.length > 0; ++j)
      add(T(1), c.marginals[(c.length - 1) * n + j]);
    for (std::size_t t = 1; t < c.length; ++t)
      probabilities(c, t, [&](std::size_t j, std::size_t, std::size_t count, const T* p) {
        const T weight = c.marginals[t * n + j];
        for (std::size_t k = 0; k < count && weight != T(0); ++k) add(weight, p[k]);
      });
    b.out(i)[e] = static_cast<T>(std::max(0.0, sum));
  });
}

// With s the scores and m the expected counts, H = log Z - m' s, so dH = -s' dm: the derivative of
// m in the direction of the scores. log p_t(i | j) differs from the score of a transition by terms
// that all paths through i and j share and that change no marginal. Log-probabilities are therefore
// an equivalent direction, with small values for large scores.
void CrfEntropy::backward(const GradientBatch<T>& b) {
  const auto zero = [](std::size_t, std::size_t) { return T(0); };
  const auto log_of = [](T p) { return std::log(p); };
  each_chain(b, [&](const Chain& c, std::size_t, std::size_t) {
    find_derivatives(c, zero, log_of, log_of);
  });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain& c, std::size_t i, std::size_t e, T* to) {
      add_derivatives(c, k, -b.d_out(i)[e], zero, log_of, to);
    });
}

}  // namespace dynet::cpu::DYNET_ISA
