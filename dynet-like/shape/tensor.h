#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

/// Type of all values.
using real = float;

/// DyNet's memory pools (node values, gradients, parameters, scratch), for source compatibility;
/// ignored.
enum class DeviceMempool { FXS = 0, DEDFS = 1, PS = 2, SCS = 3, NONE = 4 };

/// View of values in column-major order, batch elements concatenated. The view of a node is valid
/// until its graph is cleared, the view of a parameter as long as the parameter exists.
struct Tensor {
  Dim d;                                         ///< the shape
  float* v = nullptr;                            ///< the first value
  Device* device = &kCpu;                        ///< location of `v`: views are on the CPU
  DeviceMempool mem_pool = DeviceMempool::NONE;  ///< ignored
  std::shared_ptr<void> memory;                  ///< owner of `v`; null for views

  Tensor() = default;
  Tensor(const Dim& dim, float* values, Device* where = &kCpu,
         DeviceMempool pool = DeviceMempool::NONE)
      : d(dim), v(values), device(where), mem_pool(pool) {}

  /// Address of batch element b. If the batch has one element, every b has its address. Throws
  /// IndexError.
  float* batch_ptr(unsigned b) { return v + batch_offset(b); }
  const float* batch_ptr(unsigned b) const { return v + batch_offset(b); }
  /// View of one batch element. Throws IndexError, also if the batch has one element.
  Tensor batch_elem(unsigned b) const;
  std::vector<Tensor> batch_elems() const;
  /// True without NaN and infinity.
  bool is_valid() const;

 private:
  std::size_t batch_offset(unsigned b) const;
};

/// The only value. Throws ArgumentError unless there is exactly one.
real as_scalar(const Tensor& t);
/// All values, copied.
std::vector<real> as_vector(const Tensor& t);
/// All values times `a`, copied.
std::vector<real> as_scale_vector(const Tensor& t, float a);

/// Prints one matrix row per line, with an empty line between batch elements.
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace dynet
