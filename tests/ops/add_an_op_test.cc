// The operation of a program's own in docs/extending/op.md, to the letter; the last test compares
// the two.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "dynet-like/dynet.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/run/grad_check.h"
#include "tests/support/catch.h"

namespace dynet {
namespace {

template <class T>
void softplus_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t j = 0; j < b.dim().size(); ++j) {
      const T x = b.in(0, i)[j];
      b.out(i)[j] = std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
    }
}

template <class T>
void softplus_backward(const GradientBatch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i) {
    T* dx = b.d_in(0, i);
    if (!dx) continue;
    for (std::size_t j = 0; j < b.dim().size(); ++j) {
      const T g = b.d_out(i)[j] / (1 + std::exp(-b.in(0, i)[j]));
      dx[j] = b.add(0, i) ? dx[j] + g : g;
    }
  }
}

const OpForm kSoftplus{.name = "softplus",
                       .shape = [](const Operands& x) { return x[0]; },
                       .batch = BatchRule::each(),
                       .reads = Reads::inputs,
                       .aux = no_aux,
                       .forward = DYNET_FORWARD(softplus_forward),
                       .backward = DYNET_BACKWARD(softplus_backward),
                       .cuda = CudaRule::never("an example")};

Expression softplus(const Expression& x, SourceLocation at = SourceLocation::current()) {
  return add_node(kSoftplus, x, {}, at);
}

TEST_CASE("an operation of the user's own computes its value") {
  ComputationGraph cg;
  const Expression y = softplus(input(cg, {3}, {-100.0f, 0.0f, 100.0f}));
  const std::vector<float> v = as_vector(y.value());
  CHECK(v[0] == Approx(0.0f).margin(1e-30));
  CHECK(v[1] == Approx(std::log(2.0f)));
  CHECK(v[2] == Approx(100.0f));
}

TEST_CASE("an operation of the user's own has a checked gradient") {
  ParameterCollection model;
  const Parameter p = model.add_parameters({4, 3});
  ComputationGraph cg;
  const Expression x = parameter(cg, p);
  const Expression loss = sum_elems(cmult(softplus(x), softplus(x + 1.0f)));
  CHECK(check_gradients(loss).ok(1e-5));
}

TEST_CASE("an operation of the user's own runs in batches") {
  ComputationGraph cg(true);
  std::vector<Expression> ys;
  for (int i = 0; i < 5; ++i) ys.push_back(softplus(input(cg, {2}, {float(i), float(-i)})));
  const std::vector<float> v = as_vector(concatenate(ys).value());
  for (int i = 0; i < 5; ++i) {
    CHECK(v[2 * i] == Approx(std::log1p(std::exp(-double(i))) + i));
    CHECK(v[2 * i + 1] == Approx(std::log1p(std::exp(-double(i)))));
  }
}

TEST_CASE("an operation of the user's own reports mistakes under its name") {
  Expression stale;
  {
    ComputationGraph cg;
    stale = zeros(cg, {2});
  }
  try {
    softplus(stale);
    FAIL("no error");
  } catch (const StaleExpressionError& e) {
    CHECK(std::string(e.what()).rfind("softplus: operand 1", 0) == 0);
  }
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_CASE("the recipe in the documentation is the code of this test") {
  const std::string here = __FILE__;
  const std::string top = here.substr(0, here.rfind("tests/ops/"));
  const std::string docs = read(top + "docs/extending/op.md"), code = read(here);
  int found = 0;  // others are for files of the library, see tests/extending
  for (std::size_t at = 0; (at = docs.find("```cpp\n", at)) != std::string::npos;) {
    at += 7;
    const std::string block = docs.substr(at, docs.find("```", at) - at);
    found += code.find(block) != std::string::npos;
    at += block.size() + 3;
  }
  CHECK(found == 2);
}

}  // namespace
}  // namespace dynet
