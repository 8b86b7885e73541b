#include "bindings.h"

namespace dynet::python {

Classes classes;

PyObject* object_of(const Expression& e) noexcept {
  PyObject* const made = NB_CALL(nb_inst_alloc)(classes.expression);
  if (!made) return nullptr;
  new (nb::inst_ptr<Expression>(made)) Expression(e);
  nb::inst_mark_ready(made);
  return made;
}

bool read_exactly(nb::handle object, Expression& x) {
  const PyTypeObject* const type = Py_TYPE(object.ptr());
  if (type == classes.expression)
    x = *nb::inst_ptr<Expression>(object);
  else if (type == classes.parameter)
    x = expression_of(*nb::inst_ptr<Parameter>(object));
  else if (type == classes.table)
    x = expression_of(*nb::inst_ptr<LookupParameter>(object));
  else
    return false;
  return true;
}

bool read_derived(nb::handle object, Expression& x) {
  if (nb::isinstance<Expression>(object))
    x = *nb::inst_ptr<Expression>(object);
  else if (nb::isinstance<Parameter>(object))
    x = expression_of(*nb::inst_ptr<Parameter>(object));
  else if (nb::isinstance<LookupParameter>(object))
    x = expression_of(*nb::inst_ptr<LookupParameter>(object));
  else
    return false;
  return true;
}

bool read_argument(nb::handle object, Expression& x) noexcept {
  try {
    return read_exactly(object, x) || read_derived(object, x);
  } catch (...) {
    return false;
  }
}

}  // namespace dynet::python
