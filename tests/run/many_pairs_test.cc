// Backward of sums of n products takes O(n) time: kernels are called for O(n) operands in all.

#include "dynet-like/ops/form.h"
#include "tests/support/prelude.h"

namespace many_pairs_test {

using namespace dynet;

namespace {

std::size_t asked = 0, given = 0;

/// b + sum of W x for matrices of one row and one column.
template <class T>
void forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    T y = b.accumulates ? *b.out(i) : *b.in(0, i);
    for (std::size_t k = 1; k < b.arity; k += 2)
      if (b.terms.has(1 + k / 2)) y += *b.in(k, i) * *b.in(k + 1, i);
    *b.out(i) = y;
  }
}

template <class T>
void backward(const GradientBatch<T>& b) {
  const std::size_t end = std::min(b.end, b.arity);
  asked += end - b.first;
  for (std::size_t k = b.first; k < end; ++k)
    for (std::size_t i = 0; i < b.count; ++i) {
      T* const d = b.d_in(k, i);
      if (!d) continue;
      ++given;
      const T g = k == 0 ? *b.d_out(i) : *b.d_out(i) * *b.in(k % 2 == 1 ? k + 1 : k - 1, i);
      *d = b.add(k, i) ? *d + g : g;
    }
}

const OpForm kCounted{.name = "counted",
                      .shape = [](const Operands&) { return Dim({1}); },
                      .batch = BatchRule::products(1),
                      .reads = Reads::inputs,
                      .aux = no_aux,
                      .forward = DYNET_FORWARD(forward),
                      .backward = DYNET_BACKWARD(backward),
                      .cuda = CudaRule::never("a test")};

struct Model {
  ParameterCollection pc;
  Parameter b = pc.add_parameters({1}), w = pc.add_parameters({1}), x = pc.add_parameters({1});
};

/// Gradients of all parameters for `sums` sums of n products, each depending on the previous sum.
std::vector<float> run(Model& m, unsigned n, bool own, unsigned sums, bool counted) {
  m.pc.reset_gradient();
  ComputationGraph g;
  std::vector<Expression> terms = {parameter(g, m.b)}, losses;
  const Expression w = parameter(g, m.w), x = parameter(g, m.x);
  for (unsigned k = 0; k < n; ++k) {
    terms.push_back(own ? w * (1 + 0.01f * static_cast<float>(k)) : w);
    terms.push_back(x * (0.5f / static_cast<float>(n)));
  }
  for (unsigned s = 0; s < sums; ++s) {
    const Expression y = counted ? add_node(kCounted, terms, {}, SourceLocation::current())
                                 : affine_transform(terms);
    losses.push_back(y);
    terms[2] = tanh(y);
  }
  g.backward(sum(losses));
  std::vector<float> result;
  for (const Parameter& p : {m.b, m.w, m.x}) result.push_back(as_vector(p.gradients())[0]);
  return result;
}

}  // namespace

TEST_CASE("kernels get every operand of a sum of products at most twice") {
  Model m;
  for (const bool own : {false, true})
    for (const unsigned sums : {1u, 3u})
      for (const unsigned n : {1u, 4u, 500u}) {
        CAPTURE(own, sums, n);
        asked = given = 0;
        const std::vector<float> got = run(m, n, own, sums, true);
        CHECK(given == sums * (2 * std::size_t{n} + 1));
        CHECK(asked <= 2 * given);
        const std::vector<float> expected = run(m, n, own, sums, false);
        for (std::size_t k = 0; k < expected.size(); ++k)
          CHECK(got[k] == Approx(expected[k]).epsilon(1e-4));
      }
}

}  // namespace many_pairs_test
