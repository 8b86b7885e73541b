// The gates of lstm_sequence take the memory of its sums, unless somebody else reads these.
#include "dynet-like/plan/plan_maker.h"
#include "tests/support/prelude.h"

namespace sequence_memory_test {

using namespace dynet;

namespace {

constexpr unsigned kIn = 3, kHidden = 4;

struct Model {
  ParameterCollection pc;
  Parameter w = pc.add_parameters({4 * kHidden, kIn}), b = pc.add_parameters({4 * kHidden}),
            u = pc.add_parameters({4 * kHidden, kHidden});

  Expression sums(ComputationGraph& g, unsigned columns) const {
    std::vector<float> x(std::size_t{kIn} * columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.3f * static_cast<float>(i % 7) - 0.8f;
    return affine_transform({parameter(g, b), parameter(g, w), input(g, Dim({kIn, columns}), x)});
  }
};

using Program = std::function<std::vector<Expression>(ComputationGraph&, const Model&)>;

/// Values of the expressions of a program, its loss and the gradients of the model.
std::vector<std::vector<float>> answers(const Program& program, Model& m, bool immediate) {
  m.pc.reset_gradient();
  ComputationGraph g;
  g.set_immediate_compute(immediate);
  const std::vector<Expression> all = program(g, m);
  std::vector<Expression> losses;
  for (const Expression& e : all) losses.push_back(squared_norm(e));
  const Expression loss = sum(losses);
  std::vector<std::vector<float>> found = {as_vector(g.forward(loss))};
  g.backward(loss);
  for (const Parameter* p : {&m.w, &m.b, &m.u}) found.push_back(as_vector(*p->gradients()));
  for (const Expression& e : all) found.push_back(as_vector(e.value()));
  return found;
}

}  // namespace

TEST_CASE("values and gradients beside lstm_sequence are those of immediate mode") {
  const auto sequence = [](ComputationGraph& g, const Model& m, const Expression& sums,
                           bool reverse = false) {
    return lstm_sequence(sums, parameter(g, m.u), 1, reverse);
  };
  struct Case {
    const char* name;
    Program program;
  };
  const Case cases[] = {
      {"of three lengths",
       [&](ComputationGraph& g, const Model& m) {
         std::vector<Expression> all;
         for (const unsigned n : {5u, 2u, 9u}) {
           const LSTMCellState s = sequence(g, m, m.sums(g, n));
           all.insert(all.end(), {s.h, s.c});
         }
         return all;
       }},
      {"both directions read the sums",
       [&](ComputationGraph& g, const Model& m) {
         const Expression sums = m.sums(g, 5);
         return std::vector{sequence(g, m, sums).h, sequence(g, m, sums, true).h};
       }},
      {"another operation reads the sums",
       [&](ComputationGraph& g, const Model& m) {
         const Expression sums = m.sums(g, 5);
         return std::vector{sequence(g, m, sums).h, tanh(sums)};
       }},
      {"the sums of a sequence are the matrix of another",
       [&](ComputationGraph& g, const Model& m) {
         const Expression sums = m.sums(g, kHidden);
         const LSTMCellState s = lstm_sequence(m.sums(g, kHidden), sums);
         return std::vector{sequence(g, m, sums).h, s.h};
       }},
  };
  Model m;
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(answers(c.program, m, false) == answers(c.program, m, true));
  }
}

TEST_CASE("a sequence overwrites its sums, unless another node reads them") {
  Model m;
  for (const bool read : {false, true}) {
    ComputationGraph g;
    const Expression sums = m.sums(g, 5);
    lstm_sequence(sums, parameter(g, m.u));
    if (read) tanh(sums);
    Plan plan;
    PlanMaker(PlanPolicy::in_batches).make(g.store(), 0, static_cast<NodeId>(g.size()), plan);
    CHECK((!plan.freed.empty() && plan.freed[sums.i]) != read);
  }
}

TEST_CASE("sums that a sequence has overwritten can be read") {
  Model m;
  ComputationGraph g;
  std::vector<Expression> sums, outputs;
  for (const unsigned n : {3u, 6u}) {
    sums.push_back(m.sums(g, n));
    outputs.push_back(squared_norm(lstm_sequence(sums.back(), parameter(g, m.u)).h));
  }
  const Expression loss = sum(outputs);
  g.forward(loss);
  g.backward(loss);
  ComputationGraph alone;
  for (std::size_t k = 0; k < 2; ++k) {
    const unsigned n = sums[k].dim().cols();
    CHECK(as_vector(sums[k].value()) == as_vector(m.sums(alone, n).value()));
    CHECK(as_vector(sums[k].gradient()).size() == 4 * kHidden * n);
  }
}

}  // namespace sequence_memory_test
