// A custom operation: the cosine of the angle between two vectors.
//
// Most new operations are compositions of existing ones and need nothing special; this one has
// kernels of its own. An operation is a record, OpForm: rules for shapes and batching, two kernels.
// There is no registration, and a form without a required field does not compile.
// docs/extending/op.md has the steps.
//
// A kernel gets `count` nodes of equal shapes and settings, because of automatic batching. Kernels
// are templates over the scalar type: models run in float, and check_gradients(), the test that
// every operation needs, runs the same graph in double.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"

using namespace dynet;

namespace {

struct CosineAttr {  // attributes of a node: plain data, in multiples of 8 bytes
  double least;
};

// Batch element e of node i, from the view of operand k. An operand with batch size 1 repeats.
template <class T>
struct Pair {
  Pair(const Batch<T>& b, std::size_t i, std::size_t e, std::size_t k = 0) : n(b.dim(k).rows()) {
    x = b.in(k, i) + (b.dim(k).bd == 1 ? 0 : e * n);
    y = b.in(1 - k, i) + (b.dim(1 - k).bd == 1 ? 0 : e * n);
    for (std::size_t j = 0; j < n; ++j) xx += x[j] * x[j], xy += x[j] * y[j], yy += y[j] * y[j];
    least = static_cast<T>(b.template attr<CosineAttr>().least);
    norms = std::max(std::sqrt(xx * yy), least);
  }
  T value() const { return xy / norms; }
  std::size_t n;
  const T *x, *y;
  T xx = 0, xy = 0, yy = 0, least, norms;
};

template <class T>
void cosine_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t e = 0; e < b.dim().bd; ++e) b.out(i)[e] = Pair<T>(b, i, e).value();
}

// Computes gradients operand by operand; d_in is null for an operand without a gradient. The first
// write stores, later writes add, including those of further batch elements of a broadcast operand.
template <class T>
void cosine_backward(const GradientBatch<T>& b) {
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < b.count; ++i)
      for (std::size_t e = 0; b.d_in(k, i) && e < b.dim().bd; ++e) {
        const Pair<T> p(b, i, e, k);
        const bool shared = b.dim(k).bd == 1, add = b.add(k, i) || (shared && e > 0);
        const T dy = b.d_out(i)[e], pull = p.norms > p.least ? p.value() / p.xx : T(0);
        T* const dx = b.d_in(k, i) + (shared ? 0 : e * p.n);
        for (std::size_t j = 0; j < p.n; ++j)
          dx[j] = (add ? dx[j] : T(0)) + dy * (p.y[j] / p.norms - pull * p.x[j]);
      }
}

// Exceptions reach the caller with the operation, its operands and the caller's line.
Dim cosine_shape(const Operands& x) {
  if (x[0].rank() > 1 || x[1].rank() > 1 || x[0].rows() != x[1].rows())
    throw RuleBroken{RuleBroken::Kind::shape, "the operands must be vectors of one length"};
  return Dim({1}, shape::common_batch(x[0], x[1]));
}

const OpForm kCosine{.name = "cosine",
                     .shape = cosine_shape,
                     .batch = BatchRule::each(sizeof(CosineAttr)),  // equal settings only
                     .reads = Reads::inputs,
                     .aux = no_aux,
                     .forward = DYNET_FORWARD(cosine_forward),
                     .backward = DYNET_BACKWARD(cosine_backward),
                     .cuda = CudaRule::never("this program has no CUDA kernels")};

/// x y / max(|x| |y|, least) per batch element: {1}
Expression cosine(const Expression& x, const Expression& y, double least = 1e-8,
                  SourceLocation at = SourceLocation::current()) {
  return add_node(kCosine, x, y, CosineAttr{least}, at);
}

}  // namespace

int main() {
  constexpr float kBound = 0.142f;  // bound of the loss, which cannot be below 0.1408
  ParameterCollection model;
  Parameter p = model.add_parameters({2});
  SimpleSGDTrainer trainer(model, 0.5f);
  float loss = 0;
  for (int step = 0; step < 100; ++step) {  // rotates p towards the middle of three vectors
    ComputationGraph cg;
    Expression three = input(cg, Dim({2}, 3), {3, 1, 1, 1, 1, 3});
    Expression v = parameter(cg, p);
    Expression distance = mean_batches(2.0f - cosine(v, three) - cosine(three, v));
    if (!check_gradients(distance).ok()) return 1;
    loss = as_scalar(cg.forward(distance));
    cg.backward(distance);
    trainer.update();
  }
  std::cout << "gradients agree, loss " << loss << '\n';
  if (loss < kBound) return 0;
  std::cerr << "The loss is " << loss << ", which should be below " << kBound << ".\n";
  return 1;
}
