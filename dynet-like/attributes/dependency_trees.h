#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Which trees over the words of a sentence there are.
struct DependencyRules {
  bool projective = true;   ///< no two arcs cross, and none covers the root
  bool single_root = true;  ///< exactly one word has the root as its head

  friend constexpr bool operator==(const DependencyRules&, const DependencyRules&) = default;
};

/// The rules of a node, in words; all nodes of a batch have the same.
struct DependencyAttr {
  std::uint64_t projective, single_root;

  explicit DependencyAttr(DependencyRules rules)
      : projective(rules.projective), single_root(rules.single_root) {}
  DependencyRules rules() const { return {projective != 0, single_root != 0}; }
};

/// The same with heads, which are the payload: batch element after batch element.
struct DependencyHeadsAttr {
  DependencyAttr trees;
  std::uint64_t count;
};

}  // namespace dynet
