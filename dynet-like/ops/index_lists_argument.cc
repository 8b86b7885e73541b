#include "dynet-like/ops/index_lists_argument.h"

#include <algorithm>

#include "dynet-like/shape/broken.h"

namespace dynet {

void IndexListsArgument::note_length(const std::vector<unsigned>& list) {
  const auto n = static_cast<std::uint32_t>(list.size());
  lists_.shortest = lists_.lists == 0 ? n : std::min(lists_.shortest, n);
  lists_.longest = std::max(lists_.longest, n);
  lists_.total += n;
  ++lists_.lists;
}

void IndexListsArgument::add(const std::vector<unsigned>& list) {
  note_length(list);
  payload_.insert(payload_.end(), list.begin(), list.end());
  for (unsigned index : list) lists_.largest = std::max(lists_.largest, index);
}

IndexListsArgument::IndexListsArgument(const std::vector<unsigned>& list) {
  payload_.push_back(static_cast<unsigned>(list.size()));
  add(list);
}
IndexListsArgument::IndexListsArgument(const std::vector<std::vector<unsigned>>& lists) {
  for (const auto& list : lists) payload_.push_back(static_cast<unsigned>(list.size()));
  for (const auto& list : lists) add(list);
}
IndexListsArgument::IndexListsArgument(const std::vector<unsigned>* list) {
  lists_.pointer = list;
  lists_.source = IndexLists::at_list;
  if (list) note_length(*list);
}
IndexListsArgument::IndexListsArgument(const std::vector<std::vector<unsigned>>* lists) {
  lists_.pointer = lists;
  lists_.source = IndexLists::at_lists;
  if (!lists) return;
  for (const auto& list : *lists) note_length(list);
}

void check_lists(const IndexLists& lists) {
  if (lists.source != IndexLists::in_node && !lists.pointer)
    shape::broken("the pointer to the indices is null", shape::Kind::argument);
  if (lists.lists == 0) shape::broken("needs at least one list", shape::Kind::argument);
}

}  // namespace dynet
