#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "dynet-like/graph/expression.h"

// Conversion of expressions between Python and C++. A parameter passed as an argument becomes an
// expression of the current graph directly; nanobind's implicit conversion would create a Python
// object first.

namespace dynet::python {

/// Operand classes, which exist as long as the module.
struct Classes {
  PyTypeObject *expression = nullptr, *parameter = nullptr, *table = nullptr;
};
extern Classes classes;

/// New Python object for an expression; null with a Python exception if memory is exhausted.
PyObject* object_of(const Expression& e) noexcept;
/// Reads an expression, or a parameter as an expression of the current graph, of exactly these
/// classes; false for any other object.
bool read_exactly(nanobind::handle object, Expression& x);
/// Reads an object of a subclass of these classes.
bool read_derived(nanobind::handle object, Expression& x);
/// Reads both kinds; also false for a parameter that the current graph cannot use.
bool read_argument(nanobind::handle object, Expression& x) noexcept;

}  // namespace dynet::python

namespace nanobind::detail {

template <>
struct type_caster<dynet::Expression> : type_caster_base_tag {
  using Type = dynet::Expression;
  static constexpr auto Name = const_name<Type>();
  template <class T>
  using Cast = precise_cast_t<T>;

  bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    const bool construct = (flags & cast_flags::construct) != 0;
    if (!construct && Py_TYPE(src.ptr()) == dynet::python::classes.expression) {
      value_ = static_cast<Type*>(NB_CALL(nb_inst_ptr)(src.ptr()));
      return true;
    }
    if (!construct && (flags & cast_flags::convert) != 0 &&
        dynet::python::read_argument(src, of_parameter_)) {
      value_ = &of_parameter_;
      return true;
    }
    return NB_CALL(nb_type_get)(NB_CTX_C(cleanup), &typeid(Type), src.ptr(), flags, cleanup,
                                reinterpret_cast<void**>(&value_));
  }

  static handle from_cpp(const Type& e, rv_policy, cleanup_list*) noexcept {
    return dynet::python::object_of(e);
  }
  static handle from_cpp(const Type* e, rv_policy, cleanup_list*) noexcept {
    return e ? dynet::python::object_of(*e) : none().release();
  }

  template <class T>
  bool can_cast() const noexcept {
    return std::is_pointer_v<T> || value_;
  }
  operator Type*() { return value_; }
  operator Type&() { return *value_; }
  operator Type&&() { return static_cast<Type&&>(*value_); }

 private:
  Type* value_ = nullptr;
  Type of_parameter_;
};

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
      if (!dynet::python::read_argument(
              is_list ? PyList_GetItem(src.ptr(), i) : PyTuple_GetItem(src.ptr(), i),
              value.emplace_back()))
        return false;
    return true;
  }
};

}  // namespace nanobind::detail
