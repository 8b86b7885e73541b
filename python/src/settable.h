#pragma once

#include <nanobind/nanobind.h>

namespace dynet::python {

namespace nb = nanobind;

/// Gives the class of expressions the methods `set` and `set_index`, with which a graph is used
/// again for other values: they write into the node and forget all values of its graph.
void bind_settable(nb::handle expression_class);

}  // namespace dynet::python
