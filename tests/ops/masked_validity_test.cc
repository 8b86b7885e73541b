// set_check_validity and values that are minus infinity by definition.

#include "tests/support/prelude.h"

namespace masked_validity_test {

using namespace dynet;

namespace {

const float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;

/// Error text of the check for a value or, if there is none, for its gradient.
std::string told(const std::function<Expression(ComputationGraph&)>& make, bool batched,
                 bool immediate) {
  ComputationGraph g(batched);
  g.set_check_validity(true);
  g.set_immediate_compute(immediate);
  try {
    const Expression y = make(g);
    y.value();
    if (y.dim().size() == 1) g.backward(y);
  } catch (const NumericError& e) {
    return e.what();
  }
  return "";
}

#define OF_G(...) [&](ComputationGraph& g) { return __VA_ARGS__; }

template <class F>
void each_way(F f) {
  for (const bool batched : {false, true})
    for (const bool immediate : {false, true}) {
      CAPTURE(batched, immediate);
      f([&](const std::function<Expression(ComputationGraph&)>& make) {
        return told(make, batched, immediate);
      });
    }
}

}  // namespace

TEST_CASE("the validity check takes scores that are masked, and what comes of them") {
  ParameterCollection pc;
  auto p = pc.add_parameters({4}, ParameterInitFromVector({1, 2, 3, 4}), "p");
  using G = ComputationGraph&;
  const auto x = OF_G(parameter(g, p));
  const auto mask = OF_G(input(g, {4}, {0, -kInf, 0, -kInf}));
  const std::vector<std::function<Expression(G)>> fine{
      OF_G(log_softmax(x(g), {0, 2})),
      OF_G(log_softmax(x(g), {3})),
      OF_G(pick(log_softmax(x(g), {0, 2}), 2u)),
      OF_G(-pick(log_softmax(x(g), {0, 2}), 0u)),
      OF_G(mask(g)),
      OF_G(constant(g, {3}, -kInf)),
      OF_G(x(g) + mask(g)),
      OF_G(log_softmax(x(g) + mask(g))),
      OF_G(sum_elems(cmult(softmax(x(g) + mask(g)), x(g)))),
      OF_G(logsumexp_dim(x(g) + mask(g), 0)),
      OF_G(logsumexp_dim(mask(g) + constant(g, {4}, -kInf), 0)),
      OF_G(logsumexp({pick(x(g), 0u), pick(mask(g), 1u)})),
      OF_G(pickneglogsoftmax(x(g) + mask(g), 2u)),
      OF_G(max_dim(x(g) + mask(g))),
      OF_G(min_dim(x(g) + mask(g))),
      OF_G(kmax_pooling(transpose(x(g) + mask(g)), 3)),
      OF_G(concatenate({x(g), mask(g)})),
      OF_G(select_rows(x(g) + mask(g), {1, 3})),
      OF_G(reshape(x(g) + mask(g), {2, 2})),
      OF_G((x(g) + mask(g)) * 2.0f),
      OF_G(logsumexp_dim(zeros(g, {0}), 0)),  // of nothing
  };
  each_way([&](auto check) {
    for (std::size_t k = 0; k < fine.size(); ++k) {
      CAPTURE(k);
      CHECK(check(fine[k]).empty());
    }
  });
  for (float d : as_vector(p.gradients())) CHECK(std::isfinite(d));
}

TEST_CASE("the validity check takes a softmax in steps with words that have no probability") {
  ParameterCollection pc;
  const TreeSoftmaxBuilder::Settings s{3, true, 6, {{-1, -2}, {0, 1}, {2, 3, 4}}};
  ClassFactoredSoftmaxBuilder classes(pc, s);  // word 5 is in no class
  ComputationGraph g;
  g.set_check_validity(true);
  classes.new_graph(g);
  const Expression rep = input(g, {3}, {1, -1, 2});
  const Floats p = as_vector(classes.full_log_distribution(rep).value());
  CHECK(p[5] == -kInf);
  CHECK(std::isfinite(p[4]));
  CHECK_NOTHROW(g.backward(pick(classes.full_log_distribution(rep), 2u)));
}

TEST_CASE("the validity check still finds what nobody has masked") {
  ParameterCollection pc;
  auto p = pc.add_parameters({2}, ParameterInitFromVector({1, 2}), "p");
  auto infinite = pc.add_parameters({2}, ParameterInitFromVector({1, -kInf}), "infinite");
  auto table = pc.add_lookup_parameters(2, {1}, ParameterInitConst(0.0f), "table");
  table.initialize(1, {kNaN});
  using G = ComputationGraph&;
  const auto mask = OF_G(input(g, {2}, {0, -kInf}));
  struct Fault {
    const char* part;
    std::function<Expression(G)> make;
  };
  const std::vector<Fault> faults{
      {"log: ", OF_G(log(input(g, {2}, {1, 0})))},
      {"log: ", OF_G(log(mask(g)))},
      {"input: ", OF_G(input(g, {2}, {-kInf, kInf}))},
      {"input: ", OF_G(input(g, {2}, {-kInf, kNaN}))},
      {"constant: ", OF_G(constant(g, {2}, kInf))},
      {"input: the value has a infinity", OF_G(input(g, kInf))},
      {"exp: the value has a infinity at element 1", OF_G(exp(input(g, {2}, {1, 1000})))},
      {"parameter \"/infinite\"", OF_G(tanh(parameter(g, infinite)))},
      {"lookup in \"/table\"", OF_G(tanh(lookup(g, table, 1u)))},
      {"element 1", OF_G(lookup(g, table, std::vector<unsigned>{0, 1}) + 1.0f)},
      {"the value has a", OF_G(-mask(g))},
      {"the value has a", OF_G(mask(g) - mask(g))},
      {"the value has a", OF_G(cmult(mask(g), zeros(g, {2})))},
      {"the value has a", OF_G(input(g, {2}, {-3e38f, 0}) * 2.0f)},
      {"the value has a", OF_G(input(g, {1}, {-3e38f}) + input(g, {1}, {-3e38f}))},
      {"the value has a", OF_G(pickneglogsoftmax(parameter(g, p) + mask(g), 1u))},
      {"backward", OF_G(dot_product(sqrt(input(g, {2}, {1, 1})),
                                    cdiv(parameter(g, p) * 0.0f, parameter(g, p))) +
                        sum_elems(sqrt(parameter(g, p) * 0.0f)))},
  };
  each_way([&](auto check) {
    for (std::size_t k = 0; k < faults.size(); ++k) {
      CAPTURE(k);
      const std::string message = check(faults[k].make);
      CAPTURE(message);
      CHECK(message.find(faults[k].part) != std::string::npos);
    }
  });
}

}  // namespace masked_validity_test
