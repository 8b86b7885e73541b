#pragma once

#include <initializer_list>
#include <vector>

#include "dynet-like/graph/index_lists.h"

namespace dynet {

/// Lists of indices for an operation: one list for all batch elements, or one list for each.
/// Copied, or behind a pointer that every forward reads again and that must outlive its use.
class IndexListsArgument {
 public:
  IndexListsArgument(std::initializer_list<unsigned> list)
      : IndexListsArgument(std::vector<unsigned>(list)) {}
  IndexListsArgument(const std::vector<unsigned>& list);                // NOLINT: implicit
  IndexListsArgument(const std::vector<unsigned>* list);                // NOLINT: implicit
  IndexListsArgument(const std::vector<std::vector<unsigned>>& lists);  // NOLINT: implicit
  IndexListsArgument(const std::vector<std::vector<unsigned>>* lists);  // NOLINT: implicit
  /// A braced list of lists. {{0}, {1}} is ambiguous, one list or two, and does not compile.
  IndexListsArgument(std::initializer_list<std::initializer_list<unsigned>> lists)
      : IndexListsArgument(std::vector<std::vector<unsigned>>(lists.begin(), lists.end())) {}

  const IndexLists& lists() const { return lists_; }
  const unsigned* payload() const { return payload_.data(); }
  std::size_t payload_size() const { return payload_.size() * sizeof(unsigned); }

 private:
  void note_length(const std::vector<unsigned>& list);
  void add(const std::vector<unsigned>& list);

  IndexLists lists_{};
  std::vector<unsigned> payload_;
};

/// Throws RuleBroken for a null pointer and for zero lists.
void check_lists(const IndexLists& lists);

}  // namespace dynet
