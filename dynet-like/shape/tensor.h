#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

/// The type of all values.
using real = float;

/// Kind of values, as in DyNet's memory pools: values of nodes, gradients, parameters, scratch.
/// Without meaning here.
enum class DeviceMempool { FXS = 0, DEDFS = 1, PS = 2, SCS = 3, NONE = 4 };

/// A view of values in column-major order, batch elements one after another. A view of a node lives
/// until its graph is cleared, a view of a parameter as long as the parameter.
struct Tensor {
  Dim d;                                         ///< the shape
  float* v = nullptr;                            ///< the first value
  Device* device = &kCpu;                        ///< where they lie: views handed out are the CPU's
  DeviceMempool mem_pool = DeviceMempool::NONE;  ///< without meaning here
  std::shared_ptr<void> memory;  ///< of values that nothing else owns; null for views

  Tensor() = default;
  Tensor(const Dim& dim, float* values, Device* where = &kCpu,
         DeviceMempool pool = DeviceMempool::NONE)
      : d(dim), v(values), device(where), mem_pool(pool) {}

  /// Address of batch element b; a batch of one has one address for every b. Throws IndexError.
  float* batch_ptr(unsigned b) { return v + batch_offset(b); }
  const float* batch_ptr(unsigned b) const { return v + batch_offset(b); }
  /// A view of one batch element. Throws IndexError, in a batch of one too.
  Tensor batch_elem(unsigned b) const;
  std::vector<Tensor> batch_elems() const;
  /// No NaN and no infinity.
  bool is_valid() const;

 private:
  std::size_t batch_offset(unsigned b) const;
};

/// The only value. Throws ArgumentError unless there is exactly one.
real as_scalar(const Tensor& t);
/// All values, copied.
std::vector<real> as_vector(const Tensor& t);
/// All values times `a`.
std::vector<real> as_scale_vector(const Tensor& t, float a);

/// Rows of the matrix a line each; batch elements separated by an empty line.
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace dynet
