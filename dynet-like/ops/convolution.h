#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"

// Windows that slide over images or over matrix columns. Batch sizes of images, filters and biases
// are equal or one; the result has the larger batch size. Errors: ShapeError, IndexError,
// ArgumentError.

namespace dynet {

/// y_{i,j,o} = b_o + sum_{a,e,c} f_{a,e,c,o} x_{i s_0 + a, j s_1 + e, c}: image {H,W,Ci}, filter
/// {h,w,Ci,Co}, bias {Co} and two strides s give {H',W',Co}. With is_valid there is no padding and
/// H' = floor((H - h) / s_0) + 1; otherwise the image is padded with zeros, half of them, rounded
/// down, before it, such that H' = ceil(H / s_0). On a CPU the rounding error of 3x3 filters is
/// relative to the largest number nearby, even where its tap is zero (Winograd's F(2x2, 3x3)).
Expression conv2d(const Expression& x, const Expression& f, const std::vector<unsigned>& stride,
                  bool is_valid = true, SourceLocation at = SourceLocation::current());
Expression conv2d(const Expression& x, const Expression& f, const Expression& b,
                  const std::vector<unsigned>& stride, bool is_valid = true,
                  SourceLocation at = SourceLocation::current());
/// The largest element of each window of the given size, channel by channel: {H,W} or {H,W,C} gives
/// {H',W'} or {H',W',C}, with H' and W' as for conv2d. Padding is never the largest element. The
/// first of equal elements gets the gradient.
Expression maxpooling2d(const Expression& x, const std::vector<unsigned>& ksize,
                        const std::vector<unsigned>& stride, bool is_valid = true,
                        SourceLocation at = SourceLocation::current());
/// y_{i,j} = sum_{a,e} f_{a,e,i} x_{a,j+e}: {r,c} and k filters {r,w,k} give {k,c-w+1}; one filter
/// {r,w} gives {1,c-w+1}.
Expression filter1d_narrow(const Expression& x, const Expression& f,
                           SourceLocation at = SourceLocation::current());
/// The k largest elements along dimension d, in their order in x; of equal elements the first ones.
/// Dimension d becomes k.
Expression kmax_pooling(const Expression& x, unsigned k, unsigned d = 1,
                        SourceLocation at = SourceLocation::current());
/// y_i = sum_a x_{i n + a}, a = 0 ... n - 1, for n = nrows: sums of n consecutive rows; {r,...}
/// gives {r/n,...}. A tensor has at most six dimensions.
Expression fold_rows(const Expression& x, unsigned nrows = 2,
                     SourceLocation at = SourceLocation::current());
/// y_j = sum_a x_{j+a}, a = 0 ... n - 1: sums of n consecutive columns; {r,c,...} gives
/// {r,c-n+1,...}.
Expression kmh_ngram(const Expression& x, unsigned n,
                     SourceLocation at = SourceLocation::current());

}  // namespace dynet
