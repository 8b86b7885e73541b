#include "kernels/cpu/losses.h"

#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "dynet-like/attributes/along.h"
#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet::cpu::DYNET_ISA {
namespace {

std::size_t dimension_of(const HingeAttr&) { return 0; }
std::size_t dimension_of(const HingeDimAttr& a) { return a.dimension; }

// Class indices of node i: `count` per position, at `positions` positions of the other dimensions;
// one set for all batch elements, or one per element.
struct Classes {
  const unsigned* at;
  std::size_t count, positions;

  unsigned operator()(std::size_t element, std::size_t position) const {
    return at[count == positions ? position : element * positions + position];
  }
};

Classes keep_classes(const Batch<T>& b, std::size_t i, const HingeAttr& a, std::size_t limit,
                     std::size_t positions) {
  return {keep_indices<HingeAttr>(b, i, b.aux(i), limit, "the scores"), a.indices.count, positions};
}
Classes kept_classes(const Batch<T>& b, std::size_t i, const HingeAttr& a, std::size_t positions) {
  return {kept_indices<HingeAttr>(b, i, static_cast<const T*>(b.aux(i))), a.indices.count,
          positions};
}

Classes kept_classes(const Batch<T>& b, std::size_t i, const HingeDimAttr& a,
                     std::size_t positions) {
  return {reinterpret_cast<const unsigned*>(b.aux(i)), a.indices.lists * positions, positions};
}
Classes keep_classes(const Batch<T>& b, std::size_t i, const HingeDimAttr& a, std::size_t limit,
                     std::size_t positions) {
  read_classes(b.graph, b.node(i), a, b.payload<HingeDimAttr, unsigned>(i), limit, positions,
               reinterpret_cast<unsigned*>(b.aux(i)));
  return kept_classes(b, i, a, positions);
}

T hinge_term(T margin, T right, T other) {
  if (other == -std::numeric_limits<T>::infinity()) return 0;
  const T v = margin + (other - right);
  return v <= T(0) ? T(0) : v;  // NaN propagates
}

}  // namespace

template <class A>
void Hinge<A>::forward(const Batch<T>& b) {
  const Dim& d = b.dim(0);
  const Along x(d, dimension_of(b.attr<A>()));
  const std::size_t positions = x.inner * x.outer;
  const T margin = static_cast<T>(b.attr<A>().margin);
  for (std::size_t i = 0; i < b.count; ++i) {
    const Classes classes = keep_classes(b, i, b.attr<A>(i), x.size, positions);
    for (std::size_t p = 0; p < x.lines(d.bd); ++p) {
      const std::size_t first = x.first(p);
      const T* const scores = b.in(0, i) + first;
      const std::size_t c = classes(p / positions, p % positions);
      const T right = scores[c * x.inner];
      T sum = 0;
      for (std::size_t j = 0; j < x.size; ++j)
        if (j != c) sum += hinge_term(margin, right, scores[j * x.inner]);
      b.out(i)[p] = sum;
    }
  }
}

template <class A>
void Hinge<A>::backward(const GradientBatch<T>& b) {
  const Dim& d = b.dim(0);
  const Along x(d, dimension_of(b.attr<A>()));
  const std::size_t positions = x.inner * x.outer;
  const T margin = static_cast<T>(b.attr<A>().margin);
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const bool add = b.add(0, i);
    const Classes classes = kept_classes(b, i, b.attr<A>(i), positions);
    for (std::size_t p = 0; p < x.lines(d.bd); ++p) {
      const std::size_t first = x.first(p);
      const T* const scores = b.in(0, i) + first;
      T* const dx = b.d_in(0, i) + first;
      const std::size_t c = classes(p / positions, p % positions);
      const T right = scores[c * x.inner], dy = b.d_out(i)[p];
      T counter = 0;
      for (std::size_t j = 0; j < x.size; ++j) {
        if (j == c) continue;
        const T g = hinge_term(margin, right, scores[j * x.inner]) == T(0) ? T(0) : dy;
        counter -= g;
        dx[j * x.inner] = add ? dx[j * x.inner] + g : g;
      }
      dx[c * x.inner] = add ? dx[c * x.inner] + counter : counter;
    }
  }
}

void poisson_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* counts = keep_indices<PoissonAttr>(
        b, i, b.aux(i), std::numeric_limits<std::size_t>::max(), "the counts");
    const bool one = b.attr<PoissonAttr>(i).indices.count == 1;
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T x = b.in(0, i)[e], n = static_cast<T>(counts[one ? 0 : e]);
      // For rate n = 0 the term n x is zero even if x is infinite.
      b.out(i)[e] = std::exp(x) - (n == T(0) ? T(0) : n * x) + Eigen::numext::lgamma(n + T(1));
    }
  }
}

void poisson_backward(const GradientBatch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    if (!b.d_in(0, i)) continue;
    const unsigned* counts = kept_indices<PoissonAttr>(b, i, static_cast<const T*>(b.aux(i)));
    const bool one = b.attr<PoissonAttr>(i).indices.count == 1;
    for (std::size_t e = 0; e < b.dim().bd; ++e) {
      const T g = b.d_out(i)[e] * (std::exp(b.in(0, i)[e]) - static_cast<T>(counts[one ? 0 : e]));
      T& dx = b.d_in(0, i)[e];
      dx = b.add(0, i) ? dx + g : g;
    }
  }
}

template struct Hinge<HingeAttr>;
template struct Hinge<HingeDimAttr>;

}  // namespace dynet::cpu::DYNET_ISA
