#include "kernels/cpu/inputs.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet::cpu::DYNET_ISA {

void input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    std::copy_n(input_values(b, i), b.node(i).dim.size(), b.out(i));
}

void sparse_input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& attr = b.attr<SparseInputAttr>(i);
    const auto* indices = b.payload<SparseInputAttr, unsigned>(i);
    std::fill_n(b.out(i), b.node(i).dim.size(), static_cast<T>(attr.rest));
    for (std::uint64_t k = 0; k < attr.indices; ++k)
      b.out(i)[indices[k]] = static_cast<T>(std::bit_cast<float>(indices[attr.indices + k]));
  }
}

void constant_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    std::fill_n(b.out(i), b.dim().size(), static_cast<T>(b.attr<ConstantAttr>(i).value));
}

void one_hot_forward(const Batch<T>& b) {
  const std::size_t size = b.dim().batch_size(), batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* indices = one_hot_indices(b, i);
    std::fill_n(b.out(i), b.dim().size(), T(0));
    for (std::size_t e = 0; e < batch; ++e) b.out(i)[e * size + indices[e]] = T(1);
  }
}

}  // namespace dynet::cpu::DYNET_ISA
