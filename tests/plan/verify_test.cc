#include "dynet-like/plan/verify.h"

#include <functional>
#include <string>
#include <utility>

#include "dynet-like/plan/plan_maker.h"
#include "tests/plan/random_graphs.h"
#include "tests/support/catch.h"

namespace verify_test {

using namespace hand_made;

namespace {

const OpForm kIn = form("in"), kUp = form("up"), kSum = form("sum");

// Two batches of two nodes, and their sum.
Graph small() {
  Graph g;
  const NodeId a = g.add(kIn, {3}), b = g.add(kIn, {3});
  g.add(kSum, {3}, {g.add(kUp, {5}, {a}), g.add(kUp, {5}, {b})});
  return g;
}

/// Checks that verify(arguments) names this fault, or throws nothing if it is "none".
template <class... Arguments>
void check_fault(const std::string& fault, const Arguments&... arguments) {
  std::string found = "none";
  try {
    PlanVerifier().verify(arguments...);
  } catch (const std::logic_error& e) {
    found = e.what();
  }
  CHECK(found == (fault == "none" ? fault : "a plan is wrong: " + fault));
}

}  // namespace

TEST_CASE("verify names the fault of a changed plan") {
  const Graph g = small();
  const auto expect = [&](const std::string& fault, const std::function<void(Plan&)>& change) {
    Plan plan = plan_of(g, 0, 5);
    REQUIRE(plan.steps.size() == 3);
    change(plan);
    check_fault(fault, g, plan);
  };
  expect("none", [](Plan&) {});
  expect("it is not of this graph", [](Plan& p) { p.end = 6; });
  expect("a step is empty, or ends behind the last node", [](Plan& p) { p.steps[2].count = 0; });
  expect("a step is empty, or ends behind the last node", [](Plan& p) { p.steps[2].count = 2; });
  expect("nodes are in no step, or in several", [](Plan& p) { p.steps.truncate(2); });
  expect("node 1 (in) is never computed", [](Plan& p) {
    p.steps[0].count = 1;
    p.steps.truncate(1);
    p.order.truncate(1);
  });
  expect("node 2 (up) runs before an operand", [](Plan& p) { std::swap(p.steps[0], p.steps[1]); });
  expect("node 0 (in) is begun twice, or goes on before it began",
         [](Plan& p) { p.steps[0].accumulates = true; });
  expect("node 1 (in) does not lie beside the others of its batch",
         [](Plan& p) { p.value[1] += 1; });
  expect("node 0 (in) is not aligned", [](Plan& p) {
    p.value[0] += 1;
    p.value[1] += 1;
  });
  expect("node 4 (sum) lies outside of the plan's memory", [](Plan& p) { p.extent -= 4; });
  expect("node 2 (up) overwrites an operand of its batch", [](Plan& p) {
    p.value[2] = p.value[0];
    p.value[3] = p.value[2] + 5;
  });
  expect("node 4 (sum) has memory and needs none, or needs some",
         [](Plan& p) { p.value[4] = Plan::kNoMemory; });
  expect("node 0 (in) is not there at the end", [](Plan& p) { p.value[4] = p.value[0]; });
  expect("none", [](Plan& p) {  // marked as freed
    p.value[4] = p.value[0];
    p.freed.resize(5, false);
    p.freed[0] = p.freed[1] = p.freed[2] = p.freed[3] = true;
  });
  expect("node 4 (sum) overwrites an operand of its batch", [](Plan& p) {
    p.value[4] = p.value[2];
    p.freed.resize(5, false);
    p.freed[0] = p.freed[1] = p.freed[2] = p.freed[3] = true;
  });
}

TEST_CASE("verify names a value that is overwritten before it is read") {
  Graph g;  // the sum reads both
  const NodeId a = g.add(kIn, {3}), b = g.add(kUp, {3}, {a});
  g.add(kSum, {3}, {a, b});
  Plan plan = plan_of(g, 0, 3);
  check_fault("none", g, plan);
  plan.freed.resize(3, false);
  plan.freed[a] = true;
  plan.value[b] = plan.value[a];
  check_fault("node 2 (sum) reads an operand that is lost", g, plan);
}

TEST_CASE("verify accepts scratch over the first operand, whose value is lost then") {
  static const OpForm kGates = [] {
    OpForm f = form("gates", Kind::compute, BatchRule::each(),
                    [](const GraphStore&, const Node& n) { return 4 + n.dim.size(); });
    f.scratch_before_operand = [](const Dim&) { return std::size_t{4}; };
    return f;
  }();
  Graph g;
  const NodeId a = g.add(kIn, {4}), b = g.add(kGates, {4}, {a});
  Plan plan = plan_of(g, 0, 2);
  plan.value[a] = 4;
  plan.value[b] = 12;
  plan.aux[b] = 0;
  check_fault("node 1 (gates) overwrites an operand of its batch", g, plan);
  plan.freed.resize(2, false);
  plan.freed[a] = true;
  check_fault("none", g, plan);
  plan.aux[b] = 1;
  check_fault("node 1 (gates) overwrites an operand of its batch", g, plan);
}

TEST_CASE("verify names gradients that overlap, are missing or outside of their block") {
  const Graph g = small();
  Plan plan = plan_of(g, 0, 5);
  const auto expect = [&](const std::string& fault,
                          const std::function<void(GradientLayout&)>& change) {
    PodVector<bool> wanted;
    for (NodeId id = 0; id < 5; ++id) wanted.push_back(id > 1);
    GradientLayout layout;
    lay_out_gradients(g, {plan.steps.data(), plan.steps.size()}, plan.order.data(),
                      {wanted.data(), wanted.size()}, layout);
    change(layout);
    check_fault(fault, g, std::span<const bool>(wanted.data(), wanted.size()), layout);
  };
  expect("none", [](GradientLayout&) {});
  expect("node 3 (up) has the gradient of another",
         [](GradientLayout& l) { l.offset[3] = l.offset[2]; });
  expect("node 3 (up) has its gradient over that of another",
         [](GradientLayout& l) { --l.offset[3]; });
  expect("node 4 (sum) lacks its gradient, or has one",
         [](GradientLayout& l) { l.offset[4] = GradientLayout::kNoMemory; });
  expect("node 0 (in) lacks its gradient, or has one", [](GradientLayout& l) { l.offset[0] = 0; });
  expect("node 4 (sum) has its gradient outside of the block",
         [](GradientLayout& l) { --l.extent[0]; });
}

}  // namespace verify_test
