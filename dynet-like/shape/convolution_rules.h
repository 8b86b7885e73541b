#pragma once

#include "dynet-like/shape/rules.h"

// Shape rules of operations with a window that slides over an image or over matrix columns.

namespace dynet::shape {

/// A window that slides along one dimension. Position i covers [i stride - before,
/// i stride - before + size); the part outside [0, in) is padding.
struct Sliding {
  unsigned in, size, stride, out, before;
};
/// VALID: no padding, and as many positions as fit. SAME: ceil(in / stride) positions, with equal
/// padding at both ends; an odd padding element goes to the end. Throws RuleBroken for a size or
/// stride of zero, and for a window larger than the input if `valid`.
Sliding slide(unsigned in, unsigned size, unsigned stride, bool valid);

/// {H,W,Ci}, filters {h,w,Ci,Co} and an optional bias {Co} give {H',W',Co}.
Dim conv2d(Dims xs, const unsigned (&stride)[2], bool valid);
/// {H,W} or {H,W,C} gives {H',W'} or {H',W',C}.
Dim maxpooling2d(const Dim& x, const unsigned (&size)[2], const unsigned (&stride)[2], bool valid);
/// {r,c} and filters {r,w} or {r,w,k} give {1,c-w+1} or {k,c-w+1}.
Dim filter1d_narrow(const Dim& x, const Dim& f);
/// Size k along dimension `d`.
Dim kmax_pooling(const Dim& x, unsigned k, unsigned d);
/// Dimension 0 divided by `n`.
Dim fold_rows(const Dim& x, unsigned n);
/// {r,c} gives {r,c-n+1}.
Dim kmh_ngram(const Dim& x, unsigned n);

}  // namespace dynet::shape
