#pragma once

#include <vector>

#include "dynet-like/param/parameters.h"
#include "dynet-like/param/storage.h"
#include "tests/support/all_values.h"

namespace dynet {

inline void add_to(GradientSlot slot, const std::vector<float>& g) {
  for (std::size_t i = 0; i < g.size(); ++i) slot.g[i] = slot.written ? slot.g[i] + g[i] : g[i];
}

/// Adds to a gradient as a backward pass of this thread does.
inline void plant(const Parameter& p, const std::vector<float>& g) {
  ParameterStorageBase& s = p.stored();
  add_to(s.bank->gradients.mine().use(s.index, s.size()), g);
}

inline void plant_row(const LookupParameter& p, unsigned row, const std::vector<float>& g) {
  ParameterStorageBase& s = p.stored();
  add_to(s.bank->gradients.mine().rows(s.index, s.rows, s.row_size()).use_row(row), g);
}

inline void plant_whole(const LookupParameter& p, const std::vector<float>& g) {
  ParameterStorageBase& s = p.stored();
  add_to(s.bank->gradients.mine().rows(s.index, s.rows, s.row_size()).use_whole(), g);
}

/// All values of a table, row after row.
inline std::vector<float> table_values(const LookupParameter& p) {
  const ParameterStorageBase& s = p.stored();
  return {s.data, s.data + s.size()};
}

using test::same_bits;

}  // namespace dynet
