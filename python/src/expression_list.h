#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "dynet-like/graph/expression.h"

// Lists of expressions as arguments. Most of them hold parameters too, each of which would become a
// Python object of its own by nanobind's conversions: here it becomes an expression at once.

namespace dynet::python {

/// Appends an expression, or a parameter as one; false for anything else, and for a parameter that
/// cannot be had in the graph in use.
bool append_expression(nanobind::handle item, std::vector<dynet::Expression>& to) noexcept;

}  // namespace dynet::python

namespace nanobind::detail {

template <>
struct type_caster<std::vector<dynet::Expression>>
    : list_caster<std::vector<dynet::Expression>, dynet::Expression> {
  using Base = list_caster<std::vector<dynet::Expression>, dynet::Expression>;

  bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    const bool is_list = PyList_Check(src.ptr());
    if (!is_list && !PyTuple_Check(src.ptr())) return Base::from_python(src, flags, cleanup);
    const Py_ssize_t n = is_list ? PyList_Size(src.ptr()) : PyTuple_Size(src.ptr());
    value.clear();
    value.reserve(static_cast<std::size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!dynet::python::append_expression(
              is_list ? PyList_GetItem(src.ptr(), i) : PyTuple_GetItem(src.ptr(), i), value))
        return false;
    return true;
  }
};

}  // namespace nanobind::detail
