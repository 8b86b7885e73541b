#pragma once

#include <string>

#include "dynet-like/shape/rules.h"

// Helpers shared by the shape rules.

namespace dynet::shape {

using Kind = RuleBroken::Kind;

[[noreturn, gnu::cold]] inline void broken(const std::string& rule, Kind kind = Kind::shape) {
  throw RuleBroken{kind, rule};
}

inline std::string two(std::size_t a, std::size_t b) {
  return ", got " + std::to_string(a) + " and " + std::to_string(b);
}

/// Throws if the rank of x is above `most`: 1 for a vector, 2 for a matrix or vector.
inline void need_rank(const Dim& x, unsigned most, const char* who) {
  if (x.nd > most && x.rank() > most) [[unlikely]]
    broken(std::string(who) + (most == 1 ? " must be a vector" : " must be a matrix or vector") +
           ", got " + to_string(x));
}

/// Throws for `what` of a number that is none of the n numbers of `all`.
inline void need_below(std::size_t i, std::size_t n, const char* what, const char* all) {
  if (i >= n)
    broken(std::string(what) + " " + std::to_string(i) + " is outside the " + std::to_string(n) +
               " " + all,
           Kind::index);
}

inline void need_dimension(const Dim& x, unsigned d) {
  if (d >= kMaxTensorDim || (d >= x.nd && d > 0))
    broken("dimension " + std::to_string(d) + " is outside " + to_string(x), Kind::index);
}

/// Throws for `what` of a number that a dimension does not have.
inline void need_index(const Dim& x, unsigned d, std::size_t i, const char* what) {
  if (i >= x[d])
    broken(std::string(what) + " " + std::to_string(i) + " is outside dimension " +
               std::to_string(d) + " of size " + std::to_string(x[d]),
           Kind::index);
}

/// Throws unless operands 2 and 3, scores of how a sequence starts and stops, have one of each tag.
inline void need_ends(Dims xs, unsigned tags) {
  for (std::size_t k = 2; k < 4; ++k)
    if (*xs[k] != Dim({tags}))
      broken(std::string(k == 2 ? "the start" : "the stop") + " scores must be " +
             to_string(Dim({tags})) + ", got " + to_string(*xs[k]));
}

inline void need_same_sizes(const Dim& a, const Dim& b) {
  if (!same_sizes(a, b))
    broken("both operands must have the same sizes, got " + to_string(a.single_batch()) + " and " +
           to_string(b.single_batch()));
}

}  // namespace dynet::shape
