#include <nanobind/stl/string.h>

#include <limits>
#include <sstream>

#include "bindings.h"

namespace dynet::python {

using namespace nb::literals;

void bind_checks(nb::module_& m) {
  nb::class_<GradientReport>(m, "GradientReport",
                             "How far backward is from the slopes that a loss really has.")
      .def_ro("parameters", &GradientReport::parameters, "Parameters and tables checked.")
      .def_ro("elements", &GradientReport::elements, "Elements checked.")
      .def_ro("loss", &GradientReport::loss, "The loss, in double.")
      .def_ro("max_error", &GradientReport::max_error, "The largest relative error.")
      .def_ro("worst_parameter", &GradientReport::worst_parameter, "Where it is.")
      .def_ro("worst_element", &GradientReport::worst_element, "At which element.")
      .def_ro("worst_backward", &GradientReport::worst_backward, "What backward gives there.")
      .def_ro("worst_measured", &GradientReport::worst_measured, "The slope that was measured.")
      .def("ok", &GradientReport::ok, "tolerance"_a = 1e-5, "Whether no error is larger.")
      .def("__repr__", [](const GradientReport& r) {
        std::ostringstream out;
        out << r;
        return out.str();
      });
  m.def(
      "check_gradients",
      [](const Expression& loss, std::size_t max_elements, double step,
         const ParameterCollection* only) {
        const SourceLocation at = here();
        const nb::gil_scoped_release release;
        return check_gradients(loss, {max_elements, step, only}, at);
      },
      "loss"_a, "max_elements"_a = 100, "step"_a = 1e-5, "only"_a = nb::none(),
      "Compares the gradients of backward with differences of the loss, both in double precision,\n"
      "for the parameters that the loss depends on; nothing outside changes. `max_elements` of\n"
      "each parameter are checked, 0 for all; `only` those of a collection.\n\n"
      ">>> w = pc.add_parameters(3, init=2)\n"
      ">>> dy.check_gradients(dy.squared_norm(w)).ok()\n"
      "True");
}

}  // namespace dynet::python
