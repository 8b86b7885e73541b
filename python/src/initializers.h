#pragma once

#include <memory>

#include "bindings.h"

namespace dynet::python {

/// Initializer of a new parameter from a Python argument: None, a number, a name, an array, a file
/// name, or an initializer. Throws ArgumentError.
std::shared_ptr<ParameterInit> initializer_of(nb::handle init, const Dim& dim, bool is_lookup,
                                              float scale, float mean, float std);

}  // namespace dynet::python
