#include "kernels/cpu/crf.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/cpu/chains.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

/// The gradient buffer of operand k, or null; zeroed for the first chain of a node before a store.
/// Emissions have one part per batch element.
T* gradient_of(const GradientBatch<T>& b, std::size_t k, const Chain<T>& c) {
  T* const to = b.d_in(k, c.node);
  if (!to) return nullptr;
  if (c.element == 0 && !b.add(k, c.node)) std::fill_n(to, b.dim(k, c.node).size(), T(0));
  return to + (k == 0 ? c.element * c.tags * c.length : 0);
}

/// Calls f(chain, to) for the gradient of operand k.
template <class F>
void each_gradient(const GradientBatch<T>& b, std::size_t k, F f) {
  each_chain(b, [&](const Chain<T>& c) {
    if (T* const to = gradient_of(b, k, c)) f(c, to);
  });
}

/// Adds `factor` times the expected count of each score of operand k, other than transitions.
void add_expectations(const Chain<T>& c, std::size_t k, T factor, T* to) {
  const std::size_t n = c.tags;
  const T* const m = c.marginals;
  if (c.length == 0 || factor == T(0)) return;
  if (k == 0) array(to, n * c.length) += factor * array(m, n * c.length);
  if (k == 2) array(to, n) += factor * array(m, n);
  if (k == 3) array(to, n) += factor * array(m + (c.length - 1) * n, n);
}

/// Adds `factor` times the expected counts of transitions; after find_marginals of a group whose
/// chain `k` this is.
void add_transitions(const Chain<T>& c, std::size_t k, T factor, T* to) {
  const std::size_t n = c.tags;
  if (factor == T(0)) return;
  const auto add = [&](std::size_t t) {
    return [&, t](std::size_t j, const T* p) {
      const T weight = factor * c.marginals[t * n + j];
      if (weight != T(0)) array(to + (t - 1) * c.stride + j * n, n) += weight * array(p, n);
    };
  };
  ChainWeights<T>* const w = c.weights;
  if (!w) {
    for (std::size_t t = 1; t < c.length; ++t) c.probabilities(t, add(t));
    return;
  }
  for (std::size_t t = 1; t < c.length; ++t) w->small_probabilities(c, t, w->suffix(k, t), add(t));
  array(to, n * n) +=
      factor * array(w->count_pairs(k, c.length), n * n) * array(w->by_row().data(), n * n);
}

/// Score of a sequence with known tags, and its gradient.
struct Known {
  const unsigned* tags;

  double score(const Chain<T>& c) const {
    if (c.length == 0) return 0;
    double sum =
        static_cast<double>(c.start[tags[0]]) + static_cast<double>(c.stop[tags[c.length - 1]]);
    for (std::size_t t = 0; t < c.length; ++t) {
      sum += static_cast<double>(c.emissions[t * c.tags + tags[t]]);
      if (t > 0) sum += static_cast<double>(c.into(t, tags[t])[tags[t - 1]]);
    }
    return sum;
  }

  void add(const Chain<T>& c, std::size_t k, T factor, T* to) const {
    if (c.length == 0) return;
    if (k == 2) to[tags[0]] += factor;
    if (k == 3) to[tags[c.length - 1]] += factor;
    for (std::size_t t = 0; t < c.length; ++t) {
      if (k == 0) to[t * c.tags + tags[t]] += factor;
      if (k == 1 && t > 0) to[(t - 1) * c.stride + tags[t] * c.tags + tags[t - 1]] += factor;
    }
  }
};

const unsigned* tags_of(const Batch<T>& b, const Chain<T>& c) {
  return b.payload<CrfTagsAttr, unsigned>(c.node) + c.element * c.length;
}
bool is_partly_known(const Batch<T>& b, std::size_t i) {
  return b.attr<CrfTagsAttr>(i).partly != 0;
}

/// The chain with all tags forbidden that contradict known tags; its tables follow those of `c`.
Chain<T> constrain(Chain<T> c, const unsigned* tags) {
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
void each_derivative(const Chain<T>& c, std::size_t t, E d_emission, A d_transition, Use use) {
  const std::size_t n = c.tags;
  const CrfTables tables{n * c.length};
  const T *const df = c.forward + tables.d_forward() + t * n, *const before = df - n;
  const T* const dm = c.forward + tables.d_marginals() + t * n;
  const T* const m = c.marginals + t * n;
  c.probabilities(t, [&](std::size_t j, const T* p) {
    const T own = df[j] - d_emission(t, j);
    for (std::size_t i = 0; i < n; ++i)
      if (p[i] != T(0)) use(i, j, p[i] * (dm[j] + m[j] * (before[i] + d_transition(p[i]) - own)));
  });
}

/// Derivatives of the marginals in a direction of the scores: given by index for emissions, and by
/// probability for transitions and stop scores.
template <class E, class A>
void find_derivatives(const Chain<T>& c, E d_emission, A d_transition, A d_stop) {
  const std::size_t n = c.tags, size = n * c.length;
  if (size == 0) return;
  T* const df = c.forward + CrfTables{size}.d_forward();
  T* const dm = c.forward + CrfTables{size}.d_marginals();
  for (std::size_t j = 0; j < n; ++j) df[j] = d_emission(std::size_t{0}, j);
  for (std::size_t t = 1; t < c.length; ++t) {
    T *const now = df + t * n, *const before = now - n;
    for (std::size_t j = 0; j < n; ++j) now[j] = d_emission(t, j);
    c.probabilities(t, [&](std::size_t j, const T* p) {
      for (std::size_t i = 0; i < n; ++i)
        if (p[i] != T(0)) now[j] += p[i] * (before[i] + d_transition(p[i]));
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
void add_derivatives(const Chain<T>& c, std::size_t k, T factor, E d_emission, A d_transition,
                     T* to) {
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
  each_chain_group(b, [&](std::span<const Chain<T>> chains) {
    double all[ChainWeights<T>::kMostChains];
    ChainGroup<T>(chains).run_forward(all);
    for (std::size_t k = 0; k < chains.size(); ++k)
      b.out(chains[k].node)[chains[k].element] = static_cast<T>(all[k]);
  });
}

void CrfLogPartition::backward(const GradientBatch<T>& b) {
  const auto d_out = [&](const Chain<T>& c) { return b.d_out(c.node)[c.element]; };
  each_chain_group(b, [&](std::span<const Chain<T>> chains) {
    ChainGroup<T>(chains).find_marginals();
    for (std::size_t k = 0; k < chains.size(); ++k)
      if (T* const to = gradient_of(b, 1, chains[k]))
        add_transitions(chains[k], k, d_out(chains[k]), to);
  });
  for (const std::size_t k : {0, 2, 3})
    each_gradient(b, k, [&](const Chain<T>& c, T* to) { add_expectations(c, k, d_out(c), to); });
}

void CrfLogProb::forward(const Batch<T>& b) {
  each_chain_group(
      b,
      [&](std::span<const Chain<T>> chains) {
        double all[ChainWeights<T>::kMostChains];
        ChainGroup<T>(chains).run_forward(all);
        for (std::size_t k = 0; k < chains.size(); ++k) {
          const Chain<T>& c = chains[k];
          double score;
          if (is_partly_known(b, c.node)) {
            const Chain<T> known = constrain(c, tags_of(b, c));
            ChainGroup<T>({&known, 1}).run_forward(&score);
          } else {
            score = Known{tags_of(b, c)}.score(c);
          }
          T& out = b.out(c.node)[c.element];
          const bool possible = score != -kInfinity<double>;  // else log Z may also be -infinity
          out = possible ? std::min(T(0), static_cast<T>(score - all[k])) : -kInfinity<T>;
          if (possible && std::isnan(score - all[k])) out = static_cast<T>(score - all[k]);
        }
      },
      [&](std::size_t i) { return is_partly_known(b, i); });
}

void CrfLogProb::backward(const GradientBatch<T>& b) {
  each_chain_group(
      b,
      [&](std::span<const Chain<T>> chains) {
        ChainGroup<T>(chains).find_marginals();
        for (std::size_t k = 0; k < chains.size(); ++k) {
          const Chain<T>& c = chains[k];
          T* const to = gradient_of(b, 1, c);
          const T d = b.d_out(c.node)[c.element];
          const bool possible = b.out(c.node)[c.element] != -kInfinity<T>;
          if (to && possible) add_transitions(c, k, -d, to);
          if (is_partly_known(b, c.node)) {  // it is alone in its group
            const Chain<T> known = constrain(c, tags_of(b, c));
            ChainGroup<T>({&known, 1}).find_marginals();
            if (to && possible) add_transitions(known, 0, d, to);
          } else if (to && possible) {
            Known{tags_of(b, c)}.add(c, 1, d, to);
          }
        }
      },
      [&](std::size_t i) { return is_partly_known(b, i); });
  for (const std::size_t k : {0, 2, 3})
    each_gradient(b, k, [&](const Chain<T>& c, T* to) {
      const T d = b.d_out(c.node)[c.element];
      if (b.out(c.node)[c.element] == -kInfinity<T>) return;
      add_expectations(c, k, -d, to);
      if (!is_partly_known(b, c.node)) return Known{tags_of(b, c)}.add(c, k, d, to);
      add_expectations(constrain(c, tags_of(b, c)), k, d, to);
    });
}

void CrfMarginals::forward(const Batch<T>& b) {
  each_chain_group(b, [&](std::span<const Chain<T>> chains) {
    double all[ChainWeights<T>::kMostChains];
    ChainGroup<T>(chains).run_forward(all);
    ChainGroup<T>(chains).find_marginals();
    for (const Chain<T>& c : chains) {
      const std::size_t size = c.tags * c.length;
      std::copy_n(c.marginals, size, b.out(c.node) + c.element * size);
    }
  });
}

void CrfMarginals::backward(const GradientBatch<T>& b) {
  const auto zero = [](auto...) { return T(0); };
  const auto direction = [&](const Chain<T>& c) {
    return [d = b.d_out(c.node) + c.element * c.tags * c.length, n = c.tags](
               std::size_t t, std::size_t j) { return d[t * n + j]; };
  };
  each_chain(b, [&](const Chain<T>& c) { find_derivatives(c, direction(c), zero, zero); });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain<T>& c, T* to) {
      add_derivatives(c, k, T(1), direction(c), zero, to);
    });
}

// Entropy by the chain rule, from the last position backwards: that of the last tag, and of each
// tag given its successor.
void CrfEntropy::forward(const Batch<T>& b) {
  each_chain_group(b, [&](std::span<const Chain<T>> chains) {
    double all[ChainWeights<T>::kMostChains];
    ChainGroup<T>(chains).run_forward(all);
    ChainGroup<T>(chains).find_marginals();
    for (std::size_t k = 0; k < chains.size(); ++k) {
      const Chain<T>& c = chains[k];
      double sum = 0;
      const auto add = [&](T weight, T p) {
        if (p > T(0)) sum -= static_cast<double>(weight * p) * std::log(static_cast<double>(p));
      };
      const std::size_t n = c.tags;
      for (std::size_t j = 0; j < n && c.length > 0; ++j)
        add(T(1), c.marginals[(c.length - 1) * n + j]);
      for (std::size_t t = 1; t < c.length; ++t)
        c.probabilities(t, [&](std::size_t j, const T* p) {
          const T weight = c.marginals[t * n + j];
          for (std::size_t i = 0; i < n && weight != T(0); ++i) add(weight, p[i]);
        });
      b.out(c.node)[c.element] = static_cast<T>(checked_entropy(all[k], sum));
    }
  });
}

// With s the scores and m the expected counts, H = log Z - m' s, so dH = -s' dm: the derivative of
// m in the direction of the scores. log p_t(i | j) differs from the score of a transition by terms
// that all paths through i and j share and that change no marginal. Log-probabilities are therefore
// an equivalent direction, with small values for large scores.
void CrfEntropy::backward(const GradientBatch<T>& b) {
  const auto zero = [](std::size_t, std::size_t) { return T(0); };
  const auto log_of = [](T p) { return std::log(p); };
  each_chain(b, [&](const Chain<T>& c) { find_derivatives(c, zero, log_of, log_of); });
  for (std::size_t k = 0; k < 4; ++k)
    each_gradient(b, k, [&](const Chain<T>& c, T* to) {
      add_derivatives(c, k, -b.d_out(c.node)[c.element], zero, log_of, to);
    });
}

}  // namespace dynet::cpu::DYNET_ISA
