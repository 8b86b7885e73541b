// Shapes and values of operands.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "dynet-like/base/random.h"
#include "tests/support/op_case.h"

namespace dynet::test {

double Array::at(const Place& p) const {
  std::size_t offset = 0, step = 1;
  for (unsigned k = 0; k < dim.nd; ++k) {
    offset += (dim.d[k] == 1 ? 0 : p[k]) * step;
    step *= dim.d[k];
  }
  return v.at(offset + (dim.bd == 1 ? 0 : p[kMaxTensorDim]) * step);
}

Array fill(const Dim& dim, const std::function<double(const Place&)>& f) {
  Array y{dim, std::vector<double>(dim.size())};
  Place p{};
  for (double& e : y.v) {
    e = f(p);
    unsigned k = 0;
    while (k < dim.nd && ++p[k] == dim.d[k]) p[k++] = 0;
    if (k == dim.nd) ++p[kMaxTensorDim];
  }
  return y;
}

double log_add(double a, double b) {
  const double m = std::max(a, b);
  return m == -kInfinity ? m : m + std::log1p(std::exp(std::min(a, b) - m));
}

double sum_of(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

std::vector<unsigned> classes_of(const Dim& d, unsigned variant) {
  std::vector<unsigned> v;
  for (unsigned b = 0; b < d.bd; ++b) v.push_back(d.rows() ? (variant + 3 * b) % d.rows() : 0);
  return v;
}

Array map(const Array& x, const std::function<double(double)>& f) {
  Array y = x;
  for (double& e : y.v) e = f(e);
  return y;
}

Dim broadcast_dim(const std::vector<Array>& xs) {
  Dim d;
  for (const Array& x : xs) d.nd = std::max(d.nd, x.dim.nd);
  for (unsigned k = 0; k < d.nd; ++k) {
    d.d[k] = 1;
    for (const Array& x : xs)
      if (x.dim[k] != 1) d.d[k] = x.dim[k];
  }
  for (const Array& x : xs) d.bd = std::max(d.bd, x.dim.bd);
  return d;
}

Array zip(const std::vector<Array>& xs,
          const std::function<double(const std::vector<double>&)>& f) {
  return fill(broadcast_dim(xs), [&](const Place& p) {
    std::vector<double> at;
    for (const Array& x : xs) at.push_back(x.at(p));
    return f(at);
  });
}

std::uint64_t Shapes::below(std::uint64_t n) {
  state_ = mix_bits(state_);
  return state_ % n;
}

unsigned Shapes::size() {
  if (kind_ == empty && coin()) return 0;
  return positive();
}

unsigned Shapes::positive() {
  constexpr unsigned kBorders[] = {31, 32, 33, 63, 64, 65, 255, 256, 257, 1025};
  if (kind_ == borders && !at_border_ && coin()) {
    at_border_ = true;
    return kBorders[below(std::size(kBorders))];
  }
  if (kind_ == large) return drawn_++ < 2 ? 64 : 8;
  return kind_ == ones ? 1 : static_cast<unsigned>(1 + below(4));
}

unsigned Shapes::batch() { return kind_ != large && below(4) == 0 ? 1 : full_batch(); }

Dim Shapes::any(unsigned rank) {
  Dim d;
  d.nd = kind_ == large ? std::min(rank, 2u) : static_cast<unsigned>(1 + below(rank));
  for (unsigned k = 0; k < d.nd; ++k) d.d[k] = size();
  d.bd = batch();
  return d;
}

Dim Shapes::reduced(Dim d) {
  for (unsigned k = 0; k < d.nd; ++k)
    if (coin()) d.d[k] = 1;
  if (coin()) d.bd = 1;
  return d;
}

}  // namespace dynet::test
