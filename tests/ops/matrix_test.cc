#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

Array multiply(const Array& a, const Array& b) {
  Dim d({a.dim.rows()}, std::max(a.dim.bd, b.dim.bd));
  if (b.dim.nd > 1) d = Dim({a.dim.rows(), b.dim.cols()}, d.bd);
  return fill(d, [&](const Place& p) {
    double sum = 0;
    for (unsigned k = 0; k < a.dim.cols(); ++k)
      sum += a.at(p[0], k, p[kBatch]) * b.at(k, p[1], p[kBatch]);
    return sum;
  });
}

Array add(const Array& a, const Array& b) {
  return zip({a, b}, [](const std::vector<double>& v) { return v[0] + v[1]; });
}

// b, W1, x1, ...: with one column or several, and batches here and there.
std::vector<Dim> affine_shapes(Shapes& s, bool columns) {
  const unsigned m = s.size(), n = columns ? 1 + s.positive() : 1;
  const std::uint64_t products = columns ? 1 + s.below(2) : s.below(3);
  std::vector<Dim> all;
  const bool wide = products == 0 || s.coin();
  all.push_back(wide && n > 1 ? Dim({m, n}, s.batch()) : Dim({m}, s.batch()));
  for (std::uint64_t k = 0; k < products; ++k) {
    const unsigned inner = s.size();
    all.push_back(Dim({m, inner}, s.below(3) ? 1 : s.batch()));
    all.push_back(n == 1 ? Dim({inner}, s.batch()) : Dim({inner, n}, s.batch()));
  }
  return all;
}

Array affine(const Arrays& x) {
  if (x.size() == 1) return x[0];
  Array sum = multiply(x[1], x[2]);
  for (std::size_t k = 3; k < x.size(); k += 2) sum = add(sum, multiply(x[k], x[k + 1]));
  return add(sum, x[0]);
}

/// The classes of a loss of so many batch elements.
std::vector<unsigned> classes(unsigned batch, unsigned scores) {
  std::vector<unsigned> all;
  for (unsigned e = 0; e < batch; ++e) all.push_back((2 * e + 1) % scores);
  return all;
}

/// The loss of an output layer, with so many products and a bias, or with one product alone.
OpCase output_loss(bool bias, unsigned products) {
  OpCase c;
  c.name = "linear_cross_entropy of " + std::to_string(products) + (bias ? " and a bias" : "");
  c.shapes = [=](Shapes& s) {
    const unsigned n = s.positive() * s.positive();
    std::vector<Dim> all;
    if (bias) all.push_back(Dim({n}, s.batch()));
    for (unsigned k = 0; k < products; ++k) {
      const unsigned inner = s.size();
      all.push_back(Dim({n, inner}, s.below(3) ? 1 : s.batch()));
      all.push_back(Dim({inner}, s.batch()));
    }
    return all;
  };
  c.build = [](const Operand& x) {
    unsigned batch = 1;
    for (const Expression& e : x) batch = std::max(batch, e.dim().bd);
    const std::vector<unsigned> v = classes(batch, x[x.size() % 2].dim().rows());
    return batch == 1 ? linear_cross_entropy(x, v[0]) : linear_cross_entropy(x, v);
  };
  c.reference = [=](const Arrays& x) {
    const Array scores = bias ? affine(x) : multiply(x[0], x[1]);
    const std::vector<unsigned> v = classes(scores.dim.bd, scores.dim.rows());
    return fill(Dim({1}, scores.dim.bd), [&](const Place& p) {
      double sum = 0;
      for (unsigned k = 0; k < scores.dim.rows(); ++k) sum += std::exp(scores.at(k, 0, p[kBatch]));
      return std::log(sum) - scores.at(v[p[kBatch]], 0, p[kBatch]);
    });
  };
  c.shared = bias ? std::vector<unsigned>{0, 1, 3} : std::vector<unsigned>{0};
  c.empty = false;
  return c;
}

}  // namespace

OpCase pairwise(const std::string& name,
                std::function<Expression(const Expression&, const Expression&)> op,
                std::function<double(double, double)> f) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    Dim x = s.any(3), y = x;
    x.bd = s.batch();
    y.bd = s.batch();
    return std::vector{x, y};
  };
  c.build = [op](const Operand& x) { return op(x[0], x[1]); };
  c.reference = [f](const Arrays& x) {
    return fill(Dim({1}, std::max(x[0].dim.bd, x[1].dim.bd)), [&](const Place& p) {
      double sum = 0;
      const std::size_t n = x[0].dim.batch_size();
      const std::size_t a = x[0].dim.bd == 1 ? 0 : p[kBatch] * n;
      const std::size_t b = x[1].dim.bd == 1 ? 0 : p[kBatch] * n;
      for (std::size_t k = 0; k < n; ++k) sum += f(x[0].v[a + k], x[1].v[b + k]);
      return sum;
    });
  };
  c.bad = bad_shapes("{2} {3} | {2,3} {3,2} | {2X2} {2X3}");
  return c;
}

std::vector<OpCase> matrix_cases() {
  std::vector<OpCase> all;

  for (const bool columns : {false, true}) {
    const std::string of_columns = columns ? " of columns" : "";
    OpCase product;
    product.name = "x * y" + of_columns;
    product.shapes = [=](Shapes& s) {
      const unsigned m = s.size(), k = s.size();
      const Dim a({m, k}, s.batch());
      return std::vector{a, columns ? Dim({k, 1 + s.positive()}, s.batch()) : Dim({k}, s.batch())};
    };
    product.build = [](const Operand& x) { return x[0] * x[1]; };
    product.reference = [](const Arrays& x) { return multiply(x[0], x[1]); };
    product.shared = {0};
    product.bad = bad_shapes("{2,3} {2} | {2} {2} | {2,3X2} {3X3} | {2,3,2} {3} | {2,3} {3,1,2}");
    all.push_back(product);

    OpCase transform;
    transform.name = "affine_transform" + of_columns;
    transform.shapes = [=](Shapes& s) { return affine_shapes(s, columns); };
    transform.build = [](const Operand& x) { return affine_transform(x); };
    transform.reference = affine;
    transform.shared = {0, 1, 3};
    transform.bad = bad_shapes(
        "argument: | argument: {2} {2,3} | {2} {2,3} {2} | {3} {2,3} {3} | {2,3} {2,3} {3,2} | {2} "
        "{2,3} {3} {1,3} {3} | {2} {2,3X2} {3X3} | {2X2} {2,3} {3X3} | {2,1,2} {2,3} {3}");
    all.push_back(transform);
  }

  all.push_back(output_loss(false, 1));
  all.back().bad = bad_shapes("{2,3} {2} | {2,3} {3,2} | {2,3X2} {3X3}");
  all.push_back(output_loss(true, 1));
  all.back().bad = bad_shapes("{3} {2,3} {3} | {2,2} {2,3} {3,2} | {2X2} {2,3} {3X3}");
  all.push_back(output_loss(true, 2));

  OpCase columns;
  columns.name = "colwise_add";
  columns.shapes = [](Shapes& s) {
    const Dim x = s.matrix();
    return std::vector{x, Dim({x.rows()}, s.batch())};
  };
  columns.build = [](const Operand& x) { return colwise_add(x[0], x[1]); };
  columns.reference = [](const Arrays& x) { return add(x[0], x[1]); };
  columns.bad = bad_shapes("{2,3} {3} | {2,3} {2,3} | {2,3,2} {2} | {2,3X2} {2X3}");
  all.push_back(columns);

  all.push_back(
      pairwise("dot_product", OF_XY(dot_product(x, y)), [](double x, double y) { return x * y; }));
  all.push_back(pairwise("trace_of_product", OF_XY(trace_of_product(x, y)),
                         [](double x, double y) { return x * y; }));
  all.push_back(pairwise("squared_distance", OF_XY(squared_distance(x, y)),
                         [](double x, double y) { return (x - y) * (x - y); }));
  all.push_back(pairwise("binary_log_loss", OF_XY(binary_log_loss(x, y)), [](double x, double y) {
    return -(y * std::log(x) + (1 - y) * std::log(1 - x));
  }));
  all.back().low = 0.1, all.back().high = 0.9;
  return all;
}

DYNET_OP_TESTS("matrix", matrix_cases())

TEST_CASE("binary_log_loss: a saturated sigmoid does not end the training") {
  for (const float score : {40.0f, -200.0f}) {
    auto [model, p, g, x] = Variable({1}, {score});
    const Expression loss = binary_log_loss(logistic(x), input(g, score < 0));
    CHECK(as_scalar(loss.value()) == Approx(87.33655f));
    g.backward(loss);
    CHECK(as_scalar(p.gradients()) == 0);
  }
  for (const float outside : {-0.1f, 1.2f}) {
    ComputationGraph g;
    CHECK(std::isnan(as_scalar(binary_log_loss(input(g, outside), input(g, 0.5f)).value())));
  }
}

TEST_CASE("products of sizes around the borders of vector kernels") {
  for (unsigned m : {1u, 7u, 16u, 33u})
    for (unsigned k : {1u, 8u, 17u, 64u})
      for (unsigned n : {1u, 2u, 5u, 16u}) {
        OpCase c = matrix_cases()[0];
        c.shapes = [=](Shapes& s) {
          return std::vector{Dim({m, k}, s.batch()), Dim({k, n}, s.full_batch())};
        };
        c.value_tolerance = 1e-9;
        c.draws = 6;
        check_values(c);
      }
}

namespace {

void check_products(unsigned rows, unsigned inner, unsigned cols, unsigned elements = 1) {
  OpCase c = matrix_cases()[2];
  c.float_tolerance = 5e-5;
  check_large(c, {Dim({rows, inner}), Dim({inner, cols}, elements)});
}

}  // namespace

TEST_CASE("products with more columns than are multiplied at once") {
  check_products(3, 4, 301, 2);
}

TEST_CASE("products with as many columns as are copied together, and more") {
  for (const unsigned rows : {5u, 65u, 150u, 300u})
    for (const unsigned cols : {23u, 24u, 47u, 48u, 85u, 86u, 128u, 129u, 300u})
      check_products(rows, 13, cols);
}

TEST_CASE("products of more columns of W than are read together") {
  for (const unsigned rows : {8u, 20u, 40u, 70u})
    for (const unsigned cols : {4u, 6u, 9u, 33u})
      for (const unsigned inner : {129u, 300u}) check_products(rows, inner, cols);
}

TEST_CASE("products of a long matrix, in blocks of rows") {
  for (const unsigned cols : {1u, 3u, 40u, 70u}) check_products(9000, 9, cols);
}

}  // namespace dynet::test
