#pragma once

#include "dynet-like/shape/rules.h"

// Rules for what slides over an image or over the columns of a matrix.

namespace dynet::shape {

/// A window that slides along one dimension: at position i it covers [i stride - before,
/// i stride - before + size), of which what lies outside [0, in) is padding.
struct Sliding {
  unsigned in, size, stride, out, before;
};
/// VALID: no padding, and as many positions as fit. SAME: ceil(in / stride) positions, the padding
/// shared out evenly, an odd one behind. Throws RuleBroken for a size or stride of zero, or a
/// window that does not fit.
Sliding slide(unsigned in, unsigned size, unsigned stride, bool valid);

/// {H,W,Ci}, filters {h,w,Ci,Co} and perhaps a bias {Co} give {H',W',Co}.
Dim conv2d(Dims xs, const unsigned (&stride)[2], bool valid);
/// {H,W} or {H,W,C} gives {H',W'} or {H',W',C}.
Dim maxpooling2d(const Dim& x, const unsigned (&size)[2], const unsigned (&stride)[2], bool valid);
/// {r,c} and filters {r,w} or {r,w,k} give {1,c-w+1} or {k,c-w+1}.
Dim filter1d_narrow(const Dim& x, const Dim& f);
/// The k largest along dimension `d`.
Dim kmax_pooling(const Dim& x, unsigned k, unsigned d);
/// Sums of `n` rows.
Dim fold_rows(const Dim& x, unsigned n);
/// Sums of `n` neighbouring columns.
Dim kmh_ngram(const Dim& x, unsigned n);

}  // namespace dynet::shape
