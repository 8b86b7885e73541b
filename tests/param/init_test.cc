#include <fstream>

#include "dynet-like/param/storage.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace init_test {

using namespace dynet;

namespace {

struct Moments {
  double mean = 0, variance = 0, low = 1e30, high = -1e30;
};

Moments moments(const Tensor& t) {
  Moments m;
  const std::size_t n = t.d.size();
  for (std::size_t i = 0; i < n; ++i) {
    m.mean += t.v[i] / static_cast<double>(n);
    m.low = std::min<double>(m.low, t.v[i]);
    m.high = std::max<double>(m.high, t.v[i]);
  }
  for (std::size_t i = 0; i < n; ++i)
    m.variance += (t.v[i] - m.mean) * (t.v[i] - m.mean) / static_cast<double>(n);
  return m;
}

Moments moments_of(const Dim& d, const ParameterInit& init) {
  ParameterCollection pc;
  return moments(pc.add_parameters(d, init).values());
}

}  // namespace

TEST_CASE("initializers have their moments") {
  const Dim d({200, 500});  // standard error of the mean: stddev / 316
  const Moments normal = moments_of(d, ParameterInitNormal(1.5f, 4.0f));
  CHECK(normal.mean == Approx(1.5).margin(0.03));
  CHECK(normal.variance == Approx(4.0).epsilon(0.03));

  const Moments uniform = moments_of(d, ParameterInitUniform(-1.0f, 3.0f));
  CHECK(uniform.mean == Approx(1.0).margin(0.02));
  CHECK(uniform.variance == Approx(16.0 / 12).epsilon(0.03));
  CHECK(uniform.low >= -1.0);
  CHECK(uniform.low < -0.999);
  CHECK(uniform.high <= 3.0);
  CHECK(uniform.high > 2.999);

  const Moments scale = moments_of(d, ParameterInitUniform(0.5f));
  CHECK(scale.low >= -0.5);
  CHECK(scale.high <= 0.5);

  const Moments constant = moments_of(d, ParameterInitConst(-2.0f));
  CHECK(constant.low == -2.0);
  CHECK(constant.high == -2.0);
}

TEST_CASE("Glorot scales by the sizes") {
  const auto bound = [](const Dim& d, const ParameterInit& init) {
    const Moments m = moments_of(d, init);
    return std::max(-m.low, m.high);
  };
  const ParameterInitGlorot plain;
  CHECK(bound(Dim({300, 100}), plain) == Approx(std::sqrt(6.0 / 400)).epsilon(0.01));
  CHECK(bound(Dim({10000}), plain) == Approx(std::sqrt(3.0 / 10000)).epsilon(0.01));
  CHECK(bound(Dim({50, 40, 30}), plain) == Approx(std::sqrt(9.0 / 120)).epsilon(0.01));
  CHECK(bound(Dim({5, 7, 20, 40}), plain) == Approx(std::sqrt(6.0 / (35 * 60))).epsilon(0.01));
  CHECK(bound(Dim({300, 100}), ParameterInitGlorot(false, 2.0f)) ==
        Approx(2 * std::sqrt(6.0 / 400)).epsilon(0.01));

  ParameterCollection pc;  // of a table the number of rows does not count
  auto table = pc.add_lookup_parameters(1000, Dim({50}));
  const Moments m = moments({table.stored().full_dim(), table.stored().data});
  CHECK(std::max(-m.low, m.high) == Approx(std::sqrt(3.0 / 50)).epsilon(0.01));
}

TEST_CASE("He scales by the values that an output depends on") {
  const ParameterInitHe he;
  const Moments matrix = moments_of(Dim({500, 200}), he);
  CHECK(matrix.mean == Approx(0.0).margin(0.002));
  CHECK(matrix.variance == Approx(2.0 / 200).epsilon(0.03));
  CHECK(moments_of(Dim({40, 50, 60}), he).variance == Approx(2.0 / 3000).epsilon(0.03));
  CHECK(moments_of(Dim({5, 4, 30, 200}), he).variance == Approx(2.0 / 600).epsilon(0.03));
  CHECK(moments_of(Dim({500, 200}), ParameterInitHe(1.0f)).variance ==
        Approx(1.0 / 200).epsilon(0.03));
  CHECK_THROWS_AS(moments_of(Dim({500}), he), ShapeError);
  CHECK_NOTHROW(moments_of(Dim({3, 0}), he));
}

TEST_CASE("a truncated normal keeps its shape within its bounds") {
  // Variance of a standard normal within +-c: 1 - 2 c phi(c) / (2 Phi(c) - 1)
  for (const double c : {0.3, 1.0, 2.0, 3.0}) {
    const Moments m = moments_of(Dim({200, 500}),
                                 ParameterInitTruncatedNormal(1.0f, 4.0f, static_cast<float>(c)));
    const double phi = std::exp(-c * c / 2) / std::sqrt(2 * 3.14159265358979);
    const double variance = 4 * (1 - 2 * c * phi / std::erf(c / std::sqrt(2.0)));
    CHECK(m.mean == Approx(1.0).margin(0.02));
    CHECK(m.variance == Approx(variance).epsilon(0.03));
    CHECK(m.low >= 1 - 2 * c - 1e-5);
    CHECK(m.high <= 1 + 2 * c + 1e-5);
    CHECK(m.high > 1 + 2 * c * 0.95);
    CHECK(m.low < 1 - 2 * c * 0.95);
  }
  CHECK_THROWS_AS(ParameterInitTruncatedNormal(0.0f, -1.0f), ArgumentError);
  CHECK_THROWS_AS(ParameterInitTruncatedNormal(0.0f, 1.0f, 0.0f), ArgumentError);
}

TEST_CASE("identity and orthonormal initializers") {
  ParameterCollection pc;
  const Tensor id = pc.add_parameters(Dim({3, 3}), ParameterInitIdentity()).values();
  CHECK(as_vector(id) == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK_THROWS_AS(pc.add_parameters(Dim({3, 4}), ParameterInitIdentity()), ShapeError);
  CHECK_THROWS_AS(pc.add_parameters(Dim({3, 3, 3}), ParameterInitSaxe()), ShapeError);

  for (const Dim& d : {Dim({40, 25}), Dim({25, 40}), Dim({30, 30}), Dim({7})}) {
    const Tensor t = pc.add_parameters(d, ParameterInitSaxe(1.5f)).values();
    const std::size_t rows = d.rows(), cols = d.cols();
    const bool tall = rows >= cols;
    const std::size_t n = tall ? cols : rows, len = tall ? rows : cols;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double dot = 0;
        for (std::size_t k = 0; k < len; ++k)
          dot +=
              tall ? t.v[i * rows + k] * t.v[j * rows + k] : t.v[k * rows + i] * t.v[k * rows + j];
        CHECK(dot == Approx(i == j ? 2.25 : 0.0).margin(1e-5));
      }
  }
}

TEST_CASE("values from a vector and from a file") {
  ParameterCollection pc;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  CHECK(as_vector(pc.add_parameters(Dim({2, 3}), ParameterInitFromVector(values)).values()) ==
        values);
  CHECK_THROWS_AS(pc.add_parameters(Dim({2, 2}), ParameterInitFromVector(values)), ShapeError);

  const TemporaryFolder folder;
  const std::string path = folder / "values";
  std::ofstream(path) << "1 2\n3 4\n5 6\n";
  CHECK(as_vector(pc.add_parameters(Dim({2, 3}), ParameterInitFromFile(path)).values()) == values);
  CHECK_THROWS_AS(pc.add_parameters(Dim({4}), ParameterInitFromFile("no such file")), FileError);
  CHECK(pc.size() == 2);  // a failed initialization leaves no parameter behind
}

TEST_CASE("initial values depend on seed and name alone") {
  const auto values = [](std::uint64_t seed, bool others) {
    ParameterCollection pc;
    pc.set_seed(seed);
    if (others) {
      pc.add_parameters({10}, "first");
      pc.add_lookup_parameters(3, {4}, "table");
    }
    auto sub = pc.add_subcollection("sub");
    if (others) sub.add_parameters({10});
    return as_vector(sub.add_parameters({4, 5}, "W").values());
  };
  CHECK(values(7, false) == values(7, true));
  CHECK(values(7, false) != values(8, false));

  ParameterCollection pc;
  const auto a = as_vector(pc.add_parameters({50}, "a").values());
  const auto b = as_vector(pc.add_parameters({50}, "b").values());
  CHECK(a != b);
  CHECK_THROWS_AS(ParameterInitNormal(0.0f, -1.0f), ArgumentError);
  CHECK_THROWS_AS(ParameterInitUniform(1.0f, -1.0f), ArgumentError);
}

TEST_CASE("the draws of an initializer have nothing in common with each other") {
  // Correlation of values and magnitudes `lag` steps apart: a draw that decides two values, or the
  // magnitude of one and the other value, shows in it.
  const auto correlation = [](const std::vector<double>& a, const std::vector<double>& b,
                              std::size_t lag) {
    const std::size_t n = a.size() - lag;
    double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < n; ++i) ma += a[i], mb += b[i + lag];
    ma /= static_cast<double>(n), mb /= static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = a[i] - ma, y = b[i + lag] - mb;
      ab += x * y, aa += x * x, bb += y * y;
    }
    return ab / std::sqrt(aa * bb);
  };
  const auto check = [&](const char* name, const ParameterInit& init, double middle = 0) {
    CAPTURE(name);
    ParameterCollection pc;
    const auto values = as_vector(pc.add_parameters(Dim({200, 500}), init).values());
    std::vector<double> x(values.begin(), values.end()), size;
    for (double& v : x) size.push_back(std::abs(v -= middle));
    for (const std::size_t lag : {1u, 2u, 3u}) {  // standard error: 0.003
      CAPTURE(lag);
      CHECK(std::abs(correlation(x, x, lag)) < 0.02);
      CHECK(std::abs(correlation(size, x, lag)) < 0.02);
      CHECK(std::abs(correlation(x, size, lag)) < 0.02);
      CHECK(std::abs(correlation(size, size, lag)) < 0.02);
    }
  };
  check("normal", ParameterInitNormal());
  check("uniform", ParameterInitUniform(-1, 3), 1);
  check("Glorot", ParameterInitGlorot());
  check("He", ParameterInitHe());
  for (const float cutoff : {0.5f, 1.0f, 1.25f, 1.3f, 2.0f})
    check("truncated", ParameterInitTruncatedNormal(0, 1, cutoff));
}

}  // namespace init_test
