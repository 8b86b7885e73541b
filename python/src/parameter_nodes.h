#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dynet-like/graph/expression.h"

namespace dynet {
struct ParameterStorageBase;
}

namespace dynet::python {

/// The node of each parameter in a graph: a table that is never emptied. Nodes of the time before a
/// renewal are found stale, which takes less time than to forget them all, and as long as a node
/// names a parameter no other one has its address.
class ParameterNodes {
 public:
  /// The place for the node of a parameter: as it was left, empty at first. Good until the next
  /// call.
  Expression& operator[](const ParameterStorageBase* p) {
    Entry* e = find(p);
    if (e->p) return e->node;
    if (4 * ++count_ > 3 * entries_.size()) {
      grow();
      e = find(p);
    }
    e->p = p;
    return e->node;
  }

 private:
  struct Entry {
    const ParameterStorageBase* p = nullptr;
    Expression node;
  };

  // Entry of a parameter, or the free entry for it.
  Entry* find(const ParameterStorageBase* p) {
    const std::size_t last = entries_.size() - 1;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(p) * 0x9e3779b97f4a7c15) >> 32;
    while (entries_[i & last].p && entries_[i & last].p != p) ++i;
    return &entries_[i & last];
  }
  void grow() {
    std::vector<Entry> before(2 * entries_.size());
    before.swap(entries_);
    for (const Entry& e : before)
      if (e.p) *find(e.p) = e;
  }

  // A power of two of them, some of which are free.
  std::vector<Entry> entries_ = std::vector<Entry>(16);
  std::size_t count_ = 0;
};

}  // namespace dynet::python
