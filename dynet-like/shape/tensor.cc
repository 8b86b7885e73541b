#include "dynet-like/shape/tensor.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "dynet-like/base/errors.h"

namespace dynet {

namespace {

[[noreturn, gnu::cold]] void outside(const char* who, unsigned b, unsigned batch) {
  throw IndexError(std::string("Tensor::") + who + ": batch element " + std::to_string(b) +
                   " is outside a batch of " + std::to_string(batch));
}

}  // namespace

std::size_t Tensor::batch_offset(unsigned b) const {
  if (d.bd == 1) return 0;
  if (b >= d.bd) outside("batch_ptr", b, d.bd);
  return b * d.batch_size();
}

Tensor Tensor::batch_elem(unsigned b) const {
  if (b >= d.bd) outside("batch_elem", b, d.bd);
  Tensor part(d.single_batch(), const_cast<float*>(batch_ptr(b)), device, mem_pool);
  part.memory = memory;
  return part;
}

std::vector<Tensor> Tensor::batch_elems() const {
  std::vector<Tensor> parts;
  for (unsigned b = 0; b < d.bd; ++b) parts.push_back(batch_elem(b));
  return parts;
}

bool Tensor::is_valid() const {
  return std::all_of(v, v + d.size(), [](float x) { return std::isfinite(x); });
}

real as_scalar(const Tensor& t) {
  if (t.d.size() != 1)
    throw ArgumentError("as_scalar: needs exactly one value, got " + to_string(t.d));
  return t.v[0];
}

std::vector<real> as_vector(const Tensor& t) { return {t.v, t.v + t.d.size()}; }

std::vector<real> as_scale_vector(const Tensor& t, float a) {
  std::vector<real> r = as_vector(t);
  for (real& x : r) x *= a;
  return r;
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  const std::size_t rows = t.d.rows();
  const std::size_t cols = rows ? t.d.batch_size() / rows : 0;
  for (unsigned b = 0; b < t.d.bd; ++b) {
    if (b) out << '\n';
    const float* v = t.batch_ptr(b);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j) out << (j ? " " : "") << v[j * rows + i];
      out << '\n';
    }
  }
  return out;
}

}  // namespace dynet
