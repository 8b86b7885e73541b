// An operation of a program's own: the cosine of the angle between two vectors, with a value, a
// gradient, a rule for shapes and minibatches, and one for batches of nodes. The library is used as
// it is installed. Step by step in docs/extending/op.md.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"

namespace {

using namespace dynet;

/// What a node keeps besides its operands: plain data, in multiples of 8 bytes.
struct CosineAttr {
  double least;
};

/// What value and gradient need of batch element e of node i. An operand without a batch repeats.
template <class T>
struct Pair {
  std::size_t n;
  const T *x, *y;
  T dot = 0, xx = 0, yy = 0, product, least;

  Pair(const Batch<T>& b, std::size_t i, std::size_t e)
      : n(b.dim(0).batch_size()),
        x(b.in(0, i) + (b.dim(0).bd == 1 ? 0 : e * n)),
        y(b.in(1, i) + (b.dim(1).bd == 1 ? 0 : e * n)),
        least(static_cast<T>(b.template attr<CosineAttr>().least)) {
    for (std::size_t j = 0; j < n; ++j) dot += x[j] * y[j], xx += x[j] * x[j], yy += y[j] * y[j];
    product = std::sqrt(xx * yy);
  }
  T value() const { return dot / std::max(product, least); }
};

// A kernel gets `count` nodes of equal shapes; one node alone is a batch of one.
template <class T>
void cosine_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) b.out(i)[e] = Pair<T>(b, i, e).value();
}

// Operand by operand; nobody needs the gradient of an operand without `d_in`. The first write of a
// gradient stores, later ones add; so do further batch elements if the operand has no batch.
template <class T>
void cosine_backward(const GradientBatch<T>& b) {
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const d = b.d_in(k, i);
      if (!d) continue;
      const bool repeats = b.dim(k).bd == 1;
      for (std::size_t e = 0; e < b.dim().bd; ++e) {
        const Pair<T> p(b, i, e);
        const T *own = k == 0 ? p.x : p.y, *other = k == 0 ? p.y : p.x;
        const T square = k == 0 ? p.xx : p.yy, dy = b.d_out(i)[e];
        T* const to = d + (repeats ? 0 : e * p.n);
        const bool add = b.add(k, i) || (repeats && e > 0);
        const T pull = p.product > p.least ? p.value() / square : T(0);
        for (std::size_t j = 0; j < p.n; ++j) {
          const T g = dy * (other[j] / std::max(p.product, p.least) - pull * own[j]);
          to[j] = add ? to[j] + g : g;
        }
      }
    }
}

/// Two vectors of one length, batch sizes equal or one, give one number for each batch element.
/// What is thrown here reaches the caller with the operation, the operands and the caller's line.
Dim cosine_shape(const Operands& x) {
  const auto wrong = [](RuleBroken::Kind kind, const char* rule) { throw RuleBroken{kind, rule}; };
  if (x[0].rank() > 1 || x[1].rank() > 1 || x[0].rows() != x[1].rows())
    wrong(RuleBroken::Kind::shape, "the operands must be vectors of one length");
  if (!(x.as<CosineAttr>().least > 0))
    wrong(RuleBroken::Kind::argument, "the least product of lengths must be positive");
  return Dim({1}, shape::common_batch(x[0], x[1]));
}

const OpForm kCosine{.name = "cosine",
                     .kind = Kind::compute,
                     .shape = cosine_shape,
                     .batch = BatchRule::each(sizeof(CosineAttr)),  // equal settings only
                     .reads = Reads::inputs,
                     .aux = no_aux,
                     .passes_gradient = true,
                     .forward = DYNET_FORWARD(cosine_forward),
                     .backward = DYNET_BACKWARD(cosine_backward),
                     .cuda = CudaRule::never("this program has no CUDA kernels")};

/// x y / max(|x| |y|, least)
Expression cosine(const Expression& x, const Expression& y, double least = 1e-8,
                  SourceLocation at = SourceLocation::current()) {
  return add_node(kCosine, x, y, CosineAttr{least}, at);
}

bool has_right_values() {
  ComputationGraph cg;
  const Expression x = input(cg, Dim({2}, 3), {1, 0, 0, 2, 3, 3}), y = input(cg, {2}, {0, 5});
  const std::vector<float> v = as_vector(cosine(x, y).value());
  std::cout << "cosines " << v[0] << ' ' << v[1] << ' ' << v[2] << '\n';
  return v[0] == 0 && v[1] == 1 && std::abs(v[2] - std::sqrt(0.5f)) < 1e-6f;
}

bool has_right_gradients() {
  ParameterCollection model;
  const Parameter p = model.add_parameters({5}, 1.0f), q = model.add_parameters({5}, 1.0f);
  const Parameter many = model.add_parameters({15}, 1.0f);
  ComputationGraph cg;
  const Expression x = parameter(cg, p), y = parameter(cg, q);
  const Expression batch = reshape(parameter(cg, many), Dim({5}, 3));
  const Expression loss = cosine(x, y) + cosine(x, x + y) * 2.0f + cosine(x, y, 100) +
                          sum_batches(square(cosine(x, batch) + cosine(batch, y)));
  const GradientReport report = check_gradients(loss);
  std::cout << report << '\n';
  return report.ok();
}

bool explains_mistakes() {
  ComputationGraph cg;
  try {
    cosine(ones(cg, {2}), ones(cg, {3}));
  } catch (const ShapeError& e) {
    std::cout << e.what() << '\n';
    return cg.size() == 2;
  }
  return false;
}

}  // namespace

int main() { return has_right_values() && has_right_gradients() && explains_mistakes() ? 0 : 1; }
