#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// A matrix in columns, or its transpose; of a batch, so many numbers from one to the next.
struct Factor {
  const float* p;
  bool transposed = false;
  std::size_t step = 0;
  std::size_t leading = 0;  ///< numbers from column to column; zero: columns are side by side
};

/// C = or += A B, for C of `rows` rows and `columns` columns, `leading_c` apart unless they are
/// side by side. Throws DeviceError for sizes that are too large for any product.
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factor a,
              Factor b, float* c, bool add, std::size_t batch = 1, std::size_t step_c = 0,
              std::size_t leading_c = 0);

/// The same for n products, each with factors and a result of its own, which lie on the device.
struct Factors {
  const float* const* p;
  bool transposed = false;
};
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factors a,
              Factors b, float* const* c, std::size_t n, bool add);

/// The same for products that are listed on the host: as one, at distances from each other, if all
/// lie side by side, else by their addresses.
struct ProductList {
  std::vector<const float*> a, b;
  std::vector<float*> c;
};
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner,
              const ProductList& list, bool transpose_a, bool transpose_b, bool add);

/// n tensors of `size` numbers, each `repeat` times, one behind the other: where they are, or in a
/// temporary.
const float* gathered(Queue& q, TensorArray<const float> from, std::size_t n, std::size_t size,
                      std::size_t repeat = 1);
/// The same of those that are listed; zeros for null.
const float* gathered(Queue& q, const std::vector<const float*>& from, std::size_t size);
/// The gradient of node i is the sum of its `repeat` tensors in `parts`, which lie as above.
void sum_parts(Queue& q, const GradientTargets& p, std::size_t size, const float* parts,
               std::size_t repeat = 1);

}  // namespace dynet::cuda
