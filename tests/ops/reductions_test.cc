#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

OpCase of_elements(const std::string& name, Expression (*op)(const Expression&, SourceLocation),
                   std::function<double(double)> each,
                   std::function<double(double, double)> finish) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [op](const Operand& x) { return op(x[0], SourceLocation::current()); };
  c.reference = [=](const Arrays& x) {
    const std::size_t n = x[0].dim.batch_size();
    return fill(Dim({1}, x[0].dim.bd), [&](const Place& p) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += each(x[0].v[p[kBatch] * n + k]);
      return finish(sum, static_cast<double>(n));
    });
  };
  return c;
}

OpCase of_batches(const std::string& name, Expression (*op)(const Expression&, SourceLocation),
                  bool mean) {
  OpCase c;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(3)}; };
  c.build = [op](const Operand& x) { return op(x[0], SourceLocation::current()); };
  c.reference = [mean](const Arrays& x) {
    return fill(x[0].dim.single_batch(), [&](Place p) {
      double sum = 0;
      for (unsigned b = 0; b < x[0].dim.bd; ++b) {
        p[kBatch] = b;
        sum += x[0].at(p);
      }
      return mean ? sum / x[0].dim.bd : sum;
    });
  };
  return c;
}

using Reduce = std::function<double(const std::vector<double>&)>;

/// Dimensions of `wanted` that the shape has.
std::vector<unsigned> dims_of(const Dim& x, const std::vector<unsigned>& wanted) {
  std::vector<unsigned> dims;
  for (unsigned d : wanted)
    if (d < x.nd) dims.push_back(d);
  return dims;
}

/// f of all elements of x that become one, for each that is left.
Array reduce(const Array& x, const std::vector<unsigned>& dims, bool batch, const Reduce& f) {
  Dim to;
  std::vector<unsigned> kept;
  for (unsigned d = 0; d < x.dim.nd; ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
      to.d[to.nd++] = x.dim.d[d];
      kept.push_back(d);
    }
  if (to.nd == 0) to.d[to.nd++] = 1;
  to.bd = batch ? 1 : x.dim.bd;
  return fill(to, [&](const Place& p) {
    std::vector<double> all;
    fill(x.dim, [&](const Place& q) {
      bool here = batch || q[kBatch] == p[kBatch];
      for (std::size_t k = 0; k < kept.size(); ++k) here = here && q[kept[k]] == p[k];
      if (here) all.push_back(x.at(q));
      return 0.0;
    });
    return f(all);
  });
}

Reduce mean_of_powers(unsigned r, double n = 0) {
  return [=](const std::vector<double>& v) {
    double sum = 0;
    for (double x : v) sum += std::pow(x, r);
    return sum / (n > 0 ? n : static_cast<double>(v.size()));
  };
}
Reduce deviation(double divisor = 0) {
  return [=](const std::vector<double>& v) {
    const double n = divisor > 0 ? divisor : static_cast<double>(v.size());
    double mean = 0, sum = 0;
    for (double x : v) mean += x / n;
    for (double x : v) sum += (x - mean) * (x - mean) / n;
    return std::sqrt(sum);
  };
}
using Along =
    std::function<Expression(const Expression&, const std::vector<unsigned>& dims, bool batch)>;

/// Along several choices of dimensions.
void add_along(std::vector<OpCase>& all, const std::string& name, const Along& op, const Reduce& f,
               const OpCase& settings, bool with_batch = true) {
  struct Choice {
    const char* name;
    std::vector<unsigned> dims;
    bool batch;
  };
  for (const Choice& choice :
       {Choice{"0", {0}, false}, Choice{"1", {1}, false}, Choice{"2, 0", {2, 0}, false},
        Choice{"1, 2", {1, 2}, true}, Choice{"0, 1, 2, 3", {0, 1, 2, 3}, false},
        Choice{"none", {}, true}}) {
    if (choice.batch && !with_batch) continue;
    OpCase c = settings;
    c.name = name + ", along " + choice.name + (choice.batch ? " and the batch" : "");
    c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
    c.build = [=](const Operand& x) {
      return op(x[0], dims_of(x[0].dim(), choice.dims), choice.batch);
    };
    c.reference = [=](const Arrays& x) {
      return reduce(x[0], dims_of(x[0].dim, choice.dims), choice.batch, f);
    };
    all.push_back(c);
  }
}

/// Along one dimension, the last that a shape has up to `wanted`.
OpCase along_one(const std::string& name, std::function<Expression(const Expression&, unsigned)> op,
                 unsigned wanted, const Reduce& f) {
  const auto along = [wanted](const Dim& d) { return std::min(wanted, d.nd - 1); };
  OpCase c;
  c.name = name + ", along " + std::to_string(wanted);
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [=](const Operand& x) { return op(x[0], along(x[0].dim())); };
  c.reference = [=](const Arrays& x) { return reduce(x[0], {along(x[0].dim)}, false, f); };
  return c;
}

/// A reduction without a choice of dimensions.
OpCase whole(const std::string& name, std::function<Expression(const Expression&)> op,
             std::vector<unsigned> dims, bool batch, const Reduce& f, const OpCase& settings) {
  OpCase c = settings;
  c.name = name;
  c.shapes = [](Shapes& s) { return std::vector{s.any(4)}; };
  c.build = [op](const Operand& x) { return op(x[0]); };
  c.reference = [=](const Arrays& x) { return reduce(x[0], dims_of(x[0].dim, dims), batch, f); };
  return c;
}

std::vector<OpCase> cases_along() {
  using E = const Expression&;
  using D = const std::vector<unsigned>&;
  std::vector<OpCase> all;
  OpCase free, some, apart, positive;
  some.empty = false;
  some.bad = {};
  apart = some;
  apart.distinct = true;
  apart.extremes = {0, 2};
  positive = apart;
  positive.low = 0.5;
  positive.extremes = {};
  const std::vector<unsigned> every = {0, 1, 2, 3};
  add_along(
      all, "sum_dim", [](E x, D d, bool b) { return sum_dim(x, d, b); }, sum_of, free);
  all.push_back(whole("sum_rows", OF_X(sum_rows(x)), {0}, false, sum_of, free));
  all.push_back(whole("sum_cols", OF_X(sum_cols(x)), {1}, false, sum_of, free));
  add_along(
      all, "mean_dim", [](E x, D d, bool b) { return mean_dim(x, d, b); }, mean_of_powers(1), some);
  add_along(
      all, "mean_dim of 3", [](E x, D d, bool b) { return mean_dim(x, d, b, 3); },
      mean_of_powers(1, 3), free);
  all.push_back(whole("average_cols", OF_X(average_cols(x)), {1}, false, mean_of_powers(1), some));
  for (unsigned r = 1; r <= 5; ++r) {
    const std::string power = " of power " + std::to_string(r);
    add_along(
        all, "moment_dim" + power, [r](E x, D d, bool b) { return moment_dim(x, d, r, b); },
        mean_of_powers(r), some, r == 3);
    all.push_back(whole("moment_elems" + power, OF_X(moment_elems(x, r)), every, false,
                        mean_of_powers(r), some));
    all.push_back(whole("moment_batches" + power, OF_X(moment_batches(x, r)), {}, true,
                        mean_of_powers(r), free));
  }
  all.push_back(whole("moment_dim, divided by 4", OF_X(moment_dim(x, {0}, 2, true, 4)), {0}, true,
                      mean_of_powers(2, 4), free));
  add_along(
      all, "std_dim", [](E x, D d, bool b) { return std_dim(x, d, b); }, deviation(), apart);
  add_along(
      all, "std_dim of 3", [](E x, D d, bool b) { return std_dim(x, d, b, 3); }, deviation(3),
      positive);
  all.push_back(whole("std_elems", OF_X(std_elems(x)), every, false, deviation(), apart));
  all.push_back(whole("std_batches", OF_X(std_batches(x)), {}, true, deviation(), apart));
  for (unsigned d = 0; d < 3; ++d) {
    all.push_back(along_one(
        "max_dim", [](E x, unsigned k) { return max_dim(x, k); }, d,
        [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }));
    all.push_back(along_one(
        "min_dim", [](E x, unsigned k) { return min_dim(x, k); }, d,
        [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }));
    for (std::size_t k = all.size() - 2; k < all.size(); ++k) {
      all[k].distinct = true;
      all[k].empty = false;
      all[k].extremes = {-std::numeric_limits<double>::infinity(), 1e30, -1e30};
    }
    OpCase c = along_one(
        "cumsum", [](E x, unsigned k) { return cumsum(x, k); }, d, sum_of);
    c.reference = [d](const Arrays& x) {
      const unsigned k = std::min(d, x[0].dim.nd - 1);
      return fill(x[0].dim, [&](Place p) {
        double sum = 0;
        for (unsigned last = p[k] + 1, e = 0; e < last; ++e) {
          p[k] = e;
          sum += x[0].at(p);
        }
        return sum;
      });
    };
    all.push_back(c);
  }
  const auto bad = [&](const std::string& name, const std::string& shapes) {
    for (OpCase& c : all)
      if (c.name == name) c.bad = bad_shapes(shapes);
  };
  bad("mean_dim, along 0", "{0} | {0,3X2}");
  bad("std_dim, along 1", "{2,0}");
  bad("max_dim, along 0", "{0} | {0,2}");
  bad("min_dim, along 1", "{2,0}");
  bad("std_elems", "{0} | {3,0X2}");
  bad("average_cols", "{3,0}");
  return all;
}

}  // namespace

std::vector<OpCase> reduction_cases() {
  const auto self = [](double x) { return x; };
  const auto square = [](double x) { return x * x; };
  const auto sum = [](double s, double) { return s; };
  std::vector<OpCase> all;
  all.push_back(of_elements("sum_elems", sum_elems, self, sum));
  all.push_back(
      of_elements("mean_elems", mean_elems, self, [](double s, double n) { return s / n; }));
  all.back().empty = false;
  all.back().bad = bad_shapes("{0} | {3,0X2}");
  all.push_back(of_elements("squared_norm", squared_norm, square, sum));
  all.push_back(
      of_elements("l2_norm", l2_norm, square, [](double s, double) { return std::sqrt(s); }));
  all.back().extremes = {0, 1e25, -1e25, 1e-25};
  all.push_back(of_batches("sum_batches", sum_batches, false));
  all.push_back(of_batches("mean_batches", mean_batches, true));
  const std::vector<OpCase> along = cases_along();
  all.insert(all.end(), along.begin(), along.end());
  return all;
}

DYNET_OP_TESTS("reductions", reduction_cases())

TEST_CASE("l2_norm: the gradient at zero is zero") {
  auto [model, p, g, x] = Variable({3}, ParameterInitConst(0));
  g.backward(l2_norm(x));
  CHECK(as_vector(p.gradients()) == std::vector<float>{0, 0, 0});
}

TEST_CASE("reductions: the error of a long sum does not grow with its length") {
  ComputationGraph g;
  const Expression x = constant(g, {1000, 1000}, 0.1f);
  CHECK(as_scalar(sum_elems(x).value()) == Approx(1e6 * static_cast<double>(0.1f)).epsilon(1e-6));
  CHECK(as_scalar(mean_elems(x).value()) == Approx(0.1f).epsilon(1e-6));
  const Expression losses = constant(g, Dim({1}, 1000000), 0.1f);
  CHECK(as_scalar(sum_batches(losses).value()) ==
        Approx(1e6 * static_cast<double>(0.1f)).epsilon(1e-6));
}

TEST_CASE("reductions: a deviation of zero has a gradient of zero") {
  auto [model, p, g, x] = Variable({3, 2}, {0.1f, 0.1f, 0.1f, 1, 2, 3});
  const Expression y = std_dim(x, {0});
  CHECK(as_vector(y.value())[0] == Approx(0).margin(1e-7));
  CHECK(as_vector(y.value())[1] == Approx(std::sqrt(2.0 / 3)));
  p.set_value({0.25f, 0.25f, 0.25f, 2, 2, 2});
  g.invalidate();
  g.backward(sum_elems(y));
  CHECK(as_vector(p.gradients()) == std::vector<float>(6, 0));
}

TEST_CASE("max_dim, min_dim: the first of several equal elements gets the gradient") {
  auto [model, p, g, x] = Variable({2, 3}, {1, 5, 1, 5, 1, 5});
  g.backward(sum_elems(max_dim(x, 1)) + sum_elems(cmult(min_dim(x), input(g, {3}, {2, 3, 4}))));
  CHECK(as_vector(p.gradients()) == std::vector<float>{3, 1, 3, 0, 4, 0});
}

}  // namespace dynet::test
