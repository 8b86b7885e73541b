#include "kernels/cpu/inputs.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet::cpu::DYNET_ISA {

template <class T>
void input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    std::copy_n(input_values(b, i), b.node(i).dim.size(), b.out(i));
}

template <class T>
void sparse_input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& attr = b.template attr<SparseInputAttr>(i);
    const auto* indices = b.template payload<SparseInputAttr, unsigned>(i);
    std::fill_n(b.out(i), b.node(i).dim.size(), static_cast<T>(attr.rest));
    for (std::uint64_t k = 0; k < attr.indices; ++k)
      b.out(i)[indices[k]] = static_cast<T>(std::bit_cast<float>(indices[attr.indices + k]));
  }
}

template <class T>
void constant_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    std::fill_n(b.out(i), b.dim().size(), static_cast<T>(b.template attr<ConstantAttr>(i).value));
}

template <class T>
void one_hot_forward(const Batch<T>& b) {
  const std::size_t size = b.dim().batch_size(), batch = b.dim().bd;
  for (std::size_t i = 0; i < b.count; ++i) {
    const unsigned* indices = one_hot_indices(b, i);
    std::fill_n(b.out(i), b.dim().size(), T(0));
    for (std::size_t e = 0; e < batch; ++e) b.out(i)[e * size + indices[e]] = T(1);
  }
}

template void input_forward(const Batch<Scalar>&);
template void sparse_input_forward(const Batch<Scalar>&);
template void constant_forward(const Batch<Scalar>&);
template void one_hot_forward(const Batch<Scalar>&);

}  // namespace dynet::cpu::DYNET_ISA
