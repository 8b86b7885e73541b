#pragma once

#include <nanobind/nanobind.h>

namespace dynet::python {

namespace nb = nanobind;

/// Adds the methods `set` and `set_index` to the class of expressions, to reuse a graph with other
/// values: they write into the node and invalidate all values of its graph.
void bind_settable(nb::handle expression_class);

}  // namespace dynet::python
