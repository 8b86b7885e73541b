#include "dynet-like/plan/gradient_layout.h"

#include <vector>

#include "tests/plan/check_steps.h"
#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace gradient_layout_test {

using namespace hand_made;

namespace {

constexpr std::uint64_t kNothing = GradientLayout::kNoMemory;

GradientLayout laid_out(const Graph& g, const Plan& plan, const std::vector<char>& wanted) {
  PodVector<bool> by_node;
  for (const char w : wanted) by_node.push_back(w != 0);
  GradientLayout layout;
  lay_out_gradients(g, {plan.steps.data(), plan.steps.size()}, plan.order.data(),
                    {by_node.data(), by_node.size()}, layout);
  return layout;
}

}  // namespace

TEST_CASE("the gradient layout follows the steps and places batches side by side") {
  Graph g;
  const OpForm a = form("a"), b = form("b");
  g.add(a, {3});
  g.add(b, {20});
  g.add(a, {3});
  g.add(b, {20});
  const Plan plan = plan_of(g, 0, 4);
  const GradientLayout all = laid_out(g, plan, {1, 1, 1, 1});
  CHECK(std::vector(all.offset.begin(), all.offset.end()) ==
        std::vector<std::uint64_t>{0, 16, 3, 36});
  CHECK(all.extent[0] == 56);
}

TEST_CASE("the gradient layout allocates nothing for unwanted gradients") {
  Graph g;
  const OpForm a = form("a");
  for (int k = 0; k < 4; ++k) g.add(a, {8});
  const Plan plan = plan_of(g, 0, 4);
  const GradientLayout some = laid_out(g, plan, {1, 0, 1});  // the last node is after the loss
  CHECK(std::vector(some.offset.begin(), some.offset.end()) ==
        std::vector<std::uint64_t>{0, kNothing, 8});
  CHECK(some.extent[0] == 16);
}

TEST_CASE("the gradient layout keeps gradients apart on two devices") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph g = random_graph_on_two_devices(seed);
    const RandomStream random(seed);
    const auto n = static_cast<NodeId>(g.nodes.size());
    std::vector<char> wanted;
    for (NodeId id = 0; id < n; ++id) wanted.push_back(random.bits(id) % 4 > 0);
    const Plan plan = plan_of(g, 0, n);
    const GradientLayout layout = laid_out(g, plan, wanted);
    PodVector<bool> by_node;
    for (const char w : wanted) by_node.push_back(w != 0);
    REQUIRE_NOTHROW(PlanVerifier().verify(g, {by_node.data(), by_node.size()}, layout));
  }
}

}  // namespace gradient_layout_test
