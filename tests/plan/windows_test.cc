#include "dynet-like/plan/windows.h"

#include "tests/plan/hand_made.h"
#include "tests/support/prelude.h"

namespace windows_test {

using namespace hand_made;

namespace {

/// Boundaries of the windows of a graph.
std::vector<NodeId> cuts(const Graph& g) {
  const auto n = static_cast<NodeId>(g.nodes.size());
  Windows windows(g, 0, n);
  std::vector<NodeId> result{0};
  Plan plan;
  while (result.back() < n) {
    PlanMaker(PlanPolicy::in_batches).make(g, result.back(), windows.end_of(result.back()), plan);
    if (windows.accept(plan)) result.push_back(plan.end);
  }
  return result;
}

}  // namespace

TEST_CASE("a graph that fits the caches is one window") {
  const Graph g = chains(100, 10, 1000);  // 1M elements
  CHECK(cuts(g) == std::vector<NodeId>{0, 1000});
  CHECK(cuts(Graph{}) == std::vector<NodeId>{0});
}

TEST_CASE("a large graph is cut where batches stay wide") {
  const Graph g = chains(200, 10, 16384);  // 33M elements, 164k a sample
  const auto found = cuts(g);
  REQUIRE(found.size() > 8);
  CHECK(found.back() == 2000);
  for (std::size_t k = 1; k < found.size(); ++k) {
    CHECK(found[k] > found[k - 1]);
    CHECK(found[k] - found[k - 1] >= 10 * Windows::kColumns);
    CHECK(found[k] - found[k - 1] <= 20 * Windows::kColumns);
  }
}

TEST_CASE("windows stay small if larger windows are not wider") {
  const auto found = cuts(chains(1, 2000, 16384));
  const std::size_t smallest = kTrainingWindows.elements / 16384 + 1;
  REQUIRE(found.size() > 20);
  CHECK(found[1] == 2 * smallest - 1);  // the smallest was refused, its double accepted
  for (std::size_t k = 2; k + 1 < found.size(); ++k) CHECK(found[k] - found[k - 1] == smallest);
  CHECK(found.back() == 2000);
}

TEST_CASE("windows grow while larger windows are wider") {
  // 129 nodes fill a window of twice the smallest size: sixteen samples and a part of another.
  const auto found = cuts(chains(256, 8, 16384));
  REQUIRE(found.size() > 10);
  for (std::size_t k = 1; k + 1 < found.size(); ++k) CHECK(found[k] - found[k - 1] == 17 * 8);
}

TEST_CASE("a window with just enough columns is accepted") {
  // 128 nodes, sixteen samples, fill the smallest window.
  const auto found = cuts(chains(256, 8, 8200));
  REQUIRE(found.size() > 10);
  for (std::size_t k = 1; k + 1 < found.size(); ++k)
    CHECK(found[k] - found[k - 1] == 8 * Windows::kColumns);
}

TEST_CASE("a graph of many small nodes is cut into windows") {
  constexpr auto kNodes = static_cast<unsigned>(kTrainingWindows.large_nodes);
  CHECK(cuts(chains(1, kNodes - 1, 1)) == std::vector<NodeId>{0, kNodes - 1});
  const auto found = cuts(chains(1, kNodes, 1));
  REQUIRE(found.size() == 1 + kNodes / kTrainingWindows.nodes - 1);
  CHECK(found[1] == 2 * kTrainingWindows.nodes);
  CHECK(found[2] == 3 * kTrainingWindows.nodes);
  CHECK(found.back() == kNodes);
}

TEST_CASE("a graph run in windows has the values and gradients of a run node by node") {
  using namespace dynet;
  ParameterCollection pc;
  const Parameter W = pc.add_parameters({64, 64});
  std::vector<float> loss, gradient[2];
  for (const bool batching : {false, true}) {
    pc.reset_gradient();
    ComputationGraph g(batching);
    const Expression w = parameter(g, W);
    std::vector<Expression> all;
    for (unsigned s = 0; s < 100; ++s) {  // minibatches of 300: 9.6M elements
      Expression x = input(g, Dim({64}, 300), std::vector<float>(64 * 300, 0.01f * s));
      for (unsigned t = 0; t < 4; ++t) x = tanh(w * x);
      all.push_back(sum_batches(sum_elems(x)));
    }
    const Expression sum_of_all = sum(all);
    loss.push_back(as_scalar(sum_of_all.value()));
    g.backward(sum_of_all);
    gradient[batching] = as_vector(W.gradients());
    if (batching) CHECK(g.statistics().batches > 12);  // the number without windows
  }
  CHECK(loss[0] == Approx(loss[1]).epsilon(1e-5));
  float largest = 0;
  for (const float v : gradient[0]) largest = std::max(largest, std::abs(v));
  for (std::size_t k = 0; k < gradient[0].size(); ++k)
    REQUIRE(std::abs(gradient[0][k] - gradient[1][k]) <= 1e-4f * largest);
}

}  // namespace windows_test
