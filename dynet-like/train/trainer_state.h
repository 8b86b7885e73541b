#pragma once

#include <cstddef>
#include <vector>

#include "dynet-like/param/storage.h"
#include "dynet-like/train/state_array.h"

namespace dynet {

/// The arrays that a trainer keeps beside parameters, those of its rule and then an average, each
/// as large as the parameter. A parameter has none until it takes its first step.
class TrainerState {
 public:
  using Arrays = std::vector<StateArray>;

  /// Null: none.
  Arrays* find(const ParameterStorageBase& p) {
    auto& all = of(p);
    return p.index < all.size() && !all[p.index].empty() ? &all[p.index] : nullptr;
  }
  const Arrays* find(const ParameterStorageBase& p) const {
    return const_cast<TrainerState*>(this)->find(p);
  }
  /// Those of a parameter, empty at first.
  Arrays& operator[](const ParameterStorageBase& p) {
    auto& all = of(p);
    if (p.index >= all.size()) all.resize(p.index + 1);
    return all[p.index];
  }
  /// Keeps the first so many arrays of each.
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
