#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of reductions and of losses.

namespace dynet::shape {

/// Dimensions as bits: bit d for dimension d, and one for the batch.
using DimensionBits = unsigned;
inline constexpr DimensionBits kAllDimensions = (1u << kMaxTensorDim) - 1;
inline constexpr DimensionBits kBatchBit = 1u << kMaxTensorDim;

/// The bit of dimension d, which x has.
DimensionBits bit_of(const Dim& x, unsigned d);
/// x with a size of one wherever `bits` says.
Dim ones_at(const Dim& x, DimensionBits bits);
/// x without the dimensions of `bits`; at least {1} is left. They must be dimensions of x.
Dim without(const Dim& x, DimensionBits bits);
/// How many elements of x become one. The mean or the largest of none is an error: `what` names it.
std::size_t reduced_elements(const Dim& x, DimensionBits bits);
void need_elements(const Dim& x, DimensionBits bits, const char* what);

/// A choice of elements of {n} for each of `lists` lists; one list stands for every batch element.
Dim chosen_elements(const Dim& x, std::size_t lists, unsigned largest);
/// `lists` lists of as many classes as there are positions left in the matrix x when dimension d is
/// removed; one list stands for every batch element.
Dim classes_along(const Dim& x, unsigned d, std::size_t lists, std::size_t classes,
                  unsigned largest);

}  // namespace dynet::shape
