#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "dynet-like/c/dynet.h"
#include "tests/support/prelude.h"

// The C interface with less typing. Functions require that nothing fails.

namespace dynet::test {

/// An error that must be unset when it goes.
struct NoError {
  dynet_error error = DYNET_NO_ERROR;

  operator dynet_error*() { return DYNET_HERE(&error); }  // NOLINT: implicit
  ~NoError() {
    INFO(error.message);
    CHECK(error.code == DYNET_OK);
  }
};

/// An object of the C interface with its function to free it.
template <class T, void (*Free)(T*)>
struct Owned {
  T* pointer;

  explicit Owned(T* p) : pointer(p) {}
  Owned(const Owned&) = delete;
  ~Owned() { Free(pointer); }
  operator T*() const { return pointer; }  // NOLINT: implicit
};
using Model = Owned<dynet_model, dynet_model_free>;
using Graph = Owned<dynet_graph, dynet_graph_free>;
using Rnn = Owned<dynet_rnn, dynet_rnn_free>;
using Tree = Owned<dynet_tree, dynet_tree_free>;
using Optimizer = Owned<dynet_trainer, dynet_trainer_free>;

inline dynet_expression apply(dynet_graph* g, const char* operation,
                              std::initializer_list<dynet_value> arguments) {
  return dynet_apply(g, operation, arguments.begin(), arguments.size(), NoError());
}
inline std::vector<float> value_of(dynet_expression e) {
  dynet_shape shape;
  dynet_get_shape(e, &shape, NoError());
  std::size_t size = shape.batch;
  for (unsigned i = 0; i < shape.dimensions; ++i) size *= shape.sizes[i];
  std::vector<float> values(size);
  dynet_get_value(e, values.data(), size, NoError());
  return values;
}
inline dynet_expression numbers(dynet_graph* g, const std::vector<float>& values) {
  return apply(
      g, "input",
      {dynet_int(static_cast<int>(values.size())), dynet_nums(values.data(), values.size())});
}
inline dynet_parameter* add(dynet_model* model, const char* name,
                            const std::vector<std::uint32_t>& sizes,
                            const char* initializer = nullptr) {
  return dynet_add_parameters(model, name, sizes.data(), sizes.size(), initializer, NoError());
}
inline std::vector<float> values_of(const dynet_parameter* p, std::size_t size) {
  std::vector<float> values(size);
  dynet_parameter_get(p, values.data(), size, NoError());
  return values;
}

/// Signatures of a family.
inline std::vector<std::string> signatures(dynet_family family) {
  std::vector<std::string> all;
  for (std::size_t i = 0; dynet_signature(family, i); ++i)
    all.push_back(dynet_signature(family, i));
  return all;
}
inline std::string name_in(const std::string& signature) {
  return signature.substr(0, signature.find('('));
}

}  // namespace dynet::test
