// Indices behind pointers, on the device as on the CPU.

#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

/// Results of an operation that reads an index: for index 1, which is overwritten before the
/// backward pass, then for an index that is too large, then for 2.
struct Outcome {
  Floats value, gradient, later;
  std::string error;
};

Outcome run(bool on_device, const Floats& x, unsigned& index,
            const std::function<Expression(const Expression&)>& build) {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({static_cast<unsigned>(x.size())});
  p.set_value(x);
  DeviceGraph g(on_device ? gpu() : nullptr);
  Outcome o;
  index = 1;
  const Expression scores = parameter(g, p);
  const Expression y = build(scores), loss = sum_elems(y);
  o.value = as_vector(g.forward(loss));
  index = 0;
  g.backward(loss);
  o.gradient = as_vector(scores.gradient());
  index = 99;
  try {
    g.forward(loss);
  } catch (const IndexError& e) {
    o.error = e.what();
  }
  index = 2;
  o.later = as_vector(g.forward(loss));
  return o;
}

/// The same on both, and whether there was an error.
void compare(const char* name, const Floats& x, unsigned& index, bool fails,
             const std::function<Expression(const Expression&)>& build) {
  INFO(name);
  const Outcome expected = run(false, x, index, build), got = run(true, x, index, build);
  for (const auto part : {&Outcome::value, &Outcome::gradient, &Outcome::later})
    check_near(expected.*part, got.*part, 1e-6);
  CHECK(got.error == expected.error);
  CHECK((got.error.find(" 99 is outside") != std::string::npos) == fails);
}

}  // namespace

TEST_CASE("indices behind pointers are read at every run on the device", "[cuda]") {
  using E = const Expression&;
  unsigned index = 0;
  std::vector<unsigned> list(1);
  const Floats scores = {0.5f, -1, 2, 0.25f};
  const std::pair<const char*, std::function<Expression(E)>> ops[] = {
      {"pick", [&](E x) { return pick(x, &index); }},
      {"pickneglogsoftmax", [&](E x) { return pickneglogsoftmax(x, &index); }},
      {"hinge", [&](E x) { return hinge(x, &index, 3); }},
      {"one_hot", [&](E x) { return cmult(x, one_hot(*x.pg, 4, &index)); }}};
  for (const auto& [name, build] : ops) compare(name, scores, index, true, build);
  compare("hinge_dim", scores, list[0], true, [&](E x) { return hinge_dim(x, &list, 0, 3); });
  compare("poisson_loss", {0.5f}, index, false, [&](E x) { return poisson_loss(x, &index); });
}
