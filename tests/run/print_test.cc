#include "tests/support/prelude.h"

namespace print_test {

using namespace dynet;

namespace {

std::string printed(const Expression& e) {
  std::ostringstream out;
  out << e;
  return out.str();
}

}  // namespace

TEST_CASE("an expression prints its operation, shape, place, value and gradient") {
  ComputationGraph g;
  const Expression x = input(g, {2, 2}, {1, 2, 3, 4});
  const Expression y = square(x);
  const std::string line = std::to_string(__LINE__ - 1);
  CHECK(printed(y) == "{2,2}  square, node 1, made at " + std::string(__FILE__) + ":" + line +
                          "\nvalue {2,2}\n1 9\n4 16\n");
  g.backward(sum_elems(y), true);
  CHECK(printed(x).find("gradient {2,2}\n2 6\n4 8\n") != std::string::npos);
  g.clear();
  CHECK(printed(y) == "stale expression\n");
  Expression gone;
  CHECK(printed(gone) == "stale expression\n");
  {
    ComputationGraph other;
    gone = tanh(input(other, 1.0f));
  }
  CHECK(printed(gone) == "stale expression\n");
}

TEST_CASE("a parameter prints with its name, also after backward") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitConst(3.0f), "W");
  ComputationGraph g;
  const Expression x = parameter(g, p);
  CHECK(printed(x).find("parameter \"/W\"") != std::string::npos);
  g.backward(sum_elems(square(x)));
  CHECK(printed(x).find("value {2}\n3\n3\ngradient {2}\n6\n6\n") != std::string::npos);
}

}  // namespace print_test
