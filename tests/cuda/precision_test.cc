// Products in TF32 and bf16.

#include "tests/cuda/device.h"
#include "tests/support/op_case.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr Precision kAll[] = {Precision::float32, Precision::tf32, Precision::bf16};

// A real device may be more precise than it is asked to be, where the sizes are odd.
#ifdef DYNET_TEST_GPU
constexpr bool kRounds = false;
#else
constexpr bool kRounds = true;
#endif

/// How far a factor may be off, as a part of it. A device may cut where another one rounds.
double unit(Precision p) { return p == Precision::tf32 ? 0x1p-10 : 0x1p-7; }

/// n numbers between 1 and 2, all different, with all bits in use.
Floats numbers(std::size_t n, unsigned seed) {
  ParameterCollection pc(0.0f);
  ComputationGraph g;
  g.set_seed(seed);
  return values(random_uniform(g, {static_cast<unsigned>(n)}, 1, 2));
}

/// The values and gradients of what `make` makes of two parameters.
struct Made {
  Floats value, d_a, d_b;
};
using Make = std::function<Expression(const Expression& a, const Expression& b)>;
Made run(const Make& make, const Dim& a, const Dim& b,
         const std::function<void(ComputationGraph&)>& prepare) {
  ParameterCollection pc;
  Parameter pa = pc.add_parameters(a), pb = pc.add_parameters(b);
  pa.set_value(numbers(a.size(), 1));
  pb.set_value(numbers(b.size(), 2));
  ComputationGraph g;
  prepare(g);
  const Expression x = parameter(g, pa), y = parameter(g, pb);
  const Expression z = make(x, y);
  const Expression weights = input(g, z.dim(), numbers(z.dim().size(), 3));
  g.backward(sum_elems(cmult(z, weights)));
  return {values(z), as_vector(pa.gradients()), as_vector(pb.gradients())};
}

std::function<void(ComputationGraph&)> on_device(Precision p) {
  return [p](ComputationGraph& g) {
    g.set_device(gpu());
    g.set_precision(p);
  };
}

/// The largest difference, as a part of the number.
double difference(const Floats& a, const Floats& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(double(a[i]) / double(b[i]) - 1));
  return most;
}

struct Product {
  const char* name;
  Dim a, b;
  Make make;
};
const Product kProducts[] = {
    {"matmul", {9, 17}, {17, 5}, [](auto& a, auto& b) { return a * b; }},
    {"affine_transform",
     {9, 17},
     {17, 5},
     [](auto& a, auto& b) {
       return affine_transform({zeros(*a.pg, {9}), a, b});
     }},
    {"conv2d",
     {6, 7, 2},
     {3, 3, 2, 4},
     [](auto& a, auto& b) {
       return conv2d(a, b, {1, 1});
     }},
};

}  // namespace

TEST_CASE("products are as precise as the graph is told", "[cuda]") {
  for (const Product& p : kProducts) {
    const Made exact = run(p.make, p.a, p.b, [](auto&) {});
    const Made full = run(p.make, p.a, p.b, on_device(Precision::float32));
    CAPTURE(p.name);
    for (const auto part : {&Made::value, &Made::d_a, &Made::d_b}) {
      CHECK(difference(full.*part, exact.*part) < 1e-5);
      for (const Precision precision : {Precision::tf32, Precision::bf16}) {
        const Made made = run(p.make, p.a, p.b, on_device(precision));
        CAPTURE(static_cast<int>(precision));
        const double d = difference(made.*part, exact.*part);
        CHECK(d < 2.1 * unit(precision));
        if (kRounds) CHECK(d > unit(precision) / 64);
      }
    }
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("factors are rounded to ten or seven bits, to the nearest even", "[cuda]") {
  const Floats given = {1 + 0x1p-11f,
                        1 + 0x3p-11f,
                        1 + 0x1p-11f + 0x1p-20f,
                        -1 - 0x1p-10f,
                        1 + 0x1p-8f,
                        1 + 0x3p-8f,
                        0x1.fffp10f,
                        0};
  const Floats expected[] = {
      given,
      {1, 1 + 0x1p-9f, 1 + 0x1p-10f, -1 - 0x1p-10f, 1 + 0x1p-8f, 1 + 0x3p-8f, 0x1p11f, 0},
      {1, 1, 1, -1, 1, 1 + 0x1p-6f, 0x1p11f, 0}};
  for (const Precision precision : kAll)
    for (const bool transposed : {false, true}) {
      ComputationGraph g;
      on_device(precision)(g);
      const Expression x = input(g, {8}, given), one = input(g, {1, 1}, {1});
      const Expression y = transposed ? one * transpose(x) : x * one;
      CHECK(values(y) == expected[static_cast<int>(precision)]);
      // Nothing else is rounded.
      CHECK(values((x + 0)) == given);
      CHECK(values(cmult(x, x))[0] == given[0] * given[0]);
    }
}
#endif

// cuBLAS gets lists of matrices, as these do not follow each other; results of 5 numbers are 20
// bytes apart.
TEST_CASE("products of odd sizes in a list are right in every precision", "[cuda]") {
  constexpr unsigned kCount = 7;
  const Make make = [](const Expression& a, const Expression& b) {
    std::vector<Expression> matrices, columns, all;
    const Expression one = input(*a.pg, {1}, {1});  // matrices of parameters alone are not a batch
    for (unsigned i = 0; i < kCount; ++i) {
      matrices.push_back(cmult(pick(a, i, 2), one));
      columns.push_back(pick(b, i, 2));
    }
    for (unsigned i = 0; i < kCount; ++i) all.push_back(matrices[3 * i % kCount] * columns[i]);
    return concatenate_cols(all);
  };
  for (const unsigned m : {5, 7})
    for (const unsigned k : {8, 16, 64})
      for (const unsigned n : {1, 3}) {
        const Dim a{m, k, kCount}, b{k, n, kCount};
        const Made exact = run(make, a, b, [](auto&) {});
        for (const Precision precision : kAll) {
          CAPTURE(m, k, n, static_cast<int>(precision));
          const Made made = run(make, a, b, on_device(precision));
          const double most = precision == Precision::float32 ? 1e-5 : 2.1 * unit(precision);
          for (const auto part : {&Made::value, &Made::d_a, &Made::d_b})
            CHECK(difference(made.*part, exact.*part) < most);
        }
      }
}

TEST_CASE("a graph multiplies floats unless it is told otherwise", "[cuda]") {
  const Product& p = kProducts[0];
  const Make& make = p.make;
  const Made before = run(make, p.a, p.b, [](auto& g) { g.set_device(gpu()); });
  // Later graphs reuse the memory of destroyed graphs.
  const Made coarse = run(make, p.a, p.b, on_device(Precision::bf16));
  const Made after = run(make, p.a, p.b, [](auto& g) { g.set_device(gpu()); });
  const Made told = run(make, p.a, p.b, on_device(Precision::float32));
  if (kRounds) CHECK(coarse.value != before.value);
  for (const auto part : {&Made::value, &Made::d_a, &Made::d_b}) {
    CHECK(after.*part == before.*part);
    CHECK(told.*part == before.*part);
  }
  // Before or after the device; a graph that is cleared keeps it.
  const Made first = run(make, p.a, p.b, [](auto& g) {
    g.set_precision(Precision::bf16);
    g.set_device(gpu());
    input(g, 1);
    g.clear();
  });
  CHECK(first.value == coarse.value);
}
