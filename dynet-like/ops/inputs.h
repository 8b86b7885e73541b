#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/graph/indices.h"
#include "dynet-like/param/parameters.h"

// What enters a graph. Forms with a pointer read the value again at every `forward`; the caller
// keeps it alive. Errors: ArgumentError for a wrong number of values or a null pointer, IndexError
// for indices.

namespace dynet {

/// One number: {1}.
Expression input(ComputationGraph& g, real s, SourceLocation at = SourceLocation::current());
template <std::integral I>  // so that a literal 0 is a number, not a null pointer
Expression input(ComputationGraph& g, I s, SourceLocation at = SourceLocation::current()) {
  return input(g, static_cast<real>(s), at);
}
Expression input(ComputationGraph& g, const real* s, SourceLocation at = SourceLocation::current());
/// A tensor of shape d, column-major, batch elements one after another.
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>& data,
                 SourceLocation at = SourceLocation::current());
Expression input(ComputationGraph& g, const Dim& d, const std::vector<float>* data,
                 SourceLocation at = SourceLocation::current());
/// A vector {d} that is one at `index` and zero elsewhere; several indices make a batch.
Expression one_hot(ComputationGraph& g, unsigned d, unsigned index,
                   SourceLocation at = SourceLocation::current());
Expression one_hot(ComputationGraph& g, unsigned d, const std::vector<unsigned>& indices,
                   SourceLocation at = SourceLocation::current());

Expression zeros(ComputationGraph& g, const Dim& d, SourceLocation at = SourceLocation::current());
Expression ones(ComputationGraph& g, const Dim& d, SourceLocation at = SourceLocation::current());
/// Every element `value`.
Expression constant(ComputationGraph& g, const Dim& d, float value,
                    SourceLocation at = SourceLocation::current());

/// A parameter: its values in place, not copied.
Expression parameter(ComputationGraph& g, const Parameter& p,
                     SourceLocation at = SourceLocation::current());
/// A whole lookup table as one tensor, its rows along the last dimension.
Expression parameter(ComputationGraph& g, const LookupParameter& p,
                     SourceLocation at = SourceLocation::current());
/// The same without a gradient.
Expression const_parameter(ComputationGraph& g, const Parameter& p,
                           SourceLocation at = SourceLocation::current());
Expression const_parameter(ComputationGraph& g, const LookupParameter& p,
                           SourceLocation at = SourceLocation::current());

namespace detail {
/// `index` as unsigned. Throws IndexError for a negative or too large one, named after `op`.
template <std::integral I>
unsigned checked_index(const char* op, I index, SourceLocation at);
Expression lookup(ComputationGraph& g, const LookupParameter& p, const IndexList& indices,
                  bool constant, SourceLocation at);
/// Null pointers throw ArgumentError.
IndexList pointed(const char* op, const unsigned* p, SourceLocation at);
IndexList pointed(const char* op, const std::vector<unsigned>* p, SourceLocation at);
[[noreturn]] void throw_bad_index(const char* op, long long index, SourceLocation at);

template <std::integral I>
unsigned checked_index(const char* op, I index, SourceLocation at) {
  if (!std::in_range<unsigned>(index)) throw_bad_index(op, static_cast<long long>(index), at);
  return static_cast<unsigned>(index);
}
}  // namespace detail

/// A row of the table, in place; several indices give a batch, gathered. Indices beyond the table
/// throw IndexError: at once, or at `forward` if they lie behind a pointer.
template <std::integral I>
Expression lookup(ComputationGraph& g, const LookupParameter& p, I index,
                  SourceLocation at = SourceLocation::current()) {
  const unsigned i = detail::checked_index("lookup", index, at);
  return detail::lookup(g, p, IndexList::copy(&i, 1), false, at);
}
Expression lookup(ComputationGraph& g, const LookupParameter& p, const unsigned* index,
                  SourceLocation at = SourceLocation::current());
Expression lookup(ComputationGraph& g, const LookupParameter& p,
                  const std::vector<unsigned>& indices,
                  SourceLocation at = SourceLocation::current());
Expression lookup(ComputationGraph& g, const LookupParameter& p,
                  const std::vector<unsigned>* indices,
                  SourceLocation at = SourceLocation::current());
/// The same without a gradient.
template <std::integral I>
Expression const_lookup(ComputationGraph& g, const LookupParameter& p, I index,
                        SourceLocation at = SourceLocation::current()) {
  const unsigned i = detail::checked_index("const_lookup", index, at);
  return detail::lookup(g, p, IndexList::copy(&i, 1), true, at);
}
Expression const_lookup(ComputationGraph& g, const LookupParameter& p, const unsigned* index,
                        SourceLocation at = SourceLocation::current());
Expression const_lookup(ComputationGraph& g, const LookupParameter& p,
                        const std::vector<unsigned>& indices,
                        SourceLocation at = SourceLocation::current());
Expression const_lookup(ComputationGraph& g, const LookupParameter& p,
                        const std::vector<unsigned>* indices,
                        SourceLocation at = SourceLocation::current());

}  // namespace dynet
