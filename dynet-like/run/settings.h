#pragma once

#include <cstdint>
#include <optional>

#include "dynet-like/base/interrupt.h"

namespace dynet {

/// Settings of forward and backward passes.
struct PassSettings {
  bool check = false;                   ///< throw NumericError for what is not finite
  bool inference = false;               ///< keep nothing that only backward needs
  bool frees = false;                   ///< memory of values is used again after each window
  std::uint64_t run = 0;                ///< grows with every new run: part of random draws
  Interrupt* interrupt = nullptr;       ///< looked at before every step, or null
  std::optional<unsigned> buffer = {};  ///< of gradients of parameters; none: the thread's own

  /// Ends the pass if somebody wants that.
  void check_interrupt() const {
    if (interrupt) [[unlikely]]
      interrupt->look();
  }
};

}  // namespace dynet
