#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

/// Addend of the diagonal that keeps matrices of small elements far from singular.
float diagonal(unsigned n) { return std::max(3.0f, 0.25f * static_cast<float>(n)); }

using Square = std::vector<std::vector<double>>;

/// Batch element e of x plus the diagonal.
Square regular(const Array& x, unsigned e) {
  const unsigned n = x.dim.rows();
  Square m(n, std::vector<double>(n));
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j)
      m[i][j] = x.at(i, j, e) + (i == j ? static_cast<double>(diagonal(n)) : 0.0);
  return m;
}

/// Gauss and Jordan, without a choice of pivots; the determinant on the way.
Square inverted(Square m, double* determinant) {
  const std::size_t n = m.size();
  Square r(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) r[i][i] = 1;
  *determinant = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = m[k][k];
    *determinant *= pivot;
    for (std::size_t j = 0; j < n; ++j) {
      m[k][j] /= pivot;
      r[k][j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double f = m[i][k];
      for (std::size_t j = 0; i != k && j < n; ++j) {
        m[i][j] -= f * m[k][j];
        r[i][j] -= f * r[k][j];
      }
    }
  }
  return r;
}

OpCase of_square(const std::string& name, Expression (*op)(const Expression&, SourceLocation),
                 const std::function<Array(const Array&)>& reference) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned n =
        std::min(s.size(), 257u);  // on a device that is emulated, larger ones take long
    return std::vector{Dim({n, n}, s.batch())};
  };
  c.build = [op](const Operand& x) {
    const Dim d = x[0].dim();
    const auto at = SourceLocation::current();
    if (d[0] != d[1] || d.nd > 2) return op(x[0], at);
    std::vector<float> added(d.batch_size());
    for (unsigned k = 0; k < d[0]; ++k) added[k * (d[0] + 1)] = diagonal(d[0]);
    return op(x[0] + input(*x.graph, d.single_batch(), added), at);
  };
  c.reference = [reference](const Arrays& x) { return reference(x[0]); };
  c.low = -0.5;
  c.high = 0.5;
  c.bad = bad_shapes("{2,3} | {2,2,2} | {2}");
  return c;
}

OpCase circular(const std::string& name,
                Expression (*op)(const Expression&, const Expression&, SourceLocation), int sign) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) {
    const unsigned n = s.size() + s.size();
    return std::vector{Dim({n}, s.batch()), Dim({n}, s.batch())};
  };
  c.build = [op](const Operand& x) { return op(x[0], x[1], SourceLocation::current()); };
  c.reference = [sign](const Arrays& x) {
    const int n = static_cast<int>(x[0].dim.rows());
    return fill(Dim({x[0].dim.rows()}, std::max(x[0].dim.bd, x[1].dim.bd)), [&](const Place& p) {
      double sum = 0;
      for (int j = 0; j < n; ++j) {
        const int k = ((static_cast<int>(p[0]) + sign * j) % n + n) % n;
        sum += x[0].at(static_cast<unsigned>(j), 0, p[kBatch]) *
               x[1].at(static_cast<unsigned>(k), 0, p[kBatch]);
      }
      return sum;
    });
  };
  c.bad = bad_shapes("{2} {3} | {2,2} {2,2} | {2} {2,2} | {2X2} {2X3}");
  return c;
}

/// Contractions with y, with z if `both`, and with a bias; products with matrices of their own
/// never run as one, so what is looked at is a view of the result.
OpCase contraction(bool both, bool bias) {
  OpCase c;
  c.name = std::string(both ? "contract3d_1d_1d" : "contract3d_1d") + (bias ? " with bias" : "");
  c.shapes = [=](Shapes& s) {
    const unsigned i = s.size(), j = s.size(), k = s.size();
    std::vector<Dim> dims = {Dim({i, j, k}, s.batch()), Dim({k}, s.batch())};
    if (both) dims.push_back(Dim({j}, s.batch()));
    if (bias) dims.push_back(both ? Dim({i}, s.batch()) : Dim({i, j}, s.batch()));
    return dims;
  };
  c.build = [=](const Operand& x) {
    const Expression y =
        both ? bias ? contract3d_1d_1d(x[0], x[1], x[2], x[3]) : contract3d_1d_1d(x[0], x[1], x[2])
        : bias ? contract3d_1d(x[0], x[1], x[2])
               : contract3d_1d(x[0], x[1]);
    return reshape(y, y.dim());
  };
  c.reference = [=](const Arrays& x) {
    const Dim& d = x[0].dim;
    Dim y = both ? Dim({d[0]}) : Dim({d[0], d[1]});
    for (const Array& a : x) y.bd = std::max(y.bd, a.dim.bd);
    return fill(y, [&](const Place& p) {
      double sum = bias ? x.back().at(p[0], both ? 0 : p[1], p[kBatch]) : 0;
      for (unsigned j = both ? 0 : p[1]; j < (both ? d[1] : p[1] + 1); ++j)
        for (unsigned k = 0; k < d[2]; ++k)
          sum += x[0].at({p[0], j, k, 0, 0, 0, 0, p[kBatch]}) * x[1].at(k, 0, p[kBatch]) *
                 (both ? x[2].at(j, 0, p[kBatch]) : 1);
      return sum;
    });
  };
  const auto wrong = [&](Dim x, Dim y, Dim z, Dim b) {
    std::vector<Dim> dims = {x, y};
    if (both) dims.push_back(z);
    if (bias) dims.push_back(b);
    c.bad.push_back({dims});
  };
  const Dim good_bias = both ? Dim({2}) : Dim({2, 3});
  wrong(Dim({2, 3, 4, 2}), Dim({4}), Dim({3}), good_bias);
  wrong(Dim({2, 3, 4}), Dim({3}), Dim({3}), good_bias);
  wrong(Dim({2, 3, 4}, 2), Dim({4}, 3), Dim({3}), good_bias);
  if (both) wrong(Dim({2, 3, 4}), Dim({4}), Dim({4}), good_bias);
  if (both) wrong(Dim({2, 3, 4}, 2), Dim({4}), Dim({3}, 3), good_bias);
  if (bias) wrong(Dim({2, 3, 4}), Dim({4}), Dim({3}), Dim({3}));
  return c;
}

}  // namespace

std::vector<OpCase> linear_algebra_cases() {
  std::vector<OpCase> all;
  all.push_back(of_square("inverse", inverse, [](const Array& x) {
    std::vector<Square> inverses;
    double determinant;
    for (unsigned e = 0; e < x.dim.bd; ++e)
      inverses.push_back(inverted(regular(x, e), &determinant));
    return fill(x.dim, [&](const Place& p) { return inverses[p[kBatch]][p[0]][p[1]]; });
  }));
  all.push_back(of_square("logdet", logdet, [](const Array& x) {
    return fill(Dim({1}, x.dim.bd), [&](const Place& p) {
      double determinant;
      inverted(regular(x, p[kBatch]), &determinant);
      return std::log(determinant);
    });
  }));
  for (bool both : {false, true})
    for (bool bias : {false, true}) all.push_back(contraction(both, bias));
  all.push_back(circular("circ_conv", circ_conv, -1));
  all.push_back(circular("circ_corr", circ_corr, 1));
  return all;
}

DYNET_OP_TESTS("linear algebra", linear_algebra_cases())

TEST_CASE("linear algebra: determinants that are zero or negative") {
  ComputationGraph g;
  const auto of = [&](const std::vector<float>& v) {
    return as_scalar(logdet(input(g, {2, 2}, v)).value());
  };
  CHECK(of({2, 0, 0, 3}) == Approx(std::log(6.0)));
  CHECK(of({0, 2, -3, 0}) == Approx(std::log(6.0)));  // rows must be exchanged
  CHECK(of({-2, 0, 0, -3}) == Approx(std::log(6.0)));
  CHECK(std::isnan(of({0, 2, 3, 0})));
  CHECK(std::isnan(of({-2, 0, 0, 3})));
  CHECK(of({1, 2, 2, 4}) == -std::numeric_limits<float>::infinity());
  CHECK(of({0, 0, 0, 0}) == -std::numeric_limits<float>::infinity());
  const auto y = as_vector(inverse(input(g, {2, 2}, {0, 2, 4, 0})).value());
  CHECK(y == std::vector<float>{0, 0.25f, 0.5f, 0});
  const auto singular = as_vector(inverse(input(g, {2, 2}, {1, 2, 2, 4})).value());
  for (float e : singular) CHECK_FALSE(std::isfinite(e));
}

}  // namespace dynet::test
