#pragma once

namespace dynet {

/// A form field without a default: leaving it out does not compile.
template <class T>
struct Required {
  /// Holds what is given.
  template <class U>
  constexpr Required(U v) : value(v) {}  // NOLINT: implicit, so that forms read plainly
  /// The given value.
  constexpr operator T() const { return value; }  // NOLINT: implicit, likewise
  T value;                                        ///< what was given
};

}  // namespace dynet
