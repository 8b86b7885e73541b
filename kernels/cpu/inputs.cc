#include "kernels/cpu/inputs.h"

#include <algorithm>
#include <bit>
#include <string>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "kernels/cpu/indices.h"

namespace dynet::cpu {

template <class T>
void input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& attr = b.template attr<InputAttr>(i);
    const std::size_t n = b.node(i).dim.size();
    const float* from = b.template payload<InputAttr, float>(i);
    if (attr.source == InputAttr::at_pointer) from = static_cast<const float*>(attr.pointer);
    if (attr.source == InputAttr::at_vector) {
      const auto& v = *static_cast<const std::vector<float>*>(attr.pointer);
      if (v.size() != n)
        throw ArgumentError("input: the vector had " + std::to_string(n) +
                                " values when the node was made and now has " +
                                std::to_string(v.size()) + "\n  at " + to_string(b.node(i).at()),
                            b.node(i).at());
      from = v.data();
    }
    std::copy_n(from, n, b.out(i));
  }
}

template <class T>
void sparse_input_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& attr = b.template attr<SparseInputAttr>(i);
    const auto* places = b.template payload<SparseInputAttr, unsigned>(i);
    std::fill_n(b.out(i), b.node(i).dim.size(), static_cast<T>(attr.rest));
    for (std::uint64_t k = 0; k < attr.places; ++k)
      b.out(i)[places[k]] = static_cast<T>(std::bit_cast<float>(places[attr.places + k]));
  }
}

template <class T>
void constant_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    std::fill_n(b.out(i), b.dim().size(), static_cast<T>(b.template attr<ConstantAttr>(i).value));
}

template <class T>
void one_hot_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& attr = b.template attr<OneHotAttr>(i);
    const unsigned* indices =
        read_indices_of(b.node(i), attr.indices, b.template payload<OneHotAttr, unsigned>(i));
    std::fill_n(b.out(i), b.dim().size(), T(0));
    for (std::uint32_t e = 0; e < attr.indices.count; ++e) {
      const unsigned index = indices[e];
      if (index >= attr.size) throw_index_out_of_range(b.node(i), index, attr.size, "the vector");
      b.out(i)[e * attr.size + index] = T(1);
    }
  }
}

#define DYNET_INSTANTIATE(T)                           \
  template void input_forward(const Batch<T>&);        \
  template void sparse_input_forward(const Batch<T>&); \
  template void constant_forward(const Batch<T>&);     \
  template void one_hot_forward(const Batch<T>&);
DYNET_INSTANTIATE(float)
DYNET_INSTANTIATE(double)

}  // namespace dynet::cpu
