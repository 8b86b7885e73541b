#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dynet-like/graph/expression.h"

namespace dynet {
struct ParameterStorageBase;
}

namespace dynet::python {

/// Hash table from parameters to their nodes in a graph; never cleared. Nodes from before a renewal
/// are detected as stale, which costs less than clearing the table. A node keeps its parameter
/// alive, so that addresses are not reused.
class ParameterNodes {
 public:
  /// Slot for the node of a parameter, initially empty; may hold a stale node. Valid until the next
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

  // A power of two, with free slots.
  std::vector<Entry> entries_ = std::vector<Entry>(16);
  std::size_t count_ = 0;
};

}  // namespace dynet::python
