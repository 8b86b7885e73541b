#pragma once

#include <memory>
#include <utility>

#include "bindings.h"
#include "dynet-like/layers/support.h"

namespace dynet::python {

/// A Python object that can be copied and destroyed without the interpreter lock.
using Held = std::shared_ptr<nb::object>;

inline Held hold(nb::object object) {
  return Held(new nb::object(std::move(object)), [](nb::object* p) {
    const nb::gil_scoped_acquire acquire;
    delete p;
  });
}

/// The number returned by a user function to `who`. Throws ArgumentError for any other object.
inline double number_given(const char* who, nb::handle object) {
  double number = 0;
  if (!nb::try_cast(object, number)) nn_detail::fail(who, "a function must give a number", here());
  return number;
}

}  // namespace dynet::python
