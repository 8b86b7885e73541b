#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of reductions and losses.

namespace dynet::shape {

/// A set of dimensions: bit d for dimension d, kBatchBit for the batch.
using DimensionBits = unsigned;
inline constexpr DimensionBits kAllDimensions = (1u << kMaxTensorDim) - 1;
inline constexpr DimensionBits kBatchBit = 1u << kMaxTensorDim;

/// The bit of dimension d; throws RuleBroken if x has no dimension d.
DimensionBits bit_of(const Dim& x, unsigned d);
/// x with the dimensions in `bits` set to size one.
Dim ones_at(const Dim& x, DimensionBits bits);
/// x without the dimensions in `bits`, which must exist in x; the result has at least {1}.
Dim without(const Dim& x, DimensionBits bits);
/// Number of elements of x that are reduced to one; `need_elements` throws RuleBroken, which names
/// the reduction as `what`, if it is zero.
std::size_t reduced_elements(const Dim& x, DimensionBits bits);
void need_elements(const Dim& x, DimensionBits bits, const char* what);

/// Scores {n} and `lists` index lists give {1}; one list stands for every batch element.
Dim chosen_elements(const Dim& x, std::size_t lists, unsigned largest);
/// `lists` lists of classes, one class for each position that is left in the matrix x without
/// dimension d; one list stands for every batch element.
Dim classes_along(const Dim& x, unsigned d, std::size_t lists, std::size_t classes,
                  unsigned largest);

}  // namespace dynet::shape
