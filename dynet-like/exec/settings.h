#pragma once

#include <cstdint>
#include <optional>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/exec/devices.h"

namespace dynet {

/// What forward and backward passes are told.
struct PassSettings {
  bool check = false;                   ///< throw NumericError for what is not finite
  bool inference = false;               ///< keep nothing that only backward needs
  std::uint64_t run = 0;                ///< grows with every new run: part of random draws
  Workers* workers = nullptr;           ///< threads that help, or null
  bool shares = true;                   ///< whether they help with this graph
  Interrupt* interrupt = nullptr;       ///< looked at before every step, or null
  std::optional<unsigned> buffer = {};  ///< of gradients of parameters; none: the thread's own

  /// Ends the pass if somebody wants that.
  void look_for_interrupt() const {
    if (interrupt) [[unlikely]]
      interrupt->look();
  }

  /// Who helps with a graph, or null: only where all of it is on the CPU.
  template <class T>
  Workers* helpers(const Devices<T>& devices) const {
    return workers && shares && workers->threads() > 1 && devices.all_on_cpu() ? workers : nullptr;
  }
};

}  // namespace dynet
