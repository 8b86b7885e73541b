#include "bindings.h"

// The order matters if a class is a base or a default argument of another one.
NB_MODULE(_core, m) {
  using namespace dynet::python;
  m.doc() = "What the package dynet is made of.";
  m.attr("__version__") = dynet::version();
  bind_errors(m);
  const nb::type_slots slots(operator_slots());
  nb::class_<dynet::Expression> expression(m, "Expression", nb::pooled(4096), slots,
                                           "A node of a graph: what an operation gives.\n\n"
                                           ">>> x = dy.inputVector([1, 2])\n"
                                           ">>> (2 * x + 1).value()\n"
                                           "[3.0, 5.0]");
  nb::class_<dynet::Parameter> parameter(
      m, "Parameters", slots, nb::sig("class Parameters(Expression)"),
      "A trained tensor: an expression of whatever graph is in use.");
  nb::class_<dynet::LookupParameter> table(
      m, "LookupParameters", slots,
      "A table of trained tensors, of which only the rows used are trained.");
  nb::class_<dynet::ParameterCollection> collection(
      m, "ParameterCollection", nb::dynamic_attr(),
      "A tree of named parameters: the part of a model that stays.\n\n"
      ">>> W = pc.add_parameters((2, 3), name=\"W\")\n"
      ">>> pc.parameters_list(), pc.parameter_count()\n"
      "([Parameter /W {2,3}], 6)");
  m.attr("Model") = collection;
  classes = {reinterpret_cast<PyTypeObject*>(expression.ptr()),
             reinterpret_cast<PyTypeObject*>(parameter.ptr()),
             reinterpret_cast<PyTypeObject*>(table.ptr())};
  bind_graph(m);
  bind_expressions(m, expression);
  bind_initializers(m);
  bind_parameters(m, parameter, table);
  bind_collections(m, collection);
  bind_trainers(m);
  bind_batch_trainer(m);
  bind_profiler(m);
  bind_tensorboard(m);
  bind_files(m);
  bind_checks(m);
  bind_custom_operation(m);
  bind_operations(m);
  bind_builders(m);
  bind_crfs(m);
  bind_decoding(m);
  bind_beam_search(m);
  bind_layers_of_nn(m);
  bind_transformers(m);
  bind_trees_of_nn(m);
  bind_more_layers(m);
  // Disables leak warnings: at exit, objects of other libraries may still reference parameters.
  nb::set_leak_warnings(false);
  m.def("_warn_of_leaks", [] { nb::set_leak_warnings(true); });
}
