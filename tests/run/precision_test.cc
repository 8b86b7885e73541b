// Products in TF32 and bf16 on the CPU: float32 where the CPU has no instructions for them.

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "dynet-like/base/rounding.h"
#include "tests/support/prelude.h"

namespace precision_test {

using namespace dynet;

namespace {

constexpr Precision kAll[] = {Precision::float32, Precision::tf32, Precision::bf16};

/// Whether this CPU has Intel's tiles for bf16.
bool has_amx() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find(" amx_bf16") != std::string::npos;
}

/// Whether factors of products are rounded to this precision.
bool rounds(Precision p) {
  return p == Precision::bf16 && (isa() == Isa::avx512 || isa_name() == std::string("native")) &&
         __builtin_cpu_supports("avx512bf16");
}

Floats rounded(Floats v, Precision p) {
  if (rounds(p)) std::transform(v.begin(), v.end(), v.begin(), round_to_bfloat16);
  return v;
}

Floats numbers(std::size_t n, unsigned seed) {
  ComputationGraph g;
  g.set_seed(seed);
  return as_vector(random_uniform(g, {static_cast<unsigned>(n)}, -2, 2).value());
}

/// Value and gradients of a product of a and b, plus a bias c, when its gradient is `d_value`.
struct Made {
  Floats value, d_a, d_b, d_c;
};
using Make =
    std::function<Expression(const Expression& a, const Expression& b, const Expression& c)>;
Made run(const Make& make, const std::vector<Floats>& abc, const std::vector<Dim>& dims,
         Precision precision, const Floats& d_value) {
  ParameterCollection pc;
  std::vector<Parameter> p;
  for (std::size_t k = 0; k < 3; ++k) {
    p.push_back(pc.add_parameters(dims[k]));
    p[k].set_value(abc[k]);
  }
  ComputationGraph g;
  g.set_precision(precision);
  const Expression y = make(parameter(g, p[0]), parameter(g, p[1]), parameter(g, p[2]));
  g.backward(sum_elems(cmult(y, input(g, y.dim(), d_value))));
  return {as_vector(y.value()), as_vector(p[0].gradients()), as_vector(p[1].gradients()),
          as_vector(p[2].gradients())};
}

struct Product {
  const char* name;
  std::vector<Dim> dims;
  std::size_t results;
  Make make;
};
const std::vector<Product>& products() {
  static const std::vector<Product> all = {
      {"matmul",
       {{9, 17}, {17, 5}, {9, 5}},
       45,
       [](auto& a, auto& b, auto& c) { return a * b + c; }},
      {"matmul of so many columns that the matrix is transposed for its gradient",
       {{9, 17}, {17, 40}, {9, 40}},
       360,
       [](auto& a, auto& b, auto& c) { return a * b + c; }},
      {"matmul of matrices that are multiplied in several pieces",
       {{150, 301}, {301, 40}, {150, 40}},
       6000,
       [](auto& a, auto& b, auto& c) { return a * b + c; }},
      {"matmul of a matrix of many rows and columns",
       {{530, 601}, {601, 20}, {530, 20}},
       10600,
       [](auto& a, auto& b, auto& c) { return a * b + c; }},
      {"affine_transform",
       {{9, 17}, {17, 5}, {9}},
       45,
       [](auto& a, auto& b, auto& c) {
         return affine_transform({c, a, b});
       }},
  };
  return all;
}

void check_close(const Floats& a, const Floats& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= tolerance);
}

/// A small recurrent network over sentences of different lengths: the values of all words, and the
/// gradient of a matrix.
std::vector<Floats> run_network(Precision precision, bool batched, unsigned sentences) {
  ParameterCollection pc(0.0f);
  pc.set_seed(7);
  LookupParameter words = pc.add_lookup_parameters(30, {12});
  VanillaLSTMBuilder lstm(1, 12, 16, pc);
  Parameter w = pc.add_parameters({5, 16}), b = pc.add_parameters({5});
  ComputationGraph g(batched);
  g.set_precision(precision);
  lstm.new_graph(g);
  std::vector<Expression> scores, losses;
  for (unsigned s = 0; s < sentences; ++s) {
    lstm.start_new_sequence();
    for (unsigned t = 0; t < 2 + s % 5; ++t) {
      const Expression h = lstm.add_input(lookup(g, words, (5 * s + 3 * t) % 30));
      scores.push_back(affine_transform({parameter(g, b), parameter(g, w), h}));
      losses.push_back(pickneglogsoftmax(scores.back(), (s + t) % 5));
    }
  }
  const Expression loss = sum(losses);
  g.forward(loss);
  std::vector<Floats> all;
  for (const Expression& e : scores) all.push_back(as_vector(e.value()));
  g.backward(loss);
  all.push_back(as_vector(w.gradients()));
  return all;
}

}  // namespace

TEST_CASE("products round their factors and nothing else, where the CPU has instructions for it") {
  for (const Product& p : products())
    for (const Precision precision : kAll) {
      CAPTURE(p.name, static_cast<int>(precision));
      std::vector<Floats> given, factors;
      for (unsigned k = 0; k < 3; ++k) {
        given.push_back(numbers(p.dims[k].size(), k + 1));
        factors.push_back(k < 2 ? rounded(given.back(), precision) : given.back());
      }
      const Floats d = numbers(p.results, 9), d_factor = rounded(d, precision);
      // Expected results in float32: from rounded factors, with the rounded gradient of the value
      // for factors and the exact one for the bias.
      const Made made = run(p.make, given, p.dims, precision, d);
      const Made factor = run(p.make, factors, p.dims, Precision::float32, d_factor);
      const Made bias = run(p.make, factors, p.dims, Precision::float32, d);
      const double tolerance = p.results < 1000 ? 1e-4 : 1e-3;  // of sums of hundreds of products
      check_close(made.value, factor.value, tolerance);
      check_close(made.d_a, factor.d_a, tolerance);
      check_close(made.d_b, factor.d_b, tolerance);
      check_close(made.d_c, bias.d_c, 1e-5);
      const Made exact = run(p.make, given, p.dims, Precision::float32, d);
      CHECK((made.value == exact.value) == !rounds(precision));
      CHECK((made.d_a == exact.d_a) == !rounds(precision));
      CHECK((made.d_b == exact.d_b) == !rounds(precision));
      CHECK(made.d_c == exact.d_c);
    }
}

TEST_CASE("rounded products have the same bits batched and unbatched") {
  for (const Precision precision : kAll) {
    const auto alone = run_network(precision, false, 40);
    const auto batched = run_network(precision, true, 40);
    check_close(alone.back(), batched.back(), 2e-3);
    CHECK(std::equal(alone.begin(), alone.end() - 1, batched.begin()));
    // A sentence has the same values alone and in a batch.
    const auto few = run_network(precision, true, 1);
    CHECK(std::equal(few.begin(), few.end() - 1, batched.begin()));
  }
}

TEST_CASE("a product in bf16 has the same bits for any number of columns") {
  // Columns of different nodes; from 32 columns on, gradients use the transposed matrix.
  const unsigned m = 150, k = 301;
  const Floats w = numbers(m * k, 1), d = numbers(m, 3);
  if (!rounds(Precision::bf16)) return skip("this CPU has no instructions for bf16");
  std::vector<Floats> values, gradients;
  for (const unsigned n : {1u, 2u, 7u, 40u, 300u}) {
    ParameterCollection pc;
    Parameter pw = pc.add_parameters({m, k});
    pw.set_value(w);
    ComputationGraph g;
    g.set_precision(Precision::bf16);
    const Expression W = parameter(g, pw), slope = input(g, {m}, d);
    std::vector<Expression> xs, losses;
    for (unsigned j = 0; j < n; ++j) {
      xs.push_back(input(g, {k}, numbers(k, 10 + j)));
      losses.push_back(dot_product(W * xs.back(), slope));
    }
    const Expression loss = sum(losses);
    g.backward(loss, true);
    values.push_back(as_vector((W * xs[0]).value()));
    gradients.push_back(as_vector(xs[0].gradient()));
    CHECK(values.back() == values[0]);
    CHECK(gradients.back() == gradients[0]);
  }
}

TEST_CASE("bf16 uses AMX, where the CPU has it, unless DYNET_ISA is set") {
  if (!rounds(Precision::bf16)) return skip("this CPU has no instructions for bf16");
  ComputationGraph g;
  g.set_precision(Precision::bf16);
  // Tiles add even and odd products by themselves; vectors add pairs, which loses a 1.
  const float large = 0x1p24f;
  const Expression row = input(g, {1, 4}, {large, 1, -large, 1}),
                   ones = input(g, {4}, {1, 1, 1, 1});
  const bool exact = as_scalar((row * ones).value()) == 2;
  CHECK(exact == (has_amx() && !std::getenv("DYNET_ISA")));
}

TEST_CASE("packed matrices are dropped after a pass") {
  // Recurrences over two matrices of one shape, in a long-lived model and in new models.
  struct Model {
    ParameterCollection pc;
    Parameter w, u;
    Model(const Floats& first, const Floats& second)
        : w(pc.add_parameters({40, 40})), u(pc.add_parameters({40, 40})) {
      w.set_value(first);
      u.set_value(second);
    }
    std::vector<Floats> run(bool backward) const {
      ComputationGraph g;
      g.set_precision(Precision::bf16);
      const Expression x = input(g, {40}, numbers(40, 3));
      std::vector<Expression> h = {x};
      for (int t = 0; t < 6; ++t)
        h.push_back(tanh(0.1f * (parameter(g, w) * h.back() + parameter(g, u) * (x + h.back()))));
      std::vector<Floats> all = {as_vector(h.back().value())};
      if (!backward) return all;
      g.backward(sum_elems(h.back()));
      all.push_back(as_vector(w.gradients()));
      all.push_back(as_vector(u.gradients()));
      for (const Expression& e : h) all.push_back(as_vector(e.gradient()));
      return all;
    }
  };
  Model model(numbers(1600, 1), numbers(1600, 2));
  SimpleSGDTrainer trainer(model.pc, 0.05f);
  std::vector<std::unique_ptr<Model>> others;  // kept alive, so that no two share an address
  for (int k = 0; k < 6; ++k) {
    others.push_back(
        std::make_unique<Model>(as_vector(*model.w.values()), as_vector(*model.u.values())));
    CAPTURE(k);
    const bool backward = k % 3 == 0;
    CHECK(model.run(backward) == others.back()->run(backward));
    if (backward) trainer.update();
    const Floats first = as_vector(*model.w.values());
    model.w.set_value(as_vector(*model.u.values()));
    model.u.set_value(first);
  }
}

TEST_CASE("packed transposed matrices are not reused for another loss") {
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({40, 40}), u = pc.add_parameters({40, 40});
  const auto loss = [](ComputationGraph& g, const Parameter& p) {
    const Expression matrix = parameter(g, p);
    Expression y = input(g, {40, 40}, numbers(1600, 5));  // enough columns for a transpose
    for (int k = 0; k < 4; ++k) y = matrix * y;
    return sum_elems(y);
  };
  Floats found[2];
  for (const bool both : {false, true}) {
    ComputationGraph g;
    g.set_precision(Precision::bf16);
    const Expression first = loss(g, w), second = loss(g, u);
    (first + second).value();
    if (both) g.backward(first);
    pc.reset_gradient();
    g.backward(second);
    found[both] = as_vector(u.gradients());
    pc.reset_gradient();
  }
  CHECK(found[0] == found[1]);
}

TEST_CASE("packed matrices are dropped when the memory of the matrix is reused") {
  const auto run = [](bool inference) {
    ComputationGraph g;
    g.set_precision(Precision::bf16);
    g.set_inference(inference);  // more than 8 MiB, so values are freed
    Expression w = input(g, {40, 40}, numbers(1600, 1)), sum = input(g, {40}, numbers(40, 2));
    for (int t = 0; t < 1500; ++t) {
      w = tanh(w + w);
      sum = tanh(w * (w * (w * sum)));
    }
    return as_vector(sum.value());
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("set_precision holds across clear until it is called again") {
  ComputationGraph g;
  const auto square = [&] {
    const Expression x = input(g, {1, 1}, {1 + 0x1p-9f});
    return as_scalar((x * x).value());
  };
  CHECK(square() == (1 + 0x1p-9f) * (1 + 0x1p-9f));
  CHECK_THROWS_AS(g.set_precision(Precision::bf16), ArgumentError);
  g.clear();
  g.set_precision(Precision::bf16);
  const float in_bf16 = rounds(Precision::bf16) ? 1 : (1 + 0x1p-9f) * (1 + 0x1p-9f);
  CHECK(square() == in_bf16);
  g.clear();
  CHECK(square() == in_bf16);
  g.clear();
  g.set_precision(Precision::tf32);
  CHECK(square() == (1 + 0x1p-9f) * (1 + 0x1p-9f));
}

}  // namespace precision_test
