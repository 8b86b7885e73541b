#pragma once

#include <memory>
#include <utility>

#include "bindings.h"
#include "dynet-like/layers/support.h"

namespace dynet::python {

/// An object of Python that is copied and destroyed without the interpreter's lock.
using Held = std::shared_ptr<nb::object>;

inline Held hold(nb::object object) {
  return Held(new nb::object(std::move(object)), [](nb::object* p) {
    const nb::gil_scoped_acquire acquire;
    delete p;
  });
}

/// The number that a function of the program gave to `who`. Throws ArgumentError for anything else.
inline double number_given(const char* who, nb::handle object) {
  double number = 0;
  if (!nb::try_cast(object, number)) nn_detail::fail(who, "a function must give a number", here());
  return number;
}

}  // namespace dynet::python
