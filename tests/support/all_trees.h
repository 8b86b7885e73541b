#pragma once

#include <vector>

#include "dynet-like/structures/dependency_trees/attributes.h"

namespace dynet::test {

constexpr DependencyRules kRules[] = {{true, true}, {true, false}, {false, true}, {false, false}};

/// All trees over n words that the rules allow, as heads of words 1..n, in lexicographic order.
inline std::vector<std::vector<unsigned>> all_trees(unsigned n, DependencyRules rules) {
  std::vector<std::vector<unsigned>> all;
  std::vector<unsigned> heads(n, 0);
  const auto reaches = [&](unsigned from, unsigned to) {  // along heads; at most n steps
    for (unsigned steps = 0; steps <= n; ++steps, from = heads[from - 1]) {
      if (from == to) return true;
      if (from == 0) return false;
    }
    return false;
  };
  const auto allowed = [&] {
    unsigned roots = 0;
    for (unsigned d = 1; d <= n; ++d) {
      roots += heads[d - 1] == 0;
      if (!reaches(d, 0)) return false;
      for (unsigned k = 1; k <= n && rules.projective; ++k) {  // under an arc: only descendants
        const unsigned h = heads[d - 1];
        if (((h < k && k < d) || (d < k && k < h)) && !reaches(k, h)) return false;
      }
    }
    return !rules.single_root || n == 0 || roots == 1;
  };
  for (;;) {
    if (allowed()) all.push_back(heads);
    unsigned d = n;
    while (d > 0 && heads[d - 1] == n) heads[--d] = 0;
    if (d == 0) return all;
    ++heads[d - 1];
  }
}

}  // namespace dynet::test
