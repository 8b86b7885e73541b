#include "dynet-like/compat/tensor_tools.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/compat/initialize.h"
#include "dynet-like/param/init.h"

namespace dynet {
namespace {

std::size_t check_element(const char* who, const Tensor& t, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= t.d.size())
    throw IndexError(std::string("TensorTools::") + who + ": element " + std::to_string(index) +
                     " is outside a tensor " + to_string(t.d));
  return static_cast<std::size_t>(index);
}

void check_count(const char* who, const Tensor& t, std::size_t n) {
  if (n != t.d.size())
    throw ShapeError(std::string("TensorTools::") + who + ": a tensor " + to_string(t.d) +
                     " needs " + std::to_string(t.d.size()) + " values, got " + std::to_string(n));
}

template <class F>
void each(Tensor& t, F f) {
  for (std::size_t i = 0; i < t.d.size(); ++i) t.v[i] = f(t.v[i]);
}

// The lines of elements along one dimension; element k of a line is at `first + k * step`.
struct Lines {
  std::size_t step, length, count;

  Lines(const char* who, const Dim& d, unsigned along) : step(1), length(d[along]) {
    if (along >= std::max(d.nd, 1u))
      throw IndexError(std::string("TensorTools::") + who + ": there is no dimension " +
                       std::to_string(along) + " in " + to_string(d));
    for (unsigned k = 0; k < along; ++k) step *= d[k];
    count = length ? d.size() / length : 0;
  }
  std::size_t first(std::size_t line) const { return first(line, length); }
  std::size_t first(std::size_t line, std::size_t size) const {
    return line / step * step * size + line % step;
  }
};

// Calls f(values, indices) for each line along `dim`; f fills in `num` indices.
template <class Choose>
IndexTensor choose(const char* who, const Tensor& t, unsigned dim, unsigned num, Choose f) {
  const Lines lines(who, t.d, dim);
  IndexTensor chosen;
  chosen.d = t.d;
  chosen.d.set(dim, num);
  chosen.v.resize(chosen.d.size());
  std::vector<std::ptrdiff_t> indices(num);
  std::vector<float> values(lines.length);
  for (std::size_t l = 0; l < lines.count; ++l) {
    for (std::size_t k = 0; k < lines.length; ++k) values[k] = t.v[lines.first(l) + k * lines.step];
    f(values, indices);
    for (unsigned i = 0; i < num; ++i) chosen.v[lines.first(l, num) + i * lines.step] = indices[i];
  }
  return chosen;
}

}  // namespace

Tensor make_tensor(const Dim& dim) {
  const auto values = std::make_shared<std::vector<float>>(dim.size());
  Tensor t(dim, values->data());
  t.memory = values;
  return t;
}

std::vector<std::ptrdiff_t> as_vector(const IndexTensor& t) { return t.v; }

std::ptrdiff_t as_scalar(const IndexTensor& t) {
  if (t.v.size() != 1)
    throw ArgumentError("as_scalar: needs exactly one index, got " + to_string(t.d));
  return t.v[0];
}

void TensorTools::clip(Tensor& t, float left, float right) {
  if (!(left <= right)) throw ArgumentError("TensorTools::clip: needs left <= right");
  each(t, [=](float x) { return std::clamp(x, left, right); });
}

void TensorTools::scale(Tensor& t, float left, float right) {
  each(t, [=](float x) { return left + (right - left) * x; });
}

void TensorTools::uniform_to_bernoulli(Tensor& t, float p) {
  each(t, [=](float x) { return x < p ? 1.0f : 0.0f; });
}

void TensorTools::constant(Tensor& t, float c) {
  each(t, [=](float) { return c; });
}

void TensorTools::zero(Tensor& t) { constant(t, 0); }

void TensorTools::identity(Tensor& t) {
  const std::size_t n = t.d.rows();
  if (t.d.rank() > 2 || t.d.cols() != n)
    throw ShapeError("TensorTools::identity: needs a square matrix, got " + to_string(t.d));
  zero(t);
  for (unsigned b = 0; b < t.d.bd; ++b)
    for (std::size_t i = 0; i < n; ++i) t.batch_ptr(b)[i * n + i] = 1;
}

void TensorTools::randomize_bernoulli(Tensor& t, real p, real scale) {
  if (!(p >= 0 && p <= 1))
    throw ArgumentError("TensorTools::randomize_bernoulli: needs a probability, got " +
                        std::to_string(p));
  each(t, [=](float) { return rand01() < p ? scale : 0.0f; });
}

void TensorTools::randomize_normal(Tensor& t, real mean, real stddev) {
  each(t, [=](float) { return mean + stddev * rand_normal(); });
}

void TensorTools::randomize_uniform(Tensor& t, real left, real right) {
  each(t, [=](float) { return left + (right - left) * rand01(); });
}

void TensorTools::randomize_orthonormal(Tensor& t, real scale) {
  ParameterInitSaxe(scale).initialize(t, RandomStream((*rndeng)()));
}

float TensorTools::access_element(const Tensor& t, int index) {
  return t.v[check_element("access_element", t, index)];
}

float TensorTools::access_element(const Tensor& t, const Dim& index) {
  std::size_t offset = 0, step = 1;
  for (unsigned k = 0; k < index.nd; ++k) {
    if (index.d[k] >= t.d[k])
      throw IndexError("TensorTools::access_element: " + to_string(index) +
                       " is outside a tensor " + to_string(t.d));
    offset += step * index.d[k];
    step *= t.d[k];
  }
  return t.v[offset];
}

void TensorTools::set_element(const Tensor& t, int index, float value) {
  t.v[check_element("set_element", t, index)] = value;
}

void TensorTools::copy_element(const Tensor& source, int from, Tensor& target, int to) {
  set_element(target, to, access_element(source, from));
}

void TensorTools::set_elements(const Tensor& t, const std::vector<float>& values) {
  check_count("set_elements", t, values.size());
  std::copy(values.begin(), values.end(), t.v);
}

void TensorTools::copy_elements(Tensor& target, const Tensor& source) {
  check_count("copy_elements", target, source.d.size());
  std::copy_n(source.v, source.d.size(), target.v);
}

void TensorTools::accumulate(Tensor& target, const Tensor& source) {
  check_count("accumulate", target, source.d.size());
  for (std::size_t i = 0; i < source.d.size(); ++i) target.v[i] += source.v[i];
}

void TensorTools::logsumexp(const Tensor& x, Tensor& m, Tensor& z, unsigned d) {
  const Lines lines("logsumexp", x.d, d);
  check_count("logsumexp", m, lines.count);
  check_count("logsumexp", z, lines.count);
  for (std::size_t l = 0; l < lines.count; ++l) {
    const auto at = [&](std::size_t k) { return x.v[lines.first(l) + k * lines.step]; };
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k < lines.length; ++k) largest = std::max(largest, at(k));
    float sum = 0;
    if (std::isfinite(largest))
      for (std::size_t k = 0; k < lines.length; ++k) sum += std::exp(at(k) - largest);
    m.v[l] = largest;
    z.v[l] = std::isfinite(largest) ? largest + std::log(sum) : largest;
  }
}

IndexTensor TensorTools::argmax(const Tensor& t, unsigned dim, unsigned num) {
  if (num > t.d[dim])
    throw ArgumentError("TensorTools::argmax: " + std::to_string(num) +
                        " elements are asked for along dimension " + std::to_string(dim) + " of " +
                        to_string(t.d));
  std::vector<std::ptrdiff_t> order(t.d[dim]);
  return choose("argmax", t, dim, num,
                [&](const std::vector<float>& values, std::vector<std::ptrdiff_t>& indices) {
                  std::iota(order.begin(), order.end(), 0);
                  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
                    return values[static_cast<std::size_t>(a)] >
                           values[static_cast<std::size_t>(b)];
                  });
                  std::copy_n(order.begin(), indices.size(), indices.begin());
                });
}

std::pair<Tensor, IndexTensor> TensorTools::topk(const Tensor& t, unsigned dim, unsigned num) {
  IndexTensor indices = argmax(t, dim, num);
  Tensor values = make_tensor(indices.d);
  const Lines lines("topk", t.d, dim);
  for (std::size_t l = 0; l < lines.count; ++l)
    for (unsigned i = 0; i < num; ++i) {
      const std::size_t to = lines.first(l, num) + i * lines.step;
      values.v[to] = t.v[lines.first(l) + static_cast<std::size_t>(indices.v[to]) * lines.step];
    }
  return {std::move(values), std::move(indices)};
}

IndexTensor TensorTools::categorical_sample_log_prob(const Tensor& t, unsigned dim, unsigned num) {
  if (t.d[dim] == 0)
    throw ArgumentError("TensorTools::categorical_sample_log_prob: nothing to draw from in " +
                        to_string(t.d));
  return choose("categorical_sample_log_prob", t, dim, num,
                [&](const std::vector<float>& values, std::vector<std::ptrdiff_t>& indices) {
                  for (std::ptrdiff_t& index : indices) {  // Gumbel-max sampling
                    float best = -std::numeric_limits<float>::infinity();
                    index = 0;
                    for (std::size_t k = 0; k < values.size(); ++k) {
                      const float u = std::max(rand01(), 1e-20f);
                      const float score = values[k] - std::log(-std::log(u));
                      if (score > best) best = score, index = static_cast<std::ptrdiff_t>(k);
                    }
                  }
                });
}

}  // namespace dynet
