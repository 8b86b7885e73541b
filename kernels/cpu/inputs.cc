#include "kernels/cpu/inputs.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "kernels/cpu/indices.h"

namespace dynet::cpu {

template <class T>
const float* input_values(const Batch<T>& b, std::size_t i) {
  const auto& attr = b.template attr<InputAttr>(i);
  if (attr.source == InputAttr::at_pointer) return static_cast<const float*>(attr.pointer);
  if (attr.source != InputAttr::at_vector) return b.template payload<InputAttr, float>(i);
  const auto& v = *static_cast<const std::vector<float>*>(attr.pointer);
  const std::size_t n = b.node(i).dim.size();
  if (v.size() != n)
    throw ArgumentError("input: the vector had " + std::to_string(n) +
                            " values when the node was made and now has " +
                            std::to_string(v.size()) + "\n  at " + to_string(b.node(i).at()),
                        b.node(i).at());
  return v.data();
}

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
const unsigned* one_hot_indices(const Batch<T>& b, std::size_t i) {
  const auto& attr = b.template attr<OneHotAttr>(i);
  const unsigned* indices =
      read_indices_of(b.node(i), attr.indices, b.template payload<OneHotAttr, unsigned>(i));
  for (std::uint32_t e = 0; e < attr.indices.count; ++e)
    if (indices[e] >= attr.size)
      throw_index_out_of_range(b.node(i), indices[e], attr.size, "the vector");
  return indices;
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

#define DYNET_INSTANTIATE(T)                                              \
  template const float* input_values(const Batch<T>&, std::size_t);       \
  template const unsigned* one_hot_indices(const Batch<T>&, std::size_t); \
  template void input_forward(const Batch<T>&);                           \
  template void sparse_input_forward(const Batch<T>&);                    \
  template void constant_forward(const Batch<T>&);                        \
  template void one_hot_forward(const Batch<T>&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)
#undef DYNET_INSTANTIATE

}  // namespace dynet::cpu
