#include "arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

namespace dynet::python {
template <class To, class From>
nb::object array_copy(const Dim& d, const From* values) {
  auto memory = std::make_unique<To[]>(std::max<std::size_t>(d.size(), 1));
  std::copy_n(values, d.size(), memory.get());
  To* const data = memory.get();
  const nb::capsule owner(memory.release(), [](void* p) noexcept { delete[] static_cast<To*>(p); });
  const std::vector<std::size_t> shape = array_shape(d);
  return nb::cast(nb::ndarray<nb::numpy, To, nb::f_contig>(data, shape.size(), shape.data(), owner,
                                                           nullptr, nb::dtype<To>(),
                                                           nb::device::cpu::value, 0, 'F'));
}
template nb::object array_copy<float>(const Dim&, const float*);
template nb::object array_copy<double>(const Dim&, const float*);
template nb::object array_copy<double>(const Dim&, const double*);

bool has_shape(nb::handle array, const Dim& d) {
  auto given =
      nb::cast<std::vector<std::size_t>>(nb::module_::import_("numpy").attr("shape")(array));
  auto wanted = array_shape(d);
  for (auto* sizes : {&given, &wanted})
    while (!sizes->empty() && sizes->back() == 1) sizes->pop_back();
  return given == wanted;
}

std::string shape_text(nb::handle array) {
  return nb::cast<std::string>(nb::str(nb::module_::import_("numpy").attr("shape")(array)));
}

std::vector<std::size_t> array_shape(const Dim& d) {
  std::vector<std::size_t> shape(d.d, d.d + d.nd);
  if (d.bd > 1) shape.push_back(d.bd);
  return shape;
}

nb::object view_of(const Dim& d, float* values, nb::handle owner) {
  const std::vector<std::size_t> shape = array_shape(d);
  return nb::cast(nb::ndarray<nb::numpy, float, nb::f_contig>(values, shape.size(), shape.data(),
                                                              owner, nullptr, nb::dtype<float>(),
                                                              nb::device::cpu::value, 0, 'F'));
}

ShapeTuple shape_tuple(const Dim& d) {
  nb::list sizes;
  for (unsigned i = 0; i < d.nd; ++i) sizes.append(d.d[i]);
  return ShapeTuple(nb::tuple(sizes));
}

DimTuple dim_tuple(const Dim& d) { return DimTuple(nb::make_tuple(shape_tuple(d), d.bd)); }

}  // namespace dynet::python
