#pragma once

#include <initializer_list>
#include <type_traits>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/ops/index_argument.h"
#include "dynet-like/param/parameters.h"

// Inputs of a graph. Overloads with a pointer read the values again at every `forward`; the caller
// keeps the pointed-to object alive. Without a `device` the node is on the graph's device. Errors:
// ArgumentError for a wrong number of values or a null pointer, IndexError for indices, DeviceError
// for a device that cannot be used.

namespace dynet {

/// A scalar: {1}.
Expression input(ComputationGraph& g, real s, DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current());
// Makes a literal 0 a number, not a null pointer.
template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
Expression input(ComputationGraph& g, I s, DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current()) {
  return input(g, static_cast<real>(s), device, at);
}
Expression input(ComputationGraph& g, const real* s, DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current());
/// A tensor of shape d, column-major, batch elements one after another.
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>& data,
                 DeviceArgument device = {}, SourceLocation at = SourceLocation::current());
Expression input(ComputationGraph& g, const Dim& d, std::initializer_list<float> data,
                 DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current());  // {0} is no null pointer
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>* data,
                 DeviceArgument device = {}, SourceLocation at = SourceLocation::current());
/// A tensor of shape d, given by some of its elements: ids[k] is the column-major index, batch
/// included, of data[k]; all other elements are `defdata`. The last of equal indices counts.
Expression input(ComputationGraph& g, const Dim& d, const std::vector<unsigned>& ids,
                 const std::vector<float>& data, float defdata = 0.0f, DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current());
/// A vector {d} that is one at `index` and zero elsewhere; several indices give a batch.
Expression one_hot(ComputationGraph& g, unsigned d, const IndexArgument& index,
                   DeviceArgument device = {}, SourceLocation at = SourceLocation::current());

/// Every element zero.
Expression zeros(ComputationGraph& g, const Dim& d, DeviceArgument device = {},
                 SourceLocation at = SourceLocation::current());
/// Old name of zeros.
Expression zeroes(ComputationGraph& g, const Dim& d, DeviceArgument device = {},
                  SourceLocation at = SourceLocation::current());
/// Every element one.
Expression ones(ComputationGraph& g, const Dim& d, DeviceArgument device = {},
                SourceLocation at = SourceLocation::current());
/// Every element `value`.
Expression constant(ComputationGraph& g, const Dim& d, float value, DeviceArgument device = {},
                    SourceLocation at = SourceLocation::current());

/// A parameter; its values are used in place, not copied. Added to a graph again, it is the same
/// node.
Expression parameter(ComputationGraph& g, const Parameter& p,
                     SourceLocation at = SourceLocation::current());
/// A whole lookup table as one tensor, its rows along the last dimension.
Expression parameter(ComputationGraph& g, const LookupParameter& p,
                     SourceLocation at = SourceLocation::current());
/// A parameter or a whole table without a gradient.
Expression const_parameter(ComputationGraph& g, const Parameter& p,
                           SourceLocation at = SourceLocation::current());
Expression const_parameter(ComputationGraph& g, const LookupParameter& p,
                           SourceLocation at = SourceLocation::current());

/// A row of the table, in place; several indices give a batch of copied rows. An index outside the
/// table throws IndexError: immediately, or at `forward` for indices behind a pointer.
Expression lookup(ComputationGraph& g, const LookupParameter& p, const IndexArgument& index,
                  SourceLocation at = SourceLocation::current());
/// A row or a batch of rows without a gradient.
Expression const_lookup(ComputationGraph& g, const LookupParameter& p, const IndexArgument& index,
                        SourceLocation at = SourceLocation::current());

}  // namespace dynet
