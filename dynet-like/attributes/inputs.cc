#include "dynet-like/attributes/inputs.h"

#include <string>
#include <vector>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"

namespace dynet {

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
                            std::to_string(v.size()) + "\n  at " + to_string(b.at(i)),
                        b.at(i));
  return v.data();
}

template <class T>
const unsigned* one_hot_indices(const Batch<T>& b, std::size_t i) {
  const auto& attr = b.template attr<OneHotAttr>(i);
  const unsigned* indices = read_indices_of(b.graph, b.node(i), attr.indices,
                                            b.template payload<OneHotAttr, unsigned>(i));
  for (std::uint32_t e = 0; e < attr.indices.count; ++e)
    if (indices[e] >= attr.size)
      throw_index_out_of_range(b.graph, b.node(i), indices[e], attr.size, "the vector");
  return indices;
}

template const float* input_values(const Batch<float>&, std::size_t);
template const float* input_values(const Batch<double>&, std::size_t);
template const unsigned* one_hot_indices(const Batch<float>&, std::size_t);
template const unsigned* one_hot_indices(const Batch<double>&, std::size_t);

}  // namespace dynet
