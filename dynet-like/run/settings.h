#pragma once

#include <cstdint>
#include <optional>

#include "dynet-like/base/interrupt.h"

namespace dynet {

/// Settings of forward and backward passes.
struct PassSettings {
  bool check = false;                   ///< throw NumericError for what is not finite
  bool inference = false;               ///< do not keep what only backward needs
  bool frees = false;                   ///< free the memory of values after each window
  std::uint64_t run = 0;                ///< number of the run; part of the key of random draws
  Interrupt* interrupt = nullptr;       ///< checked before every step, or null
  std::optional<unsigned> buffer = {};  ///< for gradients of parameters; none: the calling thread's

  /// Throws if the pass is to end.
  void check_interrupt() const {
    if (interrupt) [[unlikely]]
      interrupt->look();
  }
};

}  // namespace dynet
