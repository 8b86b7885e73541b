#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// log(softmax(x)) at a place along dimension d.
double log_softmax_at(const Array& x, Place p, unsigned d) {
  const double here = x.at(p);
  double most = -kInfinity, sum = 0;
  for (p[d] = 0; p[d] < x.dim[d]; ++p[d]) most = std::max(most, x.at(p));
  if (most == -kInfinity || here == -kInfinity) return -kInfinity;
  for (p[d] = 0; p[d] < x.dim[d]; ++p[d]) sum += std::exp(x.at(p) - most);
  return here - most - std::log(sum);
}

/// log sum e^x along dimension d.
Array log_sums(const Array& x, unsigned d) {
  Dim to = x.dim;
  to.delete_dim(d);
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
    return fill(Dim({1}, x[0].dim.bd), [&](Place p) {
      p[0] = v[p[kBatch]];
      return -log_softmax_at(x[0], p, 0);
    });
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
      return fill(x[0].dim, [&](const Place& p) { return std::exp(log_softmax_at(x[0], p, d)); });
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
  c.reference = [](const Arrays& x) {
    return fill(x[0].dim, [&](const Place& p) { return log_softmax_at(x[0], p, 0); });
  };
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
    return fill(x[0].dim, [&](const Place& p) { return std::exp(log_softmax_at(masked, p, 0)); });
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

TEST_CASE("softmax: long columns go through in pieces") {
  for (const OpCase& one : softmax_cases()) {
    OpCase c = one;
    c.shapes = [](Shapes& s) { return std::vector{Dim({2500}, s.full_batch())}; };
    if (c.name.find("along 1") != std::string::npos)
      c.shapes = [](Shapes& s) {
        return std::vector{s.coin() ? Dim({2, 1300}, s.full_batch()) : Dim({1300, 2})};
      };
    if (c.name.find("along 2") != std::string::npos || c.name == "constrained_softmax" ||
        c.name == "sparsemax")
      continue;
    c.value_tolerance = 1e-9;
    c.float_tolerance = 3e-5;
    c.draws = c.name.find("along 1") != std::string::npos ? 2 : 1;
    check_values(c);
    check_extremes(c);
  }
}

TEST_CASE("softmax: long columns have the right gradients") {
  auto [model, p, g, x] = Variable({1100}, ParameterInitUniform(1));
  g.backward(pickneglogsoftmax(x, 1050));
  const std::vector<float> d = as_vector(p.gradients());
  const std::vector<float> y = as_vector(softmax(x).value());
  for (unsigned k = 0; k < 1100; ++k) CHECK(std::abs(d[k] - y[k] + (k == 1050)) < 1e-6f);
}

TEST_CASE("softmax: probabilities and gradients are zero when all scores are masked") {
  const float masked = -std::numeric_limits<float>::infinity();
  auto [model, p, g, x] = Variable({3}, {masked, masked, masked});
  CHECK(as_vector(softmax(x).value()) == std::vector<float>{0, 0, 0});
  CHECK(as_vector(log_softmax(x).value()) == std::vector<float>{masked, masked, masked});
  const Expression loss = pickneglogsoftmax(x, 1);
  CHECK(as_scalar(loss.value()) == -masked);
  g.backward(loss);
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0, 0});
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

TEST_CASE("pickneglogsoftmax: classes behind pointers are read at every forward") {
  auto [model, p, g, x] = Variable({3}, {1, 2, 3});
  unsigned one = 0;
  std::vector<unsigned> two = {0, 1};
  const Expression a = pickneglogsoftmax(x, &one);
  const Expression b = pickneglogsoftmax(concatenate_to_batch({x, x}), &two);
  const auto loss = [](unsigned v) {
    return std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - (1.0 + v);
  };
  CHECK(as_scalar(g.forward(a)) == Approx(loss(0)));
  one = 2;
  two = {2, 1};
  CHECK(as_scalar(g.forward(a)) == Approx(loss(2)));
  CHECK(as_vector(g.forward(b))[0] == Approx(loss(2)));
  CHECK(as_vector(g.forward(b))[1] == Approx(loss(1)));
  // Backward belongs to the forward before it, whatever was written meanwhile.
  g.forward(a);
  one = 0;
  g.backward(a);
  const std::vector<float> d = as_vector(p.gradients());
  CHECK(d[2] < 0);
  CHECK(d[0] > 0);

  one = 3;
  CHECK_THROWS_AS(g.forward(a), IndexError);
  two = {0};
  CHECK_THROWS_AS(g.forward(b), IndexError);
  one = 1;
  two = {0, 0};
  CHECK(as_scalar(g.forward(a)) == Approx(loss(1)));
  CHECK(as_vector(g.forward(b))[1] == Approx(loss(0)));
}

TEST_CASE("softmax: every operation handles a wholly masked column") {
  const float masked = -std::numeric_limits<float>::infinity();
  auto [model, p, g, x] = Variable({2, 2}, {masked, masked, 1, 1});
  const Expression half = constant(g, {2, 2}, 0.75f);
  CHECK(as_vector(logsumexp_dim(x, 0).value())[0] == masked);
  CHECK(as_vector(sparsemax(x).value()) == std::vector<float>{0, 0, 0.5f, 0.5f});
  CHECK(as_vector(constrained_softmax(x, half).value()) == std::vector<float>{0, 0, 0.5f, 0.5f});
  CHECK(as_vector(log_softmax(x, {1}).value()) == std::vector<float>{masked, masked, masked, 0});
  for (const Expression& y : {softmax(x), log_softmax(x), logsumexp_dim(x, 0), logsumexp_dim(x, 1),
                              sparsemax(x), constrained_softmax(x, half), log_softmax(x, {1})}) {
    const Dim d = y.dim();
    g.backward(sum_elems(cmult(y, input(g, d, std::vector<float>(d.size(), 2)))));
    const std::vector<float> dx = as_vector(x.gradient());
    CHECK(dx[0] == 0);
    CHECK(dx[1] == 0);
    CHECK(std::isfinite(dx[2]));
    CHECK(std::isfinite(dx[3]));
  }
}

TEST_CASE("softmax: lines longer, and lines beside more others, than are computed at once") {
  constexpr unsigned kRows = 3001, kCols = 3;
  std::vector<float> scores(kRows * kCols), weights(scores.size());
  for (unsigned i = 0; i < scores.size(); ++i) {
    scores[i] = 3 * std::sin(static_cast<float>(i));
    weights[i] = std::cos(2 * static_cast<float>(i));
  }
  for (unsigned d : {0u, 1u}) {
    INFO("along " << d);
    auto [model, p, g, x] = Variable({kRows, kCols}, scores);
    const Expression w = input(g, {kRows, kCols}, weights);
    const Expression sums = logsumexp_dim(x, d), shares = softmax(x, d);
    const unsigned lines = d == 0 ? kCols : kRows, length = d == 0 ? kRows : kCols;
    const auto place = [&](unsigned line, unsigned k) {
      return d == 0 ? line * kRows + k : k * kRows + line;
    };
    std::vector<double> share(scores.size()), sum(lines), weighted(lines);
    for (unsigned line = 0; line < lines; ++line) {
      for (unsigned k = 0; k < length; ++k)
        sum[line] += std::exp(static_cast<double>(scores[place(line, k)]));
      for (unsigned k = 0; k < length; ++k) {
        const unsigned at = place(line, k);
        share[at] = std::exp(static_cast<double>(scores[at])) / sum[line];
        weighted[line] += share[at] * static_cast<double>(weights[at]);
      }
    }
    const std::vector<float> first(weights.begin(), weights.begin() + lines);
    g.backward(sum_elems(cmult(sums, input(g, sums.dim(), first))) + sum_elems(cmult(shares, w)));
    const std::vector<float> s = as_vector(sums.value()), y = as_vector(shares.value());
    const std::vector<float> dx = as_vector(x.gradient());
    double wrong = 0;
    for (unsigned line = 0; line < lines; ++line) {
      wrong = std::max(wrong, std::abs(static_cast<double>(s[line]) - std::log(sum[line])));
      for (unsigned k = 0; k < length; ++k) {
        const unsigned at = place(line, k);
        const double slope = share[at] * (static_cast<double>(first[line]) +
                                          static_cast<double>(weights[at]) - weighted[line]);
        wrong = std::max(wrong, std::abs(static_cast<double>(y[at]) - share[at]));
        wrong = std::max(wrong, std::abs(static_cast<double>(dx[at]) - slope));
      }
    }
    CHECK(wrong < 1e-5);
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

TEST_CASE("softmax: a NaN among the scores shows") {
  ComputationGraph g;
  const Expression x = input(g, {3}, {1, std::numeric_limits<float>::quiet_NaN(), 2});
  for (const Expression& y : {softmax(x), log_softmax(x), logsumexp_dim(x, 0), sparsemax(x)}) {
    const std::vector<float> v = as_vector(y.value());
    CHECK(std::any_of(v.begin(), v.end(), [](float e) { return std::isnan(e); }));
  }
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
