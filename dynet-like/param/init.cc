#include "dynet-like/param/init.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

void fill_uniform(Tensor& values, const RandomStream& random, double left, double right) {
  const std::size_t n = values.d.size();
  for (std::size_t i = 0; i < n; ++i)
    values.v[i] = static_cast<float>(left + (right - left) * random.uniform(i));
}

void need_matrix(const Tensor& values, const char* who, bool square) {
  if (values.d.rank() > 2 || (square && values.d.rows() != values.d.cols()))
    throw ShapeError(std::string(who) + ": the shape must be a " + (square ? "square " : "") +
                     "matrix, got " + to_string(values.d));
}

void need_variance(float variance, const char* who) {
  if (!(variance >= 0 && std::isfinite(variance)))
    throw ArgumentError(std::string(who) + ": the variance must be finite and not negative, got " +
                        std::to_string(variance));
}

float finite(float value, const char* who, const char* name) {
  if (!std::isfinite(value))
    throw ArgumentError(std::string(who) + ": " + name + " must be finite, got " +
                        std::to_string(value));
  return value;
}

}  // namespace

void ParameterInit::initialize_params(Tensor&) const {
  throw ArgumentError("ParameterInit: this kind draws at random and needs a RandomStream");
}

ParameterInitNormal::ParameterInitNormal(float mean, float variance)
    : mean_(finite(mean, "ParameterInitNormal", "the mean")), stddev_(std::sqrt(variance)) {
  need_variance(variance, "ParameterInitNormal");
}

void ParameterInitNormal::initialize(Tensor& values, const RandomStream& random) const {
  const std::size_t n = values.d.size();
  for (std::size_t i = 0; i < n; ++i)
    values.v[i] = static_cast<float>(mean_ + stddev_ * random.normal(i));
}

ParameterInitUniform::ParameterInitUniform(float scale) : ParameterInitUniform(-scale, scale) {}

ParameterInitUniform::ParameterInitUniform(float left, float right) : left_(left), right_(right) {
  if (!(left <= right && std::isfinite(left) && std::isfinite(right)))
    throw ArgumentError("ParameterInitUniform: needs a finite interval from left to right, got " +
                        std::to_string(left) + " and " + std::to_string(right));
}

void ParameterInitUniform::initialize(Tensor& values, const RandomStream& random) const {
  fill_uniform(values, random, left_, right_);
}

ParameterInitConst::ParameterInitConst(float c)
    : c_(finite(c, "ParameterInitConst", "the value")) {}

void ParameterInitConst::initialize(Tensor& values, const RandomStream&) const {
  std::fill_n(values.v, values.d.size(), c_);
}

void ParameterInitIdentity::initialize(Tensor& values, const RandomStream&) const {
  need_matrix(values, "ParameterInitIdentity", true);
  const std::size_t n = values.d.rows();
  std::fill_n(values.v, n * n, 0.0f);
  for (std::size_t i = 0; i < n; ++i) values.v[i * n + i] = 1.0f;
}

ParameterInitGlorot::ParameterInitGlorot(bool is_lookup, float gain)
    : lookup_(is_lookup), gain_(finite(gain, "ParameterInitGlorot", "the gain")) {}

void ParameterInitGlorot::initialize(Tensor& values, const RandomStream& random) const {
  const Dim& d = values.d;
  const unsigned k = d.nd - (lookup_ && d.nd > 0 ? 1 : 0);
  double fans = 0, count = k;
  if (k == 4) {
    fans = static_cast<double>(d[0]) * d[1] * (static_cast<double>(d[2]) + d[3]);
    count = 2;
  } else {
    for (unsigned i = 0; i < k; ++i) fans += d[i];
  }
  const double scale = fans > 0 ? gain_ * std::sqrt(3.0 * count) / std::sqrt(fans) : 0.0;
  fill_uniform(values, random, -scale, scale);
}

ParameterInitHe::ParameterInitHe(float gain) : gain_(finite(gain, "ParameterInitHe", "the gain")) {}

void ParameterInitHe::initialize(Tensor& values, const RandomStream& random) const {
  const Dim& d = values.d;
  if (d.nd < 2)
    throw ShapeError("ParameterInitHe: needs a matrix or more, of which it takes the fan-in, got " +
                     to_string(d));
  double fan_in = 1;
  for (unsigned i = 0; i < d.nd; ++i)
    if (i != (d.nd == 4 ? 3u : 0u)) fan_in *= d[i];
  const double stddev = fan_in > 0 ? gain_ / std::sqrt(fan_in) : 0.0;
  const std::size_t n = d.size();
  for (std::size_t i = 0; i < n; ++i) values.v[i] = static_cast<float>(stddev * random.normal(i));
}

ParameterInitTruncatedNormal::ParameterInitTruncatedNormal(float mean, float variance, float cutoff)
    : mean_(finite(mean, "ParameterInitTruncatedNormal", "the mean")),
      stddev_(std::sqrt(variance)),
      cutoff_(cutoff) {
  need_variance(variance, "ParameterInitTruncatedNormal");
  if (!(cutoff > 0))
    throw ArgumentError("ParameterInitTruncatedNormal: the cutoff must be above 0, got " +
                        std::to_string(cutoff));
}

void ParameterInitTruncatedNormal::initialize(Tensor& values, const RandomStream& random) const {
  std::uint64_t draw = 0;
  const double c = cutoff_;
  const auto standard = [&] {
    if (c > 1.25)
      for (;;)
        if (const double x = random.normal(draw++); std::abs(x) <= c) return x;
    for (;;) {  // a small cutoff would reject most Gaussian draws
      const double x = c * (2 * random.uniform(draw) - 1), y = random.uniform(draw + 1);
      draw += 2;
      if (y < std::exp(-x * x / 2)) return x;
    }
  };
  const std::size_t n = values.d.size();
  for (std::size_t i = 0; i < n; ++i)
    values.v[i] = static_cast<float>(mean_ + stddev_ * standard());
}

ParameterInitSaxe::ParameterInitSaxe(float gain)
    : gain_(finite(gain, "ParameterInitSaxe", "the gain")) {}

void ParameterInitSaxe::initialize(Tensor& values, const RandomStream& random) const {
  need_matrix(values, "ParameterInitSaxe", false);
  const std::size_t rows = values.d.rows(), cols = values.d.cols();
  const bool tall = rows >= cols;
  const std::size_t n = tall ? cols : rows, len = tall ? rows : cols;
  std::vector<std::vector<double>> basis(n, std::vector<double>(len));
  std::uint64_t draw = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double>& v = basis[i];
    double norm = 0;
    do {  // rejects a vector almost in the span of the earlier ones
      for (double& x : v) x = random.normal(draw++);
      for (int pass = 0; pass < 2; ++pass)  // two passes give full precision (Giraud et al. 2005)
        for (std::size_t j = 0; j < i; ++j) {
          double dot = 0;
          for (std::size_t k = 0; k < len; ++k) dot += v[k] * basis[j][k];
          for (std::size_t k = 0; k < len; ++k) v[k] -= dot * basis[j][k];
        }
      norm = 0;
      for (double x : v) norm += x * x;
      norm = std::sqrt(norm);
    } while (norm < 1e-6);
    for (double& x : v) x /= norm;
  }
  for (std::size_t j = 0; j < cols; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      values.v[j * rows + i] = static_cast<float>(gain_ * (tall ? basis[j][i] : basis[i][j]));
}

void ParameterInitFromFile::initialize(Tensor& values, const RandomStream&) const {
  std::ifstream in(path_);
  if (!in) throw FileError("ParameterInitFromFile: cannot open " + path_);
  const std::size_t n = values.d.size();
  std::vector<float> read;
  float x;
  while (read.size() <= n && in >> x) read.push_back(x);
  if (!in.eof() && read.size() <= n)
    throw FileError("ParameterInitFromFile: " + path_ + ": value " +
                    std::to_string(read.size() + 1) + " is not a number");
  if (read.size() != n)
    throw FileError("ParameterInitFromFile: " + path_ + ": needs " + std::to_string(n) +
                    " numbers, got " + (read.size() > n ? "more" : std::to_string(read.size())));
  std::copy(read.begin(), read.end(), values.v);
}

void ParameterInitFromVector::initialize(Tensor& values, const RandomStream&) const {
  if (values_.size() != values.d.size())
    throw ShapeError("ParameterInitFromVector: needs " + std::to_string(values.d.size()) +
                     " values, got " + std::to_string(values_.size()));
  std::copy(values_.begin(), values_.end(), values.v);
}

}  // namespace dynet
