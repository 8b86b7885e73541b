#include "tests/ops/accuracy.h"

#include <numbers>

#include "dynet-like/ops/families.h"

namespace dynet::test {
namespace {

using Limits = std::numeric_limits<float>;

Exact logistic_of(Exact x) { return 1 / (1 + std::exp(-x)); }
Exact zero(Exact) { return 0; }
Exact square_of(Exact x) { return x * x; }
constexpr Exact kPi = std::numbers::pi_v<Exact>;
constexpr Exact kNone = std::numeric_limits<Exact>::quiet_NaN();

/// The derivative of log |Gamma(x)|.
Exact digamma_of(Exact x) {
  if (x <= 0) {
    const Exact near = x - std::round(x);
    if (!(near != 0) || std::isinf(x)) return kNone;
    return digamma_of(1 - x) - kPi / std::tan(kPi * near);
  }
  Exact steps = 0;
  for (; x < 40; x += 1) steps += 1 / x;
  const Exact z = 1 / (x * x);
  const Exact series =
      z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z / 132))));
  return std::log(x) - 0.5L / x - series - steps;
}

Exact sign_of(Exact x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// All over the range of float, above all where something changes.
std::vector<float> points() {
  std::vector<float> p = {0.0f,
                          -0.0f,
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::max(),
                          Limits::lowest(),
                          Limits::min(),
                          -Limits::min(),
                          Limits::denorm_min(),
                          -Limits::denorm_min(),
                          Limits::quiet_NaN()};
  for (double e = -149.5; e < 128; e += 0.173)
    for (const double s : {1.0, -1.0}) p.push_back(static_cast<float>(s * std::exp2(e)));
  for (double x = -110; x < 110; x += 0.1037) p.push_back(static_cast<float>(x));
  for (double x = -4; x < 4; x += 0.0113) p.push_back(static_cast<float>(x));
  for (const double at :
       {1.0,        0.5,        2.0, 0.25,      0.34657359, 0.41421356, 0.70710678,
        1.41421356, 1.5,        3.0, 10.0,      16.6,       87.3365,    88.0,
        88.7228,    103.9721,   0.7, 1.2784645, 1.46163214, 2.45702474, 3.14159265,
        1.57079633, 6.28318531, 1e4, 1e10})
    for (const double s : {1.0, -1.0}) {
      float up = static_cast<float>(s * at), down = up;
      for (int k = 0; k < 6; ++k) {
        p.push_back(up), p.push_back(down);
        up = std::nextafter(up, Limits::infinity());
        down = std::nextafter(down, -Limits::infinity());
      }
      for (const double near : {1e-5, 1e-4, 1e-3, 1e-2})
        p.push_back(static_cast<float>(s * at * (1 + near))),
            p.push_back(static_cast<float>(s * at * (1 - near)));
    }
  return p;
}

/// The worst relative error so far, and where it was.
template <class T>
class Worst {
 public:
  explicit Worst(std::string what) : what_(std::move(what)) {}

  void look(Exact expected, T got, Exact least, const std::string& at) {
    const Bounds b = bounds<T>();
    const auto largest = static_cast<Exact>(std::numeric_limits<T>::max());
    ++count_;
    bool good;
    if (std::isnan(expected)) {
      good = std::isnan(got);
    } else if (std::abs(expected) > largest * (1 - b.relative)) {  // too large, or nearly
      good = expected > 0 ? static_cast<Exact>(got) >= largest * (1 - 2 * b.relative)
                          : static_cast<Exact>(got) <= -largest * (1 - 2 * b.relative);
    } else {
      const Exact error = std::abs(static_cast<Exact>(got) - expected);
      const Exact size = std::max(std::abs(expected), least);
      good = error <= b.relative * size + b.smallest;
      if (good && error > b.smallest) worst_ = std::max(worst_, error / size);
    }
    if (good) return;
    if (++bad_ <= 5) {
      std::ostringstream line;
      line << "\n  at " << at << ": " << static_cast<double>(got) << ", expected "
           << static_cast<double>(expected);
      examples_ += line.str();
    }
  }
  void end() const {
    INFO(what_ << ": " << bad_ << " of " << count_ << " are wrong, the others by "
               << static_cast<double>(worst_) << examples_);
    CHECK(bad_ == 0);
  }

 private:
  std::string what_, examples_;
  Exact worst_ = 0;
  std::size_t bad_ = 0, count_ = 0;
};

std::string text(float x) {
  char s[32];
  std::snprintf(s, sizeof s, "%.9g", static_cast<double>(x));
  return s;
}

/// The values, and their gradients by each operand.
template <class T>
struct Made {
  std::vector<T> value, slopes[2];
};
template <class T>
Made<T> run(const std::vector<std::vector<float>>& xs, std::size_t piece,
            const std::function<Expression(const std::vector<Expression>&)>& build,
            const MakeRunner<T>& make) {
  ComputationGraph g;
  ParameterCollection model;
  std::vector<std::vector<Expression>> operands;
  std::vector<Expression> results, losses;
  const std::size_t n = xs[0].size();
  for (std::size_t at = 0; at < n; at += piece) {
    const std::size_t length = std::min(piece, n - at);
    operands.emplace_back();
    for (const auto& x : xs) {
      Parameter p = model.add_parameters({static_cast<unsigned>(length)}, ParameterInitConst(0));
      p.set_value(std::vector<float>(x.begin() + static_cast<std::ptrdiff_t>(at),
                                     x.begin() + static_cast<std::ptrdiff_t>(at + length)));
      operands.back().push_back(parameter(g, p));
    }
    results.push_back(build(operands.back()));
    losses.push_back(sum_elems(results.back()));
  }
  Executor<T> executor(g.store(), PlanPolicy::in_batches, make());
  executor.backward(sum(losses).i, true);
  Made<T> made;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto append = [&](std::vector<T>& to, const T* from, const Expression& of) {
      from = executor.backend(of.i).read(from, of.dim().size());
      to.insert(to.end(), from, from + of.dim().size());
    };
    append(made.value, executor.value(results[k].i), results[k]);
    for (std::size_t o = 0; o < xs.size(); ++o)
      append(made.slopes[o], executor.gradient(operands[k][o].i), operands[k][o]);
  }
  return made;
}

}  // namespace

template <>
Bounds bounds<float>() {
  return {1e-6L, static_cast<Exact>(std::numeric_limits<float>::min())};
}
template <>
Bounds bounds<double>() {
  return {2e-14L, static_cast<Exact>(std::numeric_limits<double>::min())};
}

#define EXACT(...) [=](Exact x) { return __VA_ARGS__; }
#define EXACT_XY(...) [=](Exact x, Exact y) { return __VA_ARGS__; }

std::vector<AccuracyCase> accuracy_cases() {
  using E = const Expression&;
  using F = Exact (*)(Exact);
  std::vector<AccuracyCase> all;
  const auto add = [&](const char* name, std::function<Expression(E)> build, auto value,
                       auto slope) -> AccuracyCase& {
    AccuracyCase& c = all.emplace_back();
    c.name = name, c.build = std::move(build), c.value = value, c.slope = slope;
    return c;
  };
  const auto one = [](Exact) { return Exact(1); };
  add("-x", OF_X(-x), EXACT(-x), [](Exact) { return Exact(-1); });
  add("x + 1.5", OF_X(x + 1.5f), EXACT(x + 1.5L), one);
  add("x - 1.5", OF_X(x - 1.5f), EXACT(x - 1.5L), one);
  add("1.5 - x", OF_X(1.5f - x), EXACT(1.5L - x), [](Exact) { return Exact(-1); });
  add("x * 2.5", OF_X(x * 2.5f), EXACT(x * 2.5L), [](Exact) { return 2.5L; });
  add("x / 3", OF_X(x / 3.0f), EXACT(x / 3), [](Exact) { return 1 / 3.0L; });
  // Backward reads only the value, and knows no more than it about how far that is from its limits.
  add("tanh", OF_X(tanh(x)), F(std::tanh), EXACT(1 / square_of(std::cosh(x)))).least_slope = one;
  add("logistic", OF_X(logistic(x)), logistic_of, EXACT(logistic_of(x) * logistic_of(-x)))
      .least_slope = EXACT(x < 0 ? 0 : 0.25L);
  add("rectify", OF_X(rectify(x)), EXACT(x <= 0 ? 0 : x), EXACT(Exact(x > 0)));
  add("exp", OF_X(exp(x)), F(std::exp), F(std::exp));
  add("log", OF_X(log(x)), F(std::log), EXACT(1 / x));
  add("sqrt", OF_X(sqrt(x)), F(std::sqrt), EXACT(1 / (2 * std::sqrt(x))));
  add("square", OF_X(square(x)), square_of, EXACT(2 * x));
  add("cube", OF_X(cube(x)), EXACT(x * x * x), EXACT(3 * x * x));
  add("abs", OF_X(abs(x)), F(std::fabs), sign_of);
  add("log_sigmoid", OF_X(log_sigmoid(x)),
      EXACT(x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x))),
      EXACT(logistic_of(-x)));
  add("softsign", OF_X(softsign(x)), EXACT(std::isinf(x) ? sign_of(x) : x / (1 + std::abs(x))),
      EXACT(1 / square_of(1 + std::abs(x))));
  add("elu", OF_X(elu(x, 0.7f)), EXACT(x > 0 ? x : Exact(0.7f) * std::expm1(x)),
      EXACT(x > 0 ? 1 : Exact(0.7f) * std::exp(x)));
  for (const float beta : {1.0f, 0.7f})
    add("silu", OF_X(silu(x, beta)),
        EXACT(x == -Limits::infinity() ? 0 : x * logistic_of(Exact(beta) * x)),
        [beta](Exact x) {
          const Exact z = Exact(beta) * x, up = logistic_of(z);
          return std::isinf(x) ? Exact(x > 0) : up * (1 + z * logistic_of(-z));
        })
        .least_slope = [beta](Exact x) {  // beside where it is zero
      return std::abs(Exact(beta) * x + 1.278L) < 0.1L ? 0.02L : 0;
    };
  add("erf", OF_X(erf(x)), F(std::erf), EXACT(2 / std::sqrt(kPi) * std::exp(-x * x)));
  AccuracyCase& gamma = add("lgamma", OF_X(lgamma(x)), F(std::lgamma), digamma_of);
  gamma.least_slope = [](Exact) { return 0.1L; };  // beside where it is zero
  add("sin", OF_X(sin(x)), F(std::sin), F(std::cos));
  add("cos", OF_X(cos(x)), F(std::cos), EXACT(-std::sin(x)));
  add("tan", OF_X(tan(x)), F(std::tan), EXACT(1 / square_of(std::cos(x))));
  add("asin", OF_X(asin(x)), F(std::asin), EXACT(1 / std::sqrt((1 - x) * (1 + x))));
  add("acos", OF_X(acos(x)), F(std::acos), EXACT(-1 / std::sqrt((1 - x) * (1 + x))));
  add("atan", OF_X(atan(x)), F(std::atan), EXACT(1 / (1 + x * x)));
  add("sinh", OF_X(sinh(x)), F(std::sinh), F(std::cosh));
  add("cosh", OF_X(cosh(x)), F(std::cosh), F(std::sinh));
  add("asinh", OF_X(asinh(x)), F(std::asinh), EXACT(1 / std::sqrt(1 + x * x)));
  add("acosh", OF_X(acosh(x)), F(std::acosh), EXACT(1 / (std::sqrt(x - 1) * std::sqrt(x + 1))));
  add("atanh", OF_X(atanh(x)), F(std::atanh), EXACT(1 / ((1 - x) * (1 + x))));
  add("round", OF_X(round(x, zero_gradient)), F(std::round), zero);
  add("ceil", OF_X(ceil(x, zero_gradient)), F(std::ceil), zero);
  add("floor", OF_X(floor(x, straight_through_gradient)), F(std::floor), one);
  return all;
}

std::vector<BinaryAccuracyCase> binary_accuracy_cases() {
  const std::vector<float> wide = {0.0f,  1e-45f, -3e-40f, 1e-38f,  2e-30f, -1e-20f, 3e-7f, 0.3f,
                                   -0.5f, 1.0f,   -1.0f,   1.0001f, 2.0f,   -3.0f,   7.3f,  88.0f,
                                   -1e3f, 3e5f,   1e10f,   -2e19f,  1e30f,  3e38f};
  std::vector<BinaryAccuracyCase> all;
  all.push_back({"x - y", OF_XY(x - y), EXACT_XY(x - y), [](Exact, Exact) { return Exact(1); },
                 [](Exact, Exact) { return Exact(-1); }, wide, wide});
  all.push_back({"cmult", OF_XY(cmult(x, y)), EXACT_XY(x * y), [](Exact, Exact y) { return y; },
                 [](Exact x, Exact) { return x; }, wide, wide});
  std::vector<float> divisors = wide;
  divisors.erase(divisors.begin());
  all.push_back({"cdiv", OF_XY(cdiv(x, y)), EXACT_XY(x / y), [](Exact, Exact y) { return 1 / y; },
                 EXACT_XY(-x / y / y), wide, divisors});
  std::vector<float> exponents = {0.0f, 1e-20f, 0.3f, -0.3f, 1.0f,  -1.0f, 1.0001f, 2.0f, -2.0f,
                                  3.0f, -3.0f,  7.3f, -7.3f, 20.0f, 88.5f, -88.5f,  1e3f, 1e10f};
  std::vector<float> bases = {0.0f, -1.0f, -2.0f, -1e10f, -1e-20f, 1e-45f, 3e-39f, 1e38f};
  for (double e = -126; e < 127; e += 3.7) bases.push_back(static_cast<float>(std::exp2(e)));
  for (double x = 0.6; x < 1.6; x += 0.0137) bases.push_back(static_cast<float>(x));
  all.push_back({"pow", OF_XY(pow(x, y)), EXACT_XY(std::pow(x, y)),
                 EXACT_XY(y == 0 ? 0 : y * std::pow(x, y - 1)),
                 EXACT_XY(x == 0 ? 0 : std::pow(x, y) * std::log(x)), bases, exponents});
  const auto least = [](Exact p) { return std::max(p, Exact(0x1p-126)); };
  const auto log_of_rest = EXACT(x == 1 ? std::log(Exact(0x1p-126)) : std::log1p(-x));
  std::vector<float> chances = {
      0.0f,  1.0f,    1e-45f,       1e-38f,          1e-30f, 1e-10f,         1e-7f,
      1e-3f, 0.9999f, 1 - 0x1p-24f, 0.5f - 0x1p-25f, 0.5f,   0.5f + 0x1p-24f};
  for (double x = 0.005; x < 1; x += 0.01) chances.push_back(static_cast<float>(x));
  all.push_back(
      {"binary_log_loss",
       OF_XY(binary_log_loss(x, y)),
       EXACT_XY((y == 0 ? 0 : -y * std::log(least(x))) - (y == 1 ? 0 : (1 - y) * log_of_rest(x))),
       [=](Exact x, Exact y) {
         if (x == y) return Exact(0);
         const Exact inside = x == 1 ? 1 - Exact(0x1p-23) : least(x);
         return (y == 1 ? 0 : (1 - y) / (1 - inside)) - (y == 0 ? 0 : y / inside);
       },
       [=](Exact x, Exact) { return log_of_rest(x) - std::log(least(x)); },
       chances,
       {0.0f, 1.0f, 0.25f, 0.5f, 0.999f, 1e-6f}});
  return all;
}

template <class T>
void check_accuracy(const AccuracyCase& c, const MakeRunner<T>& make) {
  const std::vector<float> x = points();
  for (const std::size_t piece : {x.size(), std::size_t{7}}) {
    const Made<T> made = run<T>(
        {x}, piece, [&](const auto& operands) { return c.build(operands[0]); }, make);
    const std::string where = c.name + " in pieces of " + std::to_string(piece);
    Worst<T> values(where), slopes("gradient of " + where);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto at = static_cast<Exact>(x[k]);
      values.look(c.value(at), made.value[k], 0, text(x[k]));
      const Exact slope = c.slope(at);
      // Outside of where a function is defined its gradient may be anything.
      if (!std::isnan(c.value(at)) && !std::isnan(slope))
        slopes.look(slope, made.slopes[0][k], c.least_slope(at), text(x[k]));
    }
    values.end();
    slopes.end();
  }
}
template void check_accuracy(const AccuracyCase&, const MakeRunner<float>&);
template void check_accuracy(const AccuracyCase&, const MakeRunner<double>&);

template <class T>
void check_accuracy(const BinaryAccuracyCase& c, const MakeRunner<T>& make) {
  std::vector<float> x, y;
  for (const float u : c.x)
    for (const float v : c.y) x.push_back(u), y.push_back(v);
  const bool reduces = c.name == "binary_log_loss";
  for (const std::size_t piece : {x.size(), std::size_t{7}, std::size_t{1}}) {
    const bool all = !reduces || piece == 1;  // else only the gradients are those of elements
    const Made<T> made = run<T>(
        {x, y}, piece, [&](const auto& o) { return c.build(o[0], o[1]); }, make);
    const std::string where = c.name + " in pieces of " + std::to_string(piece);
    Worst<T> values(where), slopes("gradient of " + where);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto u = static_cast<Exact>(x[k]), v = static_cast<Exact>(y[k]);
      const std::string at = text(x[k]) + ", " + text(y[k]);
      if (all) values.look(c.value(u, v), made.value[k], 0, at);
      if (std::isnan(c.value(u, v))) continue;
      const Exact by_x = c.slope_x(u, v), by_y = c.slope_y(u, v);
      if (!std::isnan(by_x)) slopes.look(by_x, made.slopes[0][k], 0, "x of " + at);
      if (!std::isnan(by_y)) slopes.look(by_y, made.slopes[1][k], 0, "y of " + at);
    }
    values.end();
    slopes.end();
  }
}
template void check_accuracy(const BinaryAccuracyCase&, const MakeRunner<float>&);
template void check_accuracy(const BinaryAccuracyCase&, const MakeRunner<double>&);

}  // namespace dynet::test

using namespace dynet;
using namespace dynet::test;

TEST_CASE("every elementwise operation is right to 1e-6 of its value") {
  for (const AccuracyCase& c : accuracy_cases()) {
    check_accuracy<float>(c, [] { return Backend<float>(); });
    check_accuracy<double>(c, [] { return Backend<double>(); });
  }
}

TEST_CASE("operations of two elements are right to 1e-6 of their values") {
  for (const BinaryAccuracyCase& c : binary_accuracy_cases()) {
    check_accuracy<float>(c, [] { return Backend<float>(); });
    check_accuracy<double>(c, [] { return Backend<double>(); });
  }
}

TEST_CASE("every elementwise operation has a case that says how right it is") {
  std::set<const OpForm*> seen;
  for (const AccuracyCase& c : accuracy_cases()) {
    ComputationGraph g;
    seen.insert(g.store().nodes[c.build(input(g, 1.0f)).i].form);
  }
  for (const OpForm* form : elementwise_ops()) {
    INFO(form->name.value);
    CHECK(seen.count(form) == 1);
  }
}

TEST_CASE("gates of an LSTM are right to 1e-6 of their values") {
  constexpr float kBias = 0.25f;
  std::vector<float> x;  // to which the bias can be added without rounding
  for (float v = -100; v <= 100; v += 0.375f) x.push_back(v);
  const auto h = static_cast<unsigned>(x.size());
  std::vector<float> sums;
  for (int gate = 0; gate < 4; ++gate) sums.insert(sums.end(), x.begin(), x.end());
  ComputationGraph g;
  const Expression gates = vanilla_lstm_gates(input(g, {4 * h}, sums), kBias);
  const std::vector<float> y = as_vector(gates.value());
  Worst<float> worst("gates");
  for (unsigned gate = 0; gate < 4; ++gate)
    for (unsigned k = 0; k < h; ++k) {
      const auto v = static_cast<Exact>(x[k]);
      const Exact expected = gate == 3   ? std::tanh(v)
                             : gate == 1 ? logistic_of(v + static_cast<Exact>(kBias))
                                         : logistic_of(v);
      worst.look(expected, y[gate * h + k], 0, "gate " + std::to_string(gate) + ", " + text(x[k]));
    }
  worst.end();
}
