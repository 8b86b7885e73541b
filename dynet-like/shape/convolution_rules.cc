#include "dynet-like/shape/convolution_rules.h"

#include <algorithm>

#include "dynet-like/shape/broken.h"

namespace dynet::shape {
namespace {

void need_dimensions(const Dim& x, unsigned most, const char* who) {
  if (x.rank() > most)
    broken(std::string(who) + " must have at most " + std::to_string(most) + " dimensions, got " +
           to_string(x));
}

}  // namespace

Sliding slide(unsigned in, unsigned size, unsigned stride, bool valid) {
  if (size == 0) broken("the window must not be empty");
  if (stride == 0) broken("the stride must be at least 1, got 0", Kind::argument);
  if (valid) {
    if (size > in) broken("the window must not be larger than what it slides over" + two(size, in));
    return {in, size, stride, (in - size) / stride + 1, 0};
  }
  if (in == 0) return {in, size, stride, 0, 0};
  const std::size_t out = (std::size_t{in} + stride - 1) / stride;
  const std::size_t covered = (out - 1) * stride + size;
  const std::size_t padding = covered > in ? covered - in : 0;
  return {in, size, stride, static_cast<unsigned>(out), static_cast<unsigned>(padding / 2)};
}

Dim conv2d(Dims xs, const unsigned (&stride)[2], bool valid) {
  const Dim &x = *xs[0], &f = *xs[1];
  need_dimensions(x, 3, "the image");
  need_dimensions(f, 4, "the filter");
  if (x[2] != f[2])
    broken("the filter must have as many input channels as the image" + two(f[2], x[2]));
  Dim r({slide(x[0], f[0], stride[0], valid).out, slide(x[1], f[1], stride[1], valid).out, f[3]},
        common_batch(x, f));
  if (xs.size() > 2) {
    const Dim& b = *xs[2];
    need_rank(b, 1, "the bias");
    if (b.rows() != f[3])
      broken("the bias must have one element for each output channel" + two(b.rows(), f[3]));
    r.bd = common_batch(r, b);
  }
  return checked(r);
}

Dim maxpooling2d(const Dim& x, const unsigned (&size)[2], const unsigned (&stride)[2], bool valid) {
  need_dimensions(x, 3, "the image");
  Dim r = x;
  r.resize(std::max(x.nd, 2u));
  for (unsigned k = 0; k < 2; ++k) r.d[k] = slide(x[k], size[k], stride[k], valid).out;
  return r;
}

Dim filter1d_narrow(const Dim& x, const Dim& f) {
  need_rank(x, 2, "the operand");
  need_dimensions(f, 3, "the filter");
  if (f.rows() != x.rows())
    broken("the filter must have the rows of the operand" + two(f.rows(), x.rows()));
  if (x.rows() == 0) broken("needs at least one row");
  return checked(Dim({f[2], slide(x.cols(), f.cols(), 1, true).out}, common_batch(x, f)));
}

Dim kmax_pooling(const Dim& x, unsigned k, unsigned d) {
  need_dimension(x, d);
  if (k == 0) broken("k must be at least 1, got 0", Kind::argument);
  if (k > x[d])
    broken("k must not be larger than dimension " + std::to_string(d) + two(k, x[d]),
           Kind::argument);
  Dim r = x;
  if (r.nd == 0) r.resize(1);
  r.d[d] = k;
  return r;
}

Dim fold_rows(const Dim& x, unsigned n) {
  if (n == 0) broken("the number of rows must be at least 1, got 0", Kind::argument);
  if (x.rows() % n != 0)
    broken("the rows must be a multiple of " + std::to_string(n) + ", got " +
           std::to_string(x.rows()));
  if (x.nd >= kMaxTensorDim) broken("the operand must have at most 6 dimensions");
  Dim r = x;
  if (r.nd == 0) r.resize(1);
  r.d[0] /= n;
  return r;
}

Dim kmh_ngram(const Dim& x, unsigned n) {
  if (n == 0) broken("n must be at least 1, got 0", Kind::argument);
  if (n > x.cols()) broken("n must not be larger than the number of columns" + two(n, x.cols()));
  Dim r = x;
  r.resize(std::max(x.nd, 2u));
  r.d[1] = x.cols() - n + 1;
  return r;
}

}  // namespace dynet::shape
