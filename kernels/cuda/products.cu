#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "dynet-like/base/errors.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/products.h"

namespace dynet::cuda {
namespace {

int as_int(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw DeviceError("a product of matrices has a side of " + std::to_string(n) +
                      ", more than the device multiplies at once");
  return static_cast<int>(n);
}

// Leading dimension of a factor with n rows in memory.
int leading(std::size_t n) { return as_int(std::max<std::size_t>(1, n)); }

// Distance between matrices: zero if all are the same matrix, nothing if they are not contiguous.
// Other equal distances are accidental and may differ in the next run.
template <class T>
std::optional<std::size_t> distance(const std::vector<T*>& p, std::size_t size) {
  const auto at = [&](std::size_t step) {
    for (std::size_t i = 1; i < p.size(); ++i)
      if (p[i] != p[0] + i * step) return false;
    return true;
  };
  if (at(size)) return size;
  if (at(0)) return 0;
  return std::nullopt;
}

}  // namespace

void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factors a,
              Factors b, float* const* c, std::size_t n, bool add, std::size_t leading_c) {
  q.multiply({.transpose_a = a.transposed,
              .transpose_b = b.transposed,
              .m = as_int(rows),
              .n = as_int(columns),
              .k = as_int(inner),
              .a = nullptr,
              .lda = leading(a.transposed ? inner : rows),
              .b = nullptr,
              .ldb = leading(b.transposed ? columns : inner),
              .c = nullptr,
              .ldc = leading(leading_c ? leading_c : rows),
              .beta = add ? 1.0f : 0.0f,
              .batch = as_int(n),
              .each_a = q.send(a.p, n),
              .each_b = q.send(b.p, n),
              .each_c = q.send(c, n)});
}

void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factor a,
              Factor b, float* c, bool add, std::size_t batch, std::size_t step_c,
              std::size_t leading_c) {
  const auto step = [](std::size_t n) { return static_cast<long long>(n); };
  q.multiply({.transpose_a = a.transposed,
              .transpose_b = b.transposed,
              .m = as_int(rows),
              .n = as_int(columns),
              .k = as_int(inner),
              .a = a.p,
              .lda = leading(a.leading      ? a.leading
                             : a.transposed ? inner
                                            : rows),
              .b = b.p,
              .ldb = leading(b.leading      ? b.leading
                             : b.transposed ? columns
                                            : inner),
              .c = c,
              .ldc = leading(leading_c ? leading_c : rows),
              .beta = add ? 1.0f : 0.0f,
              .batch = as_int(batch),
              .step_a = step(a.step),
              .step_b = step(b.step),
              .step_c = step(step_c)});
}

void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner,
              const ProductList& list, bool transpose_a, bool transpose_b, bool add) {
  const auto& [a, b, c] = list;
  if (c.empty()) return;
  const auto step_a = distance(a, rows * inner), step_b = distance(b, inner * columns),
             step_c = distance(c, rows * columns);
  if (step_a && step_b && step_c)
    return multiply(q, rows, columns, inner, {a[0], transpose_a, *step_a},
                    {b[0], transpose_b, *step_b}, c[0], add, c.size(), *step_c);
  if (inner > 0)
    return multiply(q, rows, columns, inner, {a.data(), transpose_a}, {b.data(), transpose_b},
                    c.data(), c.size(), add);
  for (std::size_t i = 0; i < c.size(); ++i)
    multiply(q, rows, columns, inner, Factor{a[i], transpose_a}, Factor{b[i], transpose_b}, c[i],
             add);
}

const float* gathered(Queue& q, const std::vector<const float*>& from, std::size_t size) {
  const std::size_t n = from.size();
  if (std::find(from.begin(), from.end(), nullptr) == from.end())
    return gathered(q, q.many(from.data(), n, size), n, size);
  const float* const* const parts = q.send(from.data(), n);
  float* const to = q.temporary(n * size);
  each_element(q, {to, size, nullptr}, n, size, [=] __device__(std::size_t i, std::size_t e) {
    return parts[i] ? parts[i][e] : 0.0f;
  });
  return to;
}

const float* gathered(Queue& q, TensorArray<const float> from, std::size_t n, std::size_t size,
                      std::size_t repeat) {
  if (!from.each && repeat == 1) return from.first;
  const std::size_t step = size * repeat;
  float* const to = q.temporary(n * step);
  each_element(q, {to, step, nullptr}, n, step, [=] __device__(std::size_t i, std::size_t e) {
    return from[i][divide(e, size).rest];
  });
  return to;
}

void sum_parts(Queue& q, const GradientTargets& p, std::size_t size, const float* parts,
               std::size_t repeat) {
  sum_gradients(q, p, size, repeat, true,
                [=] __device__(std::uint32_t node, std::size_t e, std::size_t r) {
                  return parts[(node * repeat + r) * size + e];
                });
}

}  // namespace dynet::cuda
