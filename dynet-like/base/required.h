#pragma once

namespace dynet {

/// Form field without a default: omitting it is a compile error.
template <class T>
struct Required {
  template <class U>
  constexpr Required(U v) : value(v) {}           // NOLINT: implicit, for readable forms
  constexpr operator T() const { return value; }  // NOLINT: implicit, for readable forms
  T value;
};

}  // namespace dynet
