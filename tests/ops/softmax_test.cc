#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// log sum e^x along dimension d.
Array log_sums(const Array& x, unsigned d) {
  Dim to = x.dim;
  if (d < to.nd) to.delete_dim(d);
  return fill(to, [&](const Place& p) {
    Place q{};
    for (unsigned k = 0, from = 0; k < x.dim.nd; ++k)
      if (k != d) q[k] = p[from++];
    q[kBatch] = p[kBatch];
    double most = -kInfinity, sum = 0;
    for (q[d] = 0; q[d] < x.dim[d]; ++q[d]) most = std::max(most, x.at(q));
    if (most == -kInfinity) return most;
    for (q[d] = 0; q[d] < x.dim[d]; ++q[d]) sum += std::exp(x.at(q) - most);
    return most + std::log(sum);
  });
}

/// log(softmax(x)) along dimension d.
Array log_softmax_along(const Array& x, unsigned d) {
  const Array sums = log_sums(x, d);
  return fill(x.dim, [&](const Place& p) {
    Place line{};
    for (unsigned k = 0, to = 0; k < x.dim.nd; ++k)
      if (k != d) line[to++] = p[k];
    line[kBatch] = p[kBatch];
    return x.at(p) == -kInfinity ? -kInfinity : x.at(p) - sums.at(line);
  });
}

std::vector<double> column_at(const Array& x, Place p) {
  std::vector<double> v;
  for (p[0] = 0; p[0] < x.dim.rows(); ++p[0]) v.push_back(x.at(p));
  return v;
}

/// By bisection of the t in max(x - t, 0), whose sum falls with it.
double sparsemax_at(const Array& x, const Place& p) {
  const std::vector<double> v = column_at(x, p);
  const double most = *std::max_element(v.begin(), v.end());
  if (most == -kInfinity) return 0;
  double low = most - 1, high = most;
  for (int k = 0; k < 100; ++k) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (double e : v) sum += std::max(e - t, 0.0);
    (sum > 1 ? low : high) = t;
  }
  return std::max(x.at(p) - low, 0.0);
}

/// By bisection of the z in min(e^x z, u), whose sum grows with it.
double constrained_at(const Array& x, const Array& u, const Place& p) {
  const std::vector<double> v = column_at(x, p), bounds = column_at(u, p);
  double low = 0, high = 1e6;
  for (int k = 0; k < 200; ++k) {
    const double z = (low + high) / 2;
    double sum = 0;
    for (std::size_t j = 0; j < v.size(); ++j) sum += std::min(std::exp(v[j]) * z, bounds[j]);
    (sum < 1 ? low : high) = z;
  }
  return std::min(std::exp(x.at(p)) * high, u.at(p));
}

/// About half of the rows, the last one always.
std::vector<unsigned> restriction_of(const Dim& d, unsigned variant) {
  std::vector<unsigned> rows = {d.rows() - 1};
  for (unsigned r = 0; r + 1 < d.rows(); ++r)
    if ((variant + r) % 2) rows.push_back(r);
  return rows;
}

std::vector<Dim> any_rank(Shapes& s) { return {s.any(4)}; }
std::vector<Dim> matrix(Shapes& s) { return {s.matrix()}; }
std::vector<Dim> rank_three(Shapes& s) { return {Dim({s.size(), s.size(), s.size()}, s.batch())}; }
std::vector<Dim> vector_or_matrix(Shapes& s) { return {s.coin() ? s.vector() : s.matrix()}; }

OpCase class_loss(const std::string& form,
                  std::function<Expression(const Expression&, std::vector<unsigned>)> build) {
  OpCase c;
  c.name = "pickneglogsoftmax, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.positive() * s.positive()}, s.batch())}; };
  c.build = [build](const Operand& x) { return build(x[0], classes_of(x[0].dim(), x.variant)); };
  c.reference = [](const Arrays& x) {
    const std::vector<unsigned> v = classes_of(x[0].dim, x.variant);
    const Array logs = log_softmax_along(x[0], 0);
    return fill(Dim({1}, x[0].dim.bd),
                [&](const Place& p) { return -logs.at(v[p[kBatch]], 0, p[kBatch]); });
  };
  c.low = -3, c.high = 3;
  c.empty = false;
  c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
  return c;
}

}  // namespace

std::vector<OpCase> softmax_cases() {
  std::vector<OpCase> all;
  for (unsigned d : {0u, 1u, 2u}) {
    OpCase c;
    c.name = "softmax along " + std::to_string(d);
    c.shapes = d == 2 ? rank_three : d == 1 ? vector_or_matrix : any_rank;
    c.build = [d](const Operand& x) { return softmax(x[0], d); };
    c.reference = [d](const Arrays& x) {
      return map(log_softmax_along(x[0], d), [](double l) { return std::exp(l); });
    };
    c.low = -3, c.high = 3;
    c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
    if (d == 2) c.bad = bad_shapes("index: {2,3}");
    all.push_back(c);
    c.name = "logsumexp_dim along " + std::to_string(d);
    c.shapes = d == 2 ? rank_three : d == 1 ? matrix : any_rank;
    c.build = [d](const Operand& x) { return logsumexp_dim(x[0], d); };
    c.reference = [d](const Arrays& x) { return log_sums(x[0], d); };
    if (d == 1) c.bad = bad_shapes("index: {2}");
    all.push_back(c);
  }
  OpCase c;
  c.name = "log_softmax";
  c.shapes = any_rank;
  c.build = [](const Operand& x) { return log_softmax(x[0]); };
  c.reference = [](const Arrays& x) { return log_softmax_along(x[0], 0); };
  c.low = -3, c.high = 3;
  c.extremes = {-kInfinity, 1e4, -1e4, 80, -200};
  all.push_back(c);
  // As probabilities, for a loss can be made of them.
  c.name = "log_softmax, restricted";
  c.shapes = [](Shapes& s) {
    Dim d = s.any(3);
    d.d[0] = 1 + s.positive();
    return std::vector{d};
  };
  c.build = [](const Operand& x) {
    return exp(log_softmax(x[0], restriction_of(x[0].dim(), x.variant)));
  };
  c.reference = [](const Arrays& x) {
    const std::vector<unsigned> kept = restriction_of(x[0].dim, x.variant);
    const Array masked = fill(x[0].dim, [&](const Place& p) {
      return std::count(kept.begin(), kept.end(), p[0]) ? x[0].at(p) : -kInfinity;
    });
    return map(log_softmax_along(masked, 0), [](double l) { return std::exp(l); });
  };
  all.push_back(c);

  OpCase sparse;
  sparse.name = "sparsemax";
  sparse.shapes = any_rank;
  sparse.build = [](const Operand& x) { return sparsemax(x[0]); };
  sparse.reference = [](const Arrays& x) {
    return fill(x[0].dim, [&](const Place& p) { return sparsemax_at(x[0], p); });
  };
  sparse.extremes = {-kInfinity, 1e4, -1e4, 0.75};
  all.push_back(sparse);

  OpCase bounded;
  bounded.name = "constrained_softmax";
  bounded.shapes = [](Shapes& s) {
    Dim x = s.any(2), y = x;
    y.bd = s.batch();
    return std::vector{x, y};
  };
  bounded.build = [](const Operand& x) { return constrained_softmax(x[0], x[1]); };
  bounded.reference = [](const Arrays& x) {
    Dim d = x[0].dim;
    d.bd = std::max(x[0].dim.bd, x[1].dim.bd);
    return fill(d, [&](const Place& p) { return constrained_at(x[0], x[1], p); });
  };
  bounded.low = 0.1, bounded.high = 0.9;
  bounded.same_operand = false;
  bounded.bad = bad_shapes("{2} {3} | {2X2} {2X3}");
  all.push_back(bounded);

  all.push_back(class_loss("vector", [](const Expression& x, std::vector<unsigned> v) {
    return pickneglogsoftmax(x, v);
  }));
  all.back().bad = bad_shapes("{3,2} | index: {0}");
  // One class as a number; a batch takes a vector.
  all.push_back(class_loss("integer", [](const Expression& x, std::vector<unsigned> v) {
    return v.size() == 1 ? pickneglogsoftmax(x, v[0]) : pickneglogsoftmax(x, v);
  }));
  return all;
}

DYNET_OP_TESTS("softmax", softmax_cases())

TEST_CASE("softmax: lines longer, and lines beside more others, than are computed at once") {
  for (OpCase c : softmax_cases()) {
    const auto named = [&](const char* part) { return c.name.find(part) != std::string::npos; };
    if (named("along 2") || c.name == "constrained_softmax" || c.name == "sparsemax") continue;
    std::vector<Dim> shapes = {Dim({2500}, 3)};
    if (named("along 1")) shapes = {Dim({2, 1300}, 3), Dim({1300, 2}, 3)};
    if (named("along")) shapes.push_back({3001, 3});
    for (const Dim& d : shapes) {
      check_large(c, {d});
      c.shapes = [d](Shapes&) { return std::vector{d}; };
      c.draws = 1;
      check_extremes(c);
    }
  }
}

TEST_CASE("softmax: a masked score is exactly zero") {
  const float masked = -std::numeric_limits<float>::infinity();
  auto [model, p, g, x] = Variable({20}, ParameterInitUniform(1));
  std::vector<float> values = as_vector(p.values());
  for (std::size_t k = 0; k < 20; k += 3) values[k] = masked;
  p.set_value(values);
  const std::vector<float> y = as_vector(softmax(x).value());
  g.backward(pickneglogsoftmax(x, 1));
  const std::vector<float> d = as_vector(p.gradients());
  for (std::size_t k = 0; k < 20; k += 3) {
    CHECK(y[k] == 0.0f);
    CHECK(d[k] == 0.0f);
  }
}

TEST_CASE("losses of classes: the class is checked in every node, also after an equal one") {
  ComputationGraph g;
  ParameterCollection pc;
  const Expression x = input(g, Dim({3}, 2), std::vector<float>{1, 2, 3, 4, 5, 6}),
                   one = input(g, {3}, {1, 2, 3}), w = parameter(g, pc.add_parameters({4, 3})),
                   b = parameter(g, pc.add_parameters({4}));
  const std::vector<unsigned> right = {0, 2}, outside = {0, 4}, few = {1};
  const std::vector<unsigned>* const null = nullptr;
  const std::function<Expression(const IndexArgument&)> losses[] = {
      [&](const IndexArgument& v) { return pickneglogsoftmax(x, v); },
      [&](const IndexArgument& v) {
        return linear_cross_entropy({w, x}, v);
      },
      [&](const IndexArgument& v) {
        return linear_cross_entropy({b, w, x}, v);
      }};
  for (const auto& loss : losses) {
    for (int again = 0; again < 2; ++again) {
      CHECK(loss(right).dim() == Dim({1}, 2));
      CHECK(loss(&right).dim() == Dim({1}, 2));
      CHECK_THROWS_AS(loss(outside), IndexError);
      CHECK_THROWS_AS(loss(few), ArgumentError);
      CHECK_THROWS_AS(loss(null), ArgumentError);
    }
  }
  CHECK(pickneglogsoftmax(one, 2).dim() == Dim({1}));
  for (const long wrong : {3l, -1l, 1l << 32})
    CHECK_THROWS_AS(pickneglogsoftmax(one, wrong), IndexError);
}

TEST_CASE("constrained_softmax: bounds") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {0, -200, -400});
  // The rest above the first bound goes to the second, however small its score is.
  CHECK(as_vector(constrained_softmax(x, input(g, {3}, {0.5f, 1, 1})).value()) ==
        std::vector<float>{0.5f, 0.5f, 0});
  CHECK(as_vector(constrained_softmax(x, input(g, {3}, {1, 0, 0})).value()) ==
        std::vector<float>{1, 0, 0});
  CHECK(as_vector(constrained_softmax(x, input(g, {3}, {0.25f, 0.125f, 0})).value()) ==
        std::vector<float>{0.25f, 0.125f, 0});
}

}  // namespace dynet::test
