#pragma once

#include <cstdint>
#include <string>

#include "dynet-like/base/device.h"

namespace dynet {

/// Process-wide settings of a program that calls DyNet's `initialize`: defaults of new collections
/// and graphs.
struct ProcessHooks {
  std::uint64_t (*collection_seed)();  ///< seed of a new ParameterCollection
  std::uint64_t (*graph_seed)();       ///< seed of a new ComputationGraph
  float (*weight_decay)();             ///< default of a new ParameterCollection
  Device* (*device)();                 ///< device of a new ComputationGraph
  void (*print)(const std::string&);   ///< output of functions that print in DyNet
};

/// The hooks, or null before `initialize`. The library itself has no mutable process-wide state:
/// dynet-like::compat defines this function and `initialize`; in programs without it the address is
/// null.
[[gnu::weak]] const ProcessHooks* process_hooks();

inline const ProcessHooks* find_process_hooks() {
  return process_hooks ? process_hooks() : nullptr;
}

}  // namespace dynet
