#include <iomanip>

#include "tests/support/prelude.h"

namespace graphviz_test {

using namespace dynet;

namespace {

struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return ','; }
  std::string do_grouping() const override { return "\1"; }
};

}  // namespace

TEST_CASE("print_graphviz writes nodes, shapes, parameter names and edges") {
  ParameterCollection pc;
  auto sub = pc.add_subcollection("net");
  auto w = sub.add_parameters({3, 2}, "W");
  auto e = sub.add_lookup_parameters(10, {2}, "words");
  ComputationGraph g;
  const Expression x = lookup(g, e, std::vector<unsigned>{4, 5});
  const Expression h = tanh(parameter(g, w) * x);
  sum_batches(h);
  const std::string product(g.store().nodes[2].form->name.value);
  CHECK(g.print_graphviz() ==
        "digraph G {\n"
        "  rankdir=LR;\n"
        "  nodesep=.05;\n"
        "  N0 [label=\"0: lookup /net/words\\n{2X2}\", shape=box];\n"
        "  N1 [label=\"1: parameter /net/W\\n{3,2}\", shape=box];\n"
        "  N2 [label=\"2: " +
            product +
            "\\n{3X2}\"];\n"
            "  N1 -> N2 [label=\"1\"];\n"
            "  N0 -> N2 [label=\"2\"];\n"
            "  N3 [label=\"3: tanh\\n{3X2}\"];\n"
            "  N2 -> N3;\n"
            "  N4 [label=\"4: sum_batches\\n{3}\"];\n"
            "  N3 -> N4;\n"
            "}\n");
}

TEST_CASE("print_graphviz computes nothing and leaves the graph unchanged") {
  ComputationGraph g;
  CHECK(g.print_graphviz() == "digraph G {\n  rankdir=LR;\n  nodesep=.05;\n}\n");
  const unsigned index = 100;
  ParameterCollection pc;
  const Expression bad = lookup(g, pc.add_lookup_parameters(3, {2}), &index);
  g.print_graphviz();
  CHECK(g.size() == 1);
  CHECK_THROWS_AS(bad.value(), IndexError);
  g.clear();
  CHECK(g.print_graphviz().find("N0") == std::string::npos);
}

TEST_CASE("print_graphviz escapes quotes and backslashes in names") {
  ParameterCollection pc;
  auto p = pc.add_parameters({1}, "a\"b\\c");
  ComputationGraph g;
  parameter(g, p);
  CHECK(g.print_graphviz().find("0: parameter /a\\\"b\\\\c\\n{1}") != std::string::npos);
}

TEST_CASE("print_graphviz does not depend on the state of the stream") {
  ComputationGraph g;
  Expression x = input(g, {4}, {1, 2, 3, 4});
  for (int k = 0; k < 20; ++k) x = x + x;
  const std::string plain = g.print_graphviz();
  std::ostringstream out;
  out.imbue(std::locale(std::locale(), new Grouping));
  out << std::hex << std::showbase << std::setfill('*');
  g.print_graphviz(out);
  CHECK(out.str() == plain);
  CHECK(plain.find("N19 -> N20 [label=\"1\"];\n  N19 -> N20 [label=\"2\"];") != std::string::npos);
}

}  // namespace graphviz_test
