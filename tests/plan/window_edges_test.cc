// Ends of windows.

#include <vector>

#include "dynet-like/plan/windows.h"
#include "tests/plan/hand_made.h"
#include "tests/support/catch.h"

namespace window_edges_test {

using namespace hand_made;

namespace {

const OpForm kIn = form("in"), kUp = form("up"), kParameter = form("parameter", Kind::parameter),
             kView = form("view", Kind::alias);

}  // namespace

TEST_CASE("a window ends after the node that fills it, however large the node is") {
  const auto n = static_cast<unsigned>(kTrainingWindows.elements);
  const Graph g = chains(1, 64, n);
  Windows windows(g, 0, 64);
  CHECK(windows.end_of(0) == 2);
  CHECK(windows.end_of(10) == 12);
  CHECK(windows.end_of(62) == 64);
  const Graph huge = chains(1, 4, 16 * n);
  CHECK(Windows(huge, 0, 4).end_of(0) == 1);
  CHECK(Windows(huge, 0, 4).end_of(3) == 4);
}

TEST_CASE("a window ends where the fewest values cross, up to a quarter later") {
  constexpr NodeId kFull = kTrainingWindows.nodes, kAll = kTrainingWindows.large_nodes;
  // Samples of `sample` nodes; each node uses the previous one and the first of its sample or, if
  // `shared`, the first of the graph.
  const auto end_of_first = [](NodeId sample, bool shared = false) {
    Graph g;
    const NodeId one = g.add(kIn, {1});
    while (g.nodes.size() < kAll) {
      const NodeId first = g.add(kIn, {1});
      for (NodeId k = 1; k < sample; ++k) g.add(kUp, {1}, {shared ? one : first, first + k - 1});
    }
    return Windows(g, 0, kAll).end_of(0);
  };
  CHECK(end_of_first(300) == 1 + 300 * 28);
  CHECK(end_of_first(300, true) == 1 + 300 * 28);
  CHECK(end_of_first(kFull - 1) == kFull);
  CHECK(end_of_first(kFull) == kFull + 1);
  CHECK(end_of_first(kFull + kFull / 4 - 1) == kFull + kFull / 4);
  CHECK(end_of_first(kFull + kFull / 4) == kFull);  // more than a quarter later
}

TEST_CASE("nodes without memory of their own do not fill windows") {
  Graph small;  // half the limit in values, much more in views
  const NodeId p = small.add(kParameter, {1u << 22});
  for (unsigned k = 0; k < 400; ++k) small.add(kView, {1u << 22}, {p});
  for (unsigned k = 0; k < 16; ++k) small.add(kIn, {1u << 18});
  CHECK(Windows(small, 0, 417).end_of(0) == 417);

  Graph large;
  NodeId x = large.add(kIn, {1u << 18});
  for (unsigned k = 0; k < 200; ++k) {
    x = large.add(kUp, {1u << 18}, {x});
    large.add(kView, {1u << 18}, {x});
    large.add(kParameter, {1u << 18});
  }
  // Five values fill a window; two nodes without memory follow each value.
  CHECK(Windows(large, 0, 601).end_of(0) == 1 + 3 * 3 + 1);
}

}  // namespace window_edges_test
