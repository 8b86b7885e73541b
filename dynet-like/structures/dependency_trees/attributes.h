#pragma once

#include <cstddef>
#include <cstdint>

namespace dynet {

/// Constraints on the trees over the words of a sentence.
struct DependencyRules {
  bool projective = true;   ///< no two arcs cross; the root stands before all words
  bool single_root = true;  ///< exactly one word has the root as head

  friend constexpr bool operator==(const DependencyRules&, const DependencyRules&) = default;
};

/// DependencyRules as words; equal in all nodes of a batch.
struct DependencyAttr {
  std::uint64_t projective, single_root;
};

/// DependencyAttr, and the number of heads. Payload: the heads, one batch element after the other.
struct DependencyHeadsAttr {
  DependencyAttr trees;
  std::uint64_t count;
};

/// Returns whether heads of words 1 to n, 0 for the root, form a tree that the rules allow.
inline bool is_dependency_tree(const unsigned* heads, std::size_t n, DependencyAttr rules) {
  std::size_t roots = 0;
  for (std::size_t d = 1; d <= n; ++d) {
    roots += heads[d - 1] == 0;
    std::size_t steps = 0, h = d;
    for (; h != 0 && steps <= n; ++steps) h = heads[h - 1];
    if (h != 0) return false;
  }
  if (rules.single_root && roots > 1) return false;
  for (std::size_t d = 1; rules.projective && d <= n; ++d) {
    const std::size_t h = heads[d - 1], first = h < d ? h : d, last = h < d ? d : h;
    for (std::size_t k = first + 1; k < last; ++k)
      if (heads[k - 1] < first || heads[k - 1] > last) return false;
  }
  return true;
}

/// Scratch of projective trees, per batch element: tables of doubles with one row for each span
/// width. A row has the spans by their first node, and padding for one vector.
struct DependencyTables {
  std::size_t nodes;  ///< the words and the root
  std::size_t stride() const { return nodes + 16; }
  std::size_t size() const { return nodes * stride(); }
  static constexpr std::size_t kTables = 5;
  /// Size of scratch in elements of float; more than enough in double precision.
  std::size_t elements() const { return 2 * kTables * size(); }
};

}  // namespace dynet
