// A tree is begun again in every graph.

#include "tests/support/prelude.h"

namespace tree_states_test {

using namespace dynet;

TEST_CASE("trees: nodes belong to the graph and to the tree they were added to") {
  ParameterCollection pc;
  NaryTreeLSTMBuilder nary(2, 1, 3, 4, pc);
  ChildSumTreeLSTMBuilder sums(1, 3, 4, pc);
  for (TreeLSTMBuilder* const tree :
       {static_cast<TreeLSTMBuilder*>(&nary), static_cast<TreeLSTMBuilder*>(&sums)}) {
    ComputationGraph g;
    const Expression x = input(g, {3}, {1, 2, 3});
    tree->new_graph(g);
    CHECK_THROWS_AS(tree->add_input(0, {}, x), ArgumentError);
    tree->start_new_sequence();
    tree->set_num_elements(1);
    const std::vector<float> first = as_vector(tree->add_input(0, {}, x).value());
    CHECK_THROWS_AS(tree->add_input(1, {}, x), ArgumentError);
    tree->start_new_sequence();
    CHECK_THROWS_AS(tree->back(), ArgumentError);
    CHECK(as_vector(tree->add_input(1, {}, x).value()) == first);  // no limit any more
    ComputationGraph other;
    tree->new_graph(other);
    CHECK_THROWS_AS(tree->add_input(0, {}, input(other, {3}, {1, 2, 3})), ArgumentError);
    CHECK_THROWS_AS(tree->back(), ArgumentError);
  }
}

}  // namespace tree_states_test
