#include "dynet-like/ops/families.h"
#include "tests/ops/cases.h"

namespace coverage_test {

using namespace dynet;
using namespace dynet::test;

TEST_CASE("every operation has a test case") {
  std::set<const OpForm*> seen;
  for (const OpCase& c : all_cases()) {
    ComputationGraph g;
    Operand x;
    x.graph = &g;
    Shapes shapes(Shapes::plain, 1);
    for (const Dim& d : c.shapes(shapes)) x.push_back(constant(g, d, 0.5f));
    const NodeId first = static_cast<NodeId>(g.size());
    c.build(x);
    for (NodeId id = first; id < g.size(); ++id) seen.insert(g.store().nodes[id].form);
  }
  for (const OpForm* form : all_ops()) {
    INFO("no case in tests/ops builds the operation " << form->name.value);
    CHECK(seen.count(form) == 1);
  }
}

TEST_CASE("every form says why it does not batch") {
  for (const OpForm* form : all_ops()) {
    INFO(form->name.value);
    const BatchRule& rule = form->batch.value;
    CHECK(rule.batches == (rule.why_not == nullptr));
    CHECK(rule.attribute_bytes % 8 == 0);
  }
}

TEST_CASE("the forms of operations are all different") {
  const std::vector<const OpForm*> all = all_ops();
  CHECK(std::set<const OpForm*>(all.begin(), all.end()).size() == all.size());
}

}  // namespace coverage_test
