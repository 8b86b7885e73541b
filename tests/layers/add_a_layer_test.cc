// The layer of docs/extending/layer.md, and what LayerBase does for all layers.

#include "dynet-like/dynet.h"
#include "dynet-like/layers/layer_base.h"
#include "dynet-like/run/grad_check.h"
#include "tests/layers/naive.h"
#include "tests/support/catch.h"

namespace add_a_layer_test {

using namespace dynet;

namespace {

class Highway : public LayerBase {
 public:
  Highway(ParameterCollection& model, unsigned size)
      : LayerBase(model, "highway", {size}),
        W_(collection_.add_parameters({size, size})),
        b_(collection_.add_parameters({size}, ParameterInitConst(0))),
        V_(collection_.add_parameters({size, size})),
        c_(collection_.add_parameters({size}, ParameterInitConst(-1))) {}

  Expression apply(const Expression& x) const {
    const Expression h = tanh(affine_transform({b_, W_, x}));
    const Expression t = logistic(affine_transform({c_, V_, x}));
    return cmult(t, h) + cmult(1.0f - t, x);
  }

 private:
  void list_parts(Parts& parts) override { parts.add(W_, b_, V_, c_); }

  Weight W_, b_, V_, c_;
};

}  // namespace

TEST_CASE("a layer of a program has the parameters of its parts, and gradients for them") {
  ParameterCollection model;
  Highway layer(model, 4);
  ComputationGraph cg;
  layer.new_graph(cg);  // once for each graph
  const Expression y = layer.apply(input(cg, {4}, {1, 2, 3, 4}));
  CHECK(y.dim() == Dim({4}));
  const GradientReport report = check_gradients(squared_norm(y));
  CHECK(report.ok());
  CHECK(report.parameters == 4);
  CHECK(model.parameters_list()[0].get_fullname() == "/highway/_0");
  CHECK(model.parameters_list().size() == 4);
}

TEST_CASE("a copy of a layer shares its parameters, but not its graph") {
  ParameterCollection model;
  Highway layer(model, 2), copy = layer;
  ComputationGraph first, second;
  layer.new_graph(first);
  copy.new_graph(second);
  const std::vector<float> x = {0.5f, -2};
  const auto value = [&](const Highway& h, ComputationGraph& cg) {
    return as_vector(h.apply(input(cg, {2}, x)).value());
  };
  CHECK(value(layer, first) == value(copy, second));
  CHECK(model.parameters_list().size() == 4);
}

TEST_CASE("a layer of no size leaves the model unchanged") {
  ParameterCollection model;
  CHECK_THROWS_WITH(Highway(model, 0), "Highway: sizes must be above zero, got 0");
  CHECK_THROWS_WITH(Linear(model, {3, 0}), "Linear: sizes must be above zero, got 3, 0");
  const Highway next(model, 1);
  CHECK(model.parameters_list()[0].get_fullname() == "/highway/_0");
}

}  // namespace add_a_layer_test
