#pragma once

#include <cstdint>
#include <string>

#include "dynet-like/base/device.h"

namespace dynet {

/// Process-wide settings of a program that calls DyNet's `initialize`.
struct ProcessHooks {
  std::uint64_t (*collection_seed)();  ///< for a new ParameterCollection
  std::uint64_t (*graph_seed)();       ///< for a new ComputationGraph
  float (*weight_decay)();             ///< of a new ParameterCollection that names none
  Device* (*device)();                 ///< of a new ComputationGraph
  void (*print)(const std::string&);   ///< for functions that print in DyNet
};

/// The hooks, or null before `initialize`. The library has no state of this kind: the function is
/// defined in dynet-like::compat, beside `initialize`, and null in programs without it.
[[gnu::weak]] const ProcessHooks* process_hooks();

inline const ProcessHooks* find_process_hooks() {
  return process_hooks ? process_hooks() : nullptr;
}

}  // namespace dynet
