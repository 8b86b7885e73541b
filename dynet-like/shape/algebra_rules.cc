#include "dynet-like/shape/algebra_rules.h"

#include "dynet-like/shape/broken.h"

namespace dynet::shape {
namespace {

void need_sizes(const Dim& x, const Dim& wanted, const char* who) {
  if (!same_sizes(x, wanted))
    broken(std::string(who) + " must be " + to_string(wanted.single_batch()) + ", got " +
           to_string(x.single_batch()));
}

void need_three(const Dim& x) {
  if (x.rank() > 3) broken("the first operand must have at most 3 dimensions, got " + to_string(x));
}

}  // namespace

Dim square(const Dim& x) {
  need_rank(x, 2, "the operand");
  if (x.rows() != x.cols()) broken("the matrix must be square" + two(x.rows(), x.cols()));
  return x;
}

Dim circular(const Dim& u, const Dim& v) {
  need_rank(u, 1, "the left operand");
  need_rank(v, 1, "the right operand");
  need_same_sizes(u, v);
  Dim r = u;
  r.bd = common_batch(u, v);
  return r;
}

Dim contract3d_1d(Dims xs) {
  const Dim &x = *xs[0], &y = *xs[1];
  need_three(x);
  need_sizes(y, Dim({x[2]}), "the second operand");
  Dim r({x[0], x[1]}, common_batch(x, y));
  if (xs.size() > 2) {
    need_sizes(*xs[2], r, "the bias");
    r.bd = common_batch(r, *xs[2]);
  }
  return r;
}

Dim contract3d_1d_1d(Dims xs) {
  const Dim &x = *xs[0], &y = *xs[1], &z = *xs[2];
  need_three(x);
  need_sizes(y, Dim({x[2]}), "the second operand");
  need_sizes(z, Dim({x[1]}), "the third operand");
  Dim r({x[0]}, common_batch(x, y));
  r.bd = common_batch(r, z);
  if (xs.size() > 3) {
    need_sizes(*xs[3], r, "the bias");
    r.bd = common_batch(r, *xs[3]);
  }
  return r;
}

Dim layer_norm(const Dim& x, const Dim& gain, const Dim& bias) {
  need_sizes(gain, x, "the gain");
  need_sizes(bias, x, "the bias");
  Dim r = x;
  r.bd = common_batch(x, gain);
  r.bd = common_batch(r, bias);
  return r;
}

Dim weight_norm(const Dim& w, const Dim& g) {
  if (g.batch_size() != 1)
    broken("the length must be one number, got " + to_string(g.single_batch()));
  Dim r = w;
  r.bd = common_batch(w, g);
  return r;
}

}  // namespace dynet::shape
