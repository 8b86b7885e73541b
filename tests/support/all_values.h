#pragma once

#include <cstring>
#include <vector>

#include "dynet-like/param/parameters.h"

namespace dynet::test {

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The values of all parameters and tables of a collection.
inline std::vector<float> all_values(const ParameterCollection& pc) {
  std::vector<float> all;
  const auto add = [&](const Tensor& t) { all.insert(all.end(), t.v, t.v + t.d.size()); };
  for (const Parameter& p : pc.parameters_list()) add(p.values());
  for (const LookupParameter& p : pc.lookup_parameters_list())
    for (const Tensor& row : p.values()) add(row);
  return all;
}

/// The gradients of all parameters, then of all rows of tables.
inline std::vector<float> all_gradients(const ParameterCollection& pc) {
  std::vector<float> all;
  const auto add = [&](const std::vector<float>& g) { all.insert(all.end(), g.begin(), g.end()); };
  for (const Parameter& p : pc.parameters_list()) add(as_vector(p.gradients()));
  for (const LookupParameter& p : pc.lookup_parameters_list())
    for (unsigned row = 0; row < p.size(); ++row) add(p.row_gradient(row));
  return all;
}

}  // namespace dynet::test
