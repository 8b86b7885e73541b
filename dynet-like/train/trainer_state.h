#pragma once

#include <cstddef>
#include <vector>

#include "dynet-like/param/storage.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

/// State arrays of all parameters: those of the rule, then an average, each of the parameter's
/// size. A parameter has none before its first step.
class TrainerState {
 public:
  using Arrays = std::vector<StateArray>;

  /// Arrays of a parameter, or null.
  Arrays* find(const ParameterStorageBase& p) {
    auto& all = of(p);
    return p.index < all.size() && !all[p.index].empty() ? &all[p.index] : nullptr;
  }
  const Arrays* find(const ParameterStorageBase& p) const {
    return const_cast<TrainerState*>(this)->find(p);
  }
  /// Arrays of a parameter; creates an empty list.
  Arrays& operator[](const ParameterStorageBase& p) {
    auto& all = of(p);
    if (p.index >= all.size()) all.resize(p.index + 1);
    return all[p.index];
  }
  /// Truncates the lists to this number of arrays.
  void keep(std::size_t arrays) {
    for (auto* all : {&dense_, &tables_})
      for (Arrays& a : *all)
        if (!a.empty()) a.resize(arrays);
  }
  void swap(TrainerState& other) noexcept {
    dense_.swap(other.dense_);
    tables_.swap(other.tables_);
  }

 private:
  std::vector<Arrays>& of(const ParameterStorageBase& p) { return p.is_lookup ? tables_ : dense_; }

  std::vector<Arrays> dense_, tables_;  // by index in the bank
};

}  // namespace dynet
