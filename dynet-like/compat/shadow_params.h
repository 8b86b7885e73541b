#pragma once

#include <vector>

#include "dynet-like/compat/tensor_tools.h"
#include "dynet-like/param/parameters.h"
#include "dynet-like/param/storage.h"

// Arrays in the shape of parameters, for the state of a program's own algorithms.

namespace dynet {

/// Zeros in the shape of a parameter.
struct ShadowParameters {
  ShadowParameters() = default;
  explicit ShadowParameters(const ParameterStorage& p) : h(make_tensor(p.dim)) {}
  Tensor h;
};

/// Zeros in the shape of a table, with a view of each row.
struct ShadowLookupParameters {
  ShadowLookupParameters() = default;
  explicit ShadowLookupParameters(const LookupParameterStorage& p) : all_h(make_tensor(p.all_dim)) {
    for (std::size_t i = 0; i < p.rows; ++i) h.emplace_back(p.dim, all_h.v + i * p.row_size());
  }
  Tensor all_h;
  std::vector<Tensor> h;
};

/// Appends shadows of all parameters, or all tables, from index `allocated` on.
inline void allocate_shadow_parameters(const ParameterCollection& model, unsigned allocated,
                                       std::vector<ShadowParameters>& to) {
  const auto list = model.parameters_list();
  for (std::size_t i = allocated; i < list.size(); ++i) to.emplace_back(list[i].get_storage());
}
inline void allocate_shadow_lookup_parameters(const ParameterCollection& model, unsigned allocated,
                                              std::vector<ShadowLookupParameters>& to) {
  const auto list = model.lookup_parameters_list();
  for (std::size_t i = allocated; i < list.size(); ++i) to.emplace_back(list[i].get_storage());
}

}  // namespace dynet
