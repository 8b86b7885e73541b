// Nodes that differ in an attribute which a kernel reads once for all of a batch do not run
// together.

#include "tests/support/prelude.h"

namespace signatures_test {

using namespace dynet;

namespace {

using Floats = std::vector<float>;
using Make = std::function<Expression(const Expression&)>;

// Values, and gradients of the operands, of all operations on several operands in one graph.
std::vector<Floats> run(const std::vector<Make>& operations, const Dim& d, bool batched) {
  ParameterCollection pc;
  pc.set_seed(4);
  std::vector<Parameter> operands;
  for (int k = 0; k < 3; ++k) operands.push_back(pc.add_parameters(d, ParameterInitUniform(1.0f)));
  ComputationGraph g(batched);
  std::vector<Expression> outs, sums;
  for (const Parameter& p : operands) {
    const Expression x = parameter(g, p);
    for (const Make& make : operations) {
      outs.push_back(make(x));
      sums.push_back(sum_batches(squared_norm(outs.back())) * static_cast<float>(outs.size()));
    }
  }
  g.backward(sum(sums));
  std::vector<Floats> all;
  for (const Expression& e : outs) all.push_back(as_vector(e.value()));
  for (const Parameter& p : operands) all.push_back(as_vector(p.gradients()));
  return all;
}

using E = const Expression&;

/// The operations of a row differ in an attribute; their results, alike transposed, in no shape.
struct Row {
  std::vector<Make> operations;
  Dim operand = {4, 4};
};

std::vector<Row> rows() {
  const auto filter = OF_X(reshape(pick_range(reshape(x, {36}), 0, 4), {2, 2, 1, 1}));
  const auto image = OF_X(reshape(x, {6, 6, 1}));
  const auto gates = [](E x, float bias) { return vanilla_lstm_gates(reshape(x, {16}), bias); };
  const auto cell = [](E x, float bias) { return lstm_cell(x, {pick_range(x, 0, 4)}, bias).h; };
  return {
      {{OF_X(pick(x, 1, 0)), OF_X(pick(x, 1, 1))}},
      {{OF_X(pick_range(x, 1, 3, 0)), OF_X(transpose(pick_range(x, 1, 3, 1)))}},
      {{OF_X(select_rows(x, {1, 3})), OF_X(select_rows(x, {0, 3})),
        OF_X(transpose(select_cols(x, {1, 3})))}},
      {{OF_X(strided_select(x, {2, 1})), OF_X(strided_select(x, {2, 1}, {1, 0})),
        OF_X(transpose(strided_select(x, {1, 2})))}},
      {{OF_X(transpose(x, {1, 0})), OF_X(transpose(x, {0, 1}))}},
      {{OF_X(transpose(x, {0, 2, 1})), OF_X(transpose(x, {2, 1, 0})),
        OF_X(transpose(x, {1, 2, 0}))},
       {3, 3, 3}},
      {{OF_X(concatenate({x, x}, 0)), OF_X(transpose(concatenate({x, x}, 1)))}},
      {{OF_X(sum_dim(x, {0})), OF_X(sum_dim(x, {1})), OF_X(mean_dim(x, {0})),
        OF_X(mean_dim(x, {1}))}},
      {{OF_X(moment_elems(x, 2)), OF_X(moment_elems(x, 3))}},
      {{OF_X(moment_dim(x, {0}, 2)), OF_X(moment_dim(x, {0}, 3)), OF_X(moment_dim(x, {1}, 2))}},
      {{OF_X(std_dim(x, {0})), OF_X(std_dim(x, {1}))}},
      {{OF_X(max_dim(x, 0)), OF_X(max_dim(x, 1)), OF_X(min_dim(x, 0)), OF_X(min_dim(x, 1))}},
      {{OF_X(cumsum(x, 0)), OF_X(cumsum(x, 1))}},
      {{OF_X(x * 2.0f), OF_X(x * 3.0f)}},
      {{OF_X(x + 2.0f), OF_X(x + 3.0f)}},
      {{OF_X(2.0f - x), OF_X(3.0f - x)}},
      {{OF_X(elu(x, 0.5f)), OF_X(elu(x, 2.0f))}},
      {{OF_X(silu(x, 0.5f)), OF_X(silu(x, 2.0f))}},
      {{OF_X(round(x, zero_gradient)), OF_X(round(x, straight_through_gradient))}},
      {{OF_X(sum({x, x})), OF_X(average({x, x}))}},
      {{OF_X(scale_gradient(x, 2.0f)), OF_X(scale_gradient(x, 3.0f))}},
      {{OF_X(argmax(x, zero_gradient, 0)), OF_X(argmax(x, straight_through_gradient, 0)),
        OF_X(argmax(x, straight_through_gradient, 1))}},
      {{OF_X(softmax(x, 0)), OF_X(softmax(x, 1))}},
      {{OF_X(logsumexp_dim(x, 0)), OF_X(logsumexp_dim(x, 1))}},
      {{OF_X(huber_distance(x, 3.0f * x, 0.2f)), OF_X(huber_distance(x, 3.0f * x, 2.0f))}},
      {{OF_X(hinge(x, 1, 0.3f)), OF_X(hinge(x, 1, 3.0f))}, {4}},
      {{OF_X(hinge_dim(x, {1, 2, 0, 1}, 0)), OF_X(hinge_dim(x, {1, 2, 0, 1}, 1)),
        OF_X(hinge_dim(x, {1, 2, 0, 1}, 1, 5.0f))}},
      {{OF_X(conv2d(image(x), filter(x), {2, 1})),
        OF_X(transpose(conv2d(image(x), filter(x), {1, 2}), {1, 0, 2})),
        OF_X(conv2d(image(x), filter(x), {2, 1}, true))},
       {6, 6}},
      {{OF_X(maxpooling2d(image(x), {2, 2}, {2, 2})), OF_X(maxpooling2d(image(x), {1, 1}, {2, 2})),
        OF_X(maxpooling2d(image(x), {1, 2}, {2, 2}))},
       {6, 6}},
      {{OF_X(kmax_pooling(x, 2, 0)), OF_X(kmax_pooling(x, 2, 1)), OF_X(kmax_pooling(x, 3, 1))}},
      {{OF_X(dependency_log_partition(x, {true, true})),
        OF_X(dependency_log_partition(x, {true, false})),
        OF_X(dependency_log_partition(x, {false, true})),
        OF_X(dependency_log_partition(x, {false, false}))}},
      {{OF_X(gates(x, 0.0f)), OF_X(gates(x, 1.0f))}},
      {{OF_X(cell(x, 0.0f)), OF_X(cell(x, 1.0f))}, {16}},
  };
}

}  // namespace

TEST_CASE("nodes that differ in an attribute are not of one batch") {
  const std::vector<Row> all = rows();
  for (std::size_t row = 0; row < all.size(); ++row) {
    const auto together = run(all[row].operations, all[row].operand, true);
    const auto alone = run(all[row].operations, all[row].operand, false);
    for (std::size_t k = 0; k < alone.size(); ++k) {
      CAPTURE(row, k);
      REQUIRE(together[k].size() == alone[k].size());
      for (std::size_t i = 0; i < alone[k].size(); ++i)
        CHECK(together[k][i] == Approx(alone[k][i]).epsilon(1e-5).margin(1e-6));
    }
  }
}

TEST_CASE("inputs: batches are of one kind") {
  std::vector<Floats> updated[2];
  for (const bool batched : {false, true}) {
    ParameterCollection pc;
    pc.set_seed(5);
    std::vector<LookupParameter> tables;
    for (int k = 0; k < 3; ++k) tables.push_back(pc.add_lookup_parameters(4, {3}));
    ComputationGraph g(batched);
    std::vector<Expression> sums;
    for (unsigned row = 0; row < 3; ++row)
      for (const LookupParameter& t : tables)
        sums.push_back(squared_norm(lookup(g, t, row)) * static_cast<float>(sums.size() + 1));
    g.backward(sum(sums));
    SimpleSGDTrainer(pc, 0.1f).update();
    for (const LookupParameter& t : tables)
      for (const Tensor& row : t.values()) updated[batched].push_back(as_vector(row));
  }
  CHECK(updated[0] == updated[1]);
}

TEST_CASE("noise: batches are of one kind") {
  ComputationGraph g;
  const Expression ones = input(g, {1000}, Floats(1000, 1.0f));
  std::vector<Expression> few, many, all;
  for (int k = 0; k < 3; ++k) {
    few.push_back(dropout(ones, 0.2f));
    many.push_back(dropout(ones, 0.8f));
  }
  const auto small = noise(ones, 0.01f), large = noise(ones, 10.0f);
  const auto near = random_uniform(g, {1000}, 0, 1), far = random_uniform(g, {1000}, 10, 11);
  const auto whole = dropout_batch(ones, 0.5f), scaled = dropout_batch(ones, 0.75f);
  g.forward(sum(
      {few[0], few[1], few[2], many[0], many[1], many[2], small, large, near, far, whole, scaled}));
  const auto within = [](E e, float low, float high) {
    for (const float v : as_vector(e.value())) CHECK((v == 0 || (v >= low && v <= high)));
  };
  for (E e : few) within(e, 1.249f, 1.251f);
  for (E e : many) within(e, 4.999f, 5.001f);
  within(small, 0.9f, 1.1f);
  const Floats wide = as_vector(large.value());
  CHECK(*std::max_element(wide.begin(), wide.end()) > 10);
  within(near, 0, 1);
  within(far, 10, 11);
  within(whole, 1.999f, 2.001f);
  within(scaled, 3.999f, 4.001f);
}

}  // namespace signatures_test
