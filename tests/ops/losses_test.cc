#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using List = std::vector<unsigned>;
using Lists = std::vector<List>;

OpCase distance(const std::string& name,
                std::function<Expression(const Expression&, const Expression&)> op,
                std::function<double(double)> f) {
  OpCase c = pairwise(name, op, [f](double x, double y) { return f(x - y); });
  c.distinct = true;
  c.same_operand = false;
  c.extremes = {1e15, -1e15, 0};
  return c;
}

double huber(double d, double c) { return std::abs(d) < c ? d * d / 2 : c * (std::abs(d) - c / 2); }

/// The hinge of a class along dimension d at a place of the others.
double hinge_at(const Array& x, Place p, unsigned d, unsigned right, double m) {
  p[d] = right;
  const double here = x.at(p);
  double sum = 0;
  for (unsigned j = 0; j < x.dim[d]; ++j) {
    p[d] = j;
    if (j != right && x.at(p) != -kInfinity) sum += std::max(0.0, m - here + x.at(p));
  }
  return sum;
}

OpCase hinge_case(const std::string& form, std::function<Expression(const Expression&, List)> build,
                  double m) {
  OpCase c;
  c.name = "hinge, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.positive() * s.positive()}, s.batch())}; };
  c.build = [build](const Operand& x) { return build(x[0], classes_of(x[0].dim(), x.variant)); };
  c.reference = [m](const Arrays& x) {
    const List v = classes_of(x[0].dim, x.variant);
    return fill(Dim({1}, x[0].dim.bd),
                [&](const Place& p) { return hinge_at(x[0], p, 0, v[p[kBatch]], m); });
  };
  c.low = -1.37;
  c.distinct = true;
  c.empty = false;
  c.extremes = {-kInfinity, 1e4, -1e4};
  return c;
}

/// One class for each place beside dimension d, in `lists` lists.
Lists classes_beside(const Dim& x, unsigned d, unsigned lists, unsigned variant) {
  Lists all(lists);
  for (unsigned l = 0; l < lists; ++l)
    for (unsigned p = 0; p < x[1 - d]; ++p) all[l].push_back((variant + 2 * l + p) % x[d]);
  return all;
}

OpCase hinge_dim_case(const std::string& form, unsigned d, bool each,
                      std::function<Expression(const Expression&, const Lists&)> build, double m) {
  OpCase c;
  c.name = "hinge_dim, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.positive(), s.positive()}, s.batch())}; };
  c.build = [=](const Operand& x) {
    const Dim& dim = x[0].dim();
    return build(x[0], classes_beside(dim, d, each ? dim.bd : 1, x.variant));
  };
  c.reference = [=](const Arrays& x) {
    const Dim& dim = x[0].dim;
    const Lists v = classes_beside(dim, d, each ? dim.bd : 1, x.variant);
    return fill(Dim({dim[1 - d]}, dim.bd), [&](const Place& p) {
      Place q{};
      q[1 - d] = p[0];
      q[kBatch] = p[kBatch];
      return hinge_at(x[0], q, d, v[each ? p[kBatch] : 0][p[0]], m);
    });
  };
  c.low = -1.37;
  c.distinct = true;
  c.empty = false;
  c.extremes = {-kInfinity, 1e4, -1e4};
  return c;
}

OpCase poisson_case(const std::string& form, bool each,
                    std::function<Expression(const Expression&, List)> build) {
  const auto counts = [each](const Dim& d, unsigned variant) {
    List v;
    for (unsigned b = 0; b < (each ? d.bd : 1); ++b) v.push_back((variant + b) % 5);
    return v;
  };
  OpCase c;
  c.name = "poisson_loss, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({1}, s.batch())}; };
  c.build = [=](const Operand& x) { return build(x[0], counts(x[0].dim(), x.variant)); };
  c.reference = [=](const Arrays& x) {
    const List v = counts(x[0].dim, x.variant);
    return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
      const double n = v[each ? p[kBatch] : 0], rate = x[0].at(p);
      return std::exp(rate) - (n == 0 ? 0 : n * rate) + std::lgamma(n + 1);
    });
  };
  c.extremes = {-kInfinity, -1e4, 20};
  return c;
}

/// The loss of a column: the largest x p - p p / 2 of all probabilities p, less that of q.
double sparsemax_loss_at(const std::vector<double>& x, const List& support) {
  const double most = *std::max_element(x.begin(), x.end());
  const double q = 1.0 / static_cast<double>(support.size());
  double low = most - 1, high = most, loss = q / 2;
  for (int k = 0; k < 100; ++k) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (double e : x) sum += std::max(e - t, 0.0);
    (sum > 1 ? low : high) = t;
  }
  for (double e : x) {
    const double p = std::max(e - low, 0.0);
    if (p > 0) loss += p * (e - most) - p * p / 2;
  }
  for (unsigned j : support) loss -= q * (x[j] - most);
  return loss;
}

OpCase sparsemax_case(const std::string& form, bool each,
                      std::function<Expression(const Expression&, const Lists&)> build) {
  const auto supports = [each](const Dim& d, unsigned variant) {
    Lists all(each ? d.bd : 1);
    for (unsigned l = 0; l < all.size(); ++l)
      for (unsigned r = 0; r < d.rows(); ++r)
        if (r == 0 || (variant + l + r) % 3 == 0) all[l].push_back(r);
    return all;
  };
  OpCase c;
  c.name = "sparsemax_loss, " + form;
  c.shapes = [](Shapes& s) { return std::vector{Dim({s.positive() * s.positive()}, s.batch())}; };
  c.build = [=](const Operand& x) { return build(x[0], supports(x[0].dim(), x.variant)); };
  c.reference = [=](const Arrays& x) {
    const Lists v = supports(x[0].dim, x.variant);
    const std::size_t n = x[0].dim.rows();
    return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
      const auto first = x[0].v.begin() + static_cast<std::ptrdiff_t>(p[kBatch] * n);
      return sparsemax_loss_at({first, first + static_cast<std::ptrdiff_t>(n)},
                               v[each ? p[kBatch] : 0]);
    });
  };
  c.empty = false;
  c.extremes = {1e4, -1e4, 0.75};
  return c;
}

}  // namespace

#define OF_LIST(...) [=](const Expression& x, const List& v) { return __VA_ARGS__; }
#define OF_LISTS(...) [=](const Expression& x, const Lists& v) { return __VA_ARGS__; }

std::vector<OpCase> loss_cases() {
  std::vector<OpCase> all;
  all.push_back(
      distance("l1_distance", OF_XY(l1_distance(x, y)), [](double d) { return std::abs(d); }));
  all.push_back(distance("huber_distance", OF_XY(huber_distance(x, y)),
                         [](double d) { return huber(d, 1.345); }));
  all.back().value_tolerance = 1e-6;  // the bound is a float
  all.push_back(distance("huber_distance, bound 0.5", OF_XY(huber_distance(x, y, 0.5f)),
                         [](double d) { return huber(d, 0.5); }));

  OpCase rank;
  rank.name = "pairwise_rank_loss";
  rank.shapes = [](Shapes& s) {
    const Dim d = s.any(3);
    return std::vector{s.reduced(d), s.coin() ? d : s.reduced(d)};
  };
  for (const float m : {1.0f, 0.25f}) {
    if (m != 1) rank.name += ", margin 0.25";
    rank.build = [m](const Operand& x) {
      return m == 1 ? pairwise_rank_loss(x[0], x[1]) : pairwise_rank_loss(x[0], x[1], m);
    };
    rank.reference = [m](const Arrays& x) {
      return zip(x, [m](const std::vector<double>& v) {
        return std::max(0.0, static_cast<double>(m) - v[0] + v[1]);
      });
    };
    rank.low = -1.37;
    rank.distinct = true;
    rank.bad = bad_shapes("{2} {3} | {2X2} {2X3}");
    all.push_back(rank);
  }

  all.push_back(hinge_case("vector", OF_LIST(hinge(x, v)), 1));
  all.back().bad = bad_shapes("{3,2}");
  all.push_back(hinge_case("integer, margin 0.3",
                           OF_LIST(v.size() == 1 ? hinge(x, v[0], 0.3f) : hinge(x, v, 0.3f)),
                           static_cast<double>(0.3f)));

  for (unsigned d : {0u, 1u}) {
    const std::string along = "along " + std::to_string(d);
    all.push_back(
        hinge_dim_case("one list, " + along, d, false, OF_LISTS(hinge_dim(x, v[0], d)), 1));
    all.push_back(hinge_dim_case("a list for each, " + along, d, true,
                                 OF_LISTS(hinge_dim(x, v, d, 0.3f)), static_cast<double>(0.3f)));
  }
  all[all.size() - 4].bad = bad_shapes("{3,2,2}");

  all.push_back(poisson_case("vector", true, OF_LIST(poisson_loss(x, v))));
  all.back().bad = bad_shapes("{2} | {0}");
  all.push_back(poisson_case("integer", false, OF_LIST(poisson_loss(x, v[0]))));

  all.push_back(sparsemax_case("one list", false, OF_LISTS(sparsemax_loss(x, v[0]))));
  all.back().bad = bad_shapes("{3,2}");
  all.push_back(sparsemax_case("a list for each", true, OF_LISTS(sparsemax_loss(x, v))));
  return all;
}

DYNET_OP_TESTS("losses", loss_cases())

template <class E>
constexpr bool kUnclear = !requires(E x) {
  sparsemax_loss(x, {{0u}, {1u}});
};
static_assert(kUnclear<Expression>, "one list of two, or two lists of one?");

TEST_CASE("losses: lists may be written out") {
  ComputationGraph g;
  const Expression x = input(g, Dim({2, 2}, 2), {1, 2, 3, 5, 1, 2, 3, 5});
  CHECK(as_vector(hinge_dim(x, {0, 1}).value()) == std::vector<float>{2, 0, 2, 0});
  CHECK(as_vector(hinge_dim(x, {{0, 1}, {1, 0}}).value()) == std::vector<float>{2, 0, 0, 3});
  CHECK(as_vector(sparsemax_loss(input(g, {2}, {1, 3}), {1}).value())[0] == Approx(0).margin(1e-6));
}

}  // namespace dynet::test
