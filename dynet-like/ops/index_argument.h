#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "dynet-like/graph/indices.h"

namespace dynet {

/// The indices of an operation: one integer, or a list or vector of integers, which are copied; or
/// a pointer to an integer or a vector, which is read again at every forward and must live as long
/// as the graph uses it. For parameter lists only: it may point to the argument.
class IndexArgument {
 public:
  template <class I, class = std::enable_if_t<std::is_integral_v<I> ||
                                              (std::is_enum_v<I> && std::is_convertible_v<I, int>)>>
  IndexArgument(I index)  // NOLINT: implicit
      : one_(static_cast<unsigned>(index)) {
    list_ = IndexList::copy(&one_, 1);
    extreme_ = static_cast<std::int64_t>(index);
    if constexpr (std::is_unsigned_v<I>)
      if (extreme_ < 0) extreme_ = std::numeric_limits<std::int64_t>::max();
  }
  IndexArgument(std::initializer_list<unsigned> indices)
      : list_(IndexList::copy(indices.begin(), indices.size())), extreme_(list_.largest()) {}
  /// Copy of the whole numbers from `first` to `last`.
  template <class I, class = std::enable_if_t<
                         std::is_integral_v<typename std::iterator_traits<I>::value_type>>>
  IndexArgument(I first, I last) : own_(first, last) {
    list_ = IndexList::copy(own_);
    extreme_ = list_.largest();
  }
  IndexArgument(const std::vector<unsigned>& indices)  // NOLINT: implicit
      : list_(IndexList::copy(indices)), extreme_(list_.largest()) {}
  IndexArgument(const unsigned* index)  // NOLINT: implicit
      : list_(IndexList::at(index)) {}
  IndexArgument(const std::vector<unsigned>* indices) {  // NOLINT: implicit
    list_ = indices ? IndexList::at(indices) : IndexList{nullptr, {nullptr, Indices::at_vector, 1}};
  }
  IndexArgument(const IndexArgument&) = delete;
  IndexArgument& operator=(const IndexArgument&) = delete;

  const Indices& indices() const { return list_.indices; }
  const unsigned* payload() const { return list_.values; }
  std::size_t payload_size() const { return list_.payload_size(); }
  /// Index that the shape rule checks: the largest, or one that is negative or too large for
  /// `unsigned`. Zero for indices behind a pointer, which are checked at every forward.
  std::int64_t extreme() const { return extreme_; }

 private:
  unsigned one_ = 0;
  std::vector<unsigned> own_;
  IndexList list_;
  std::int64_t extreme_ = 0;
};

/// The largest index for a shape rule; throws RuleBroken for a null pointer and for an index that
/// no `unsigned` can hold.
unsigned largest_index(const Indices& indices, std::int64_t extreme);

}  // namespace dynet
