#pragma once

#include <cstdint>
#include <optional>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/graph/observer.h"

namespace dynet {

/// Settings of forward and backward passes.
struct PassSettings {
  bool check = false;                   ///< throw NumericError for what is not finite
  bool inference = false;               ///< do not keep what only backward needs
  bool frees = false;                   ///< free the memory of values after each window
  std::uint64_t run = 0;                ///< number of the run; part of the key of random draws
  Interrupt* interrupt = nullptr;       ///< checked before every step, or null
  GraphObserver* observer = nullptr;    ///< told of every step, or null
  std::optional<unsigned> buffer = {};  ///< for gradients of parameters; none: the calling thread's

  /// Throws if the pass is to end.
  void check_interrupt() const {
    if (interrupt) [[unlikely]]
      interrupt->look();
  }

  /// Tells the observer of a call.
  template <class T>
  void observe(const OpForm& form, const Batch<T>& b) const {
    if (observer) [[unlikely]]
      observer->call({b.graph, form, b.ids, b.count, KernelCall::forward, b.terms});
  }
  template <class T>
  void observe(const OpForm& form, const GradientBatch<T>& b) const {
    if (!observer) [[likely]]
      return;
    const bool shared = b.end == b.first + 1;
    observer->call({b.graph, form, b.ids, b.count,
                    shared ? KernelCall::shared : KernelCall::backward, b.terms, b.first});
  }
};

}  // namespace dynet
