#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cuda/queue.h"

namespace dynet::cuda {

/// A column-major matrix, or its transpose; `step` is the distance between matrices of a batch.
struct Factor {
  const float* p;
  bool transposed = false;
  std::size_t step = 0;
  std::size_t leading = 0;  ///< numbers from column to column; zero: contiguous columns
};

/// C = or += A B, for C with `rows` rows and `columns` columns at distance `leading_c`, or
/// contiguous for zero. Throws DeviceError for sizes beyond the range of cuBLAS.
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factor a,
              Factor b, float* c, bool add, std::size_t batch = 1, std::size_t step_c = 0,
              std::size_t leading_c = 0);

/// n products, each with its own factors and result; all pointers are on the device.
struct Factors {
  const float* const* p;
  bool transposed = false;
};
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner, Factors a,
              Factors b, float* const* c, std::size_t n, bool add, std::size_t leading_c = 0);

/// Products listed on the host: multiplied as one strided batch if the matrices are equally spaced,
/// otherwise by their addresses.
struct ProductList {
  std::vector<const float*> a, b;
  std::vector<float*> c;
};
void multiply(Queue& q, std::size_t rows, std::size_t columns, std::size_t inner,
              const ProductList& list, bool transpose_a, bool transpose_b, bool add);

/// n contiguous tensors of `size` numbers, each repeated `repeat` times: the tensors in place if
/// they are contiguous, otherwise a copy in a temporary.
const float* gathered(Queue& q, TensorArray<const float> from, std::size_t n, std::size_t size,
                      std::size_t repeat = 1);
/// Copies the listed tensors to a contiguous temporary; zeros for null.
const float* gathered(Queue& q, const std::vector<const float*>& from, std::size_t size);
/// The gradient of node i is the sum of its `repeat` consecutive tensors in `parts`.
void sum_parts(Queue& q, const GradientTargets& p, std::size_t size, const float* parts,
               std::size_t repeat = 1);

}  // namespace dynet::cuda
