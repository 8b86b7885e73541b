// Several operations as one kernel, several products as one: values and gradients are the
// CPU's, and the number of kernels is what it should be.

#include "dynet-like/run/executor.h"
#include "tests/cuda/check_equal.h"

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr unsigned kHidden = 6;

/// Sequences of LSTM cells in a graph, and trees of them.
class Net {
 public:
  /// A cell and its products are two nodes, or one.
  Net(ComputationGraph& g, ParameterCollection& pc, bool one = false)
      : g_(g), one_(one), words_(pc.add_lookup_parameters(11, {kHidden})) {
    const auto add = [&](const Dim& d) { return parameter(g, pc.add_parameters(d)); };
    const Dim of_leaf({3 * kHidden, kHidden}), of_two({5 * kHidden, kHidden}),
        of_step({4 * kHidden, kHidden});
    leaf_ = add(of_leaf), leaf_bias_ = add({3 * kHidden});
    left_ = add(of_two), right_ = add(of_two), bias_ = add({5 * kHidden});
    for (Direction& d : directions_) d = {add(of_step), add(of_step), add({4 * kHidden})};
  }

  using State = LSTMCellState;
  Expression word(unsigned t, unsigned batch = 1) const {
    if (batch == 1) return lookup(g_, words_, t % 11);
    std::vector<unsigned> all;
    for (unsigned i = 0; i < batch; ++i) all.push_back((t + 3 * i) % 11);
    return lookup(g_, words_, all);
  }
  /// The states of all steps, of the same operand if there is one.
  std::vector<State> sequence(unsigned length, unsigned batch = 1, bool backwards = false,
                              const Expression& same = {}) const {
    const Direction& d = directions_[backwards];
    std::vector<State> all;
    const Expression nothing = zeros(g_, Dim({kHidden}, batch));
    State s{nothing, nothing};  // of both, so that it goes later than the first sums
    for (unsigned t = 0; t < length; ++t) {
      const unsigned at = backwards ? length - 1 - t : t;
      const Expression x = same.pg ? same : word(at, batch);
      s = cell({d.b, d.wx, x, d.wh, s.h}, {s.c}, 1.0f);
      all.push_back(s);
    }
    return all;
  }
  Expression leaf() const { return leaf_; }
  Expression sums(unsigned t) const {
    return affine_transform({bias_, left_, word(t), right_, word(t + 1)});
  }
  State word_leaf(unsigned t) const { return cell({leaf_bias_, leaf_, word(t)}, {}); }
  State parent(const State& l, const State& r) const {
    return cell({bias_, left_, l.h, right_, r.h}, {l.c, r.c});
  }
  /// A tree whose right branches are shorter now and then.
  State tree(unsigned depth, unsigned& next) const {
    if (depth == 0) return word_leaf(next++);
    const State l = tree(depth - 1, next);
    return parent(l, tree(depth > 1 && next % 3 == 1 ? depth - 2 : depth - 1, next));
  }
  State complete_tree(unsigned depth) const {
    if (depth == 0) return word_leaf(0);
    return parent(complete_tree(depth - 1), complete_tree(depth - 1));
  }

 private:
  struct Direction {
    Expression wx, wh, b;
  };
  State cell(std::initializer_list<Expression> sums, std::initializer_list<Expression> cells,
             float forget_bias = 0.0f) const {
    return one_ ? lstm_step(sums, cells, forget_bias)
                : lstm_cell(affine_transform(sums), cells, forget_bias);
  }

  ComputationGraph& g_;
  bool one_;
  LookupParameter words_;

  Expression leaf_, leaf_bias_, left_, right_, bias_;
  Direction directions_[2];
};

using Outs = std::vector<Expression>;
Outs hidden(const std::vector<Net::State>& states) {
  Outs all;
  for (const auto& s : states) all.push_back(s.h);
  return all;
}

NetCases<Net> cases() {
  NetCases<Net> all;
  const auto add = [&](const std::string& name, const Make<Net>& make) {
    all.emplace_back(name, make);
  };
  add("one sequence", [](const Net& n) { return hidden(n.sequence(5)); });
  add("sequences of several lengths", [](const Net& n) {
    Outs outs;
    for (const unsigned length : {4u, 7u, 1u, 7u, 3u})
      for (const Expression& h : hidden(n.sequence(length))) outs.push_back(h);
    return outs;
  });
  add("only the last cell is used", [](const Net& n) {
    Outs outs;
    for (const unsigned length : {4u, 6u}) outs.push_back(n.sequence(length).back().c);
    return outs;
  });
  add("batches of samples", [](const Net& n) {
    Outs outs = hidden(n.sequence(4, 3));
    outs.push_back(n.sequence(2, 3).back().h);
    return outs;
  });
  add("two directions", [](const Net& n) {
    Outs outs;
    for (const unsigned length : {5u, 3u, 5u}) {
      const Outs f = hidden(n.sequence(length)), b = hidden(n.sequence(length, 1, true));
      for (unsigned t = 0; t < length; ++t) outs.push_back(concatenate({f[t], b[length - 1 - t]}));
    }
    return outs;
  });
  add("trees", [](const Net& n) {
    Outs outs;
    unsigned next = 0;
    for (const unsigned depth : {3u, 1u, 4u}) outs.push_back(n.tree(depth, next).h);
    return outs;
  });
  add("cells are used elsewhere, too", [](const Net& n) {
    Outs outs;
    for (const unsigned length : {3u, 5u})
      for (const auto& s : n.sequence(length)) outs.push_back(cmult(s.h, s.c));
    return outs;
  });
  add("cells of the same sums", [](const Net& n) {
    const Expression sums = n.sums(3);
    return each(3, [&](unsigned k) { return lstm_cell(sums, {n.word(k), n.word(k + 4)}).h; });
  });
  // Two parents use each place once, four use it twice.
  for (const unsigned parents : {2u, 4u})
    add(std::to_string(parents) + " parents: a child is the first of one and the second of another",
        [parents](const Net& n) {
          const Expression a = tanh(n.word(1)), b = tanh(n.word(2));
          return each(parents, [&](unsigned k) {
            return lstm_cell(n.sums(k), {k % 2 ? a : b, k % 2 ? b : a}).h;
          });
        });
  add("sums of many", [](const Net& n) {
    Outs outs;
    for (const unsigned operands : {17u, 40u, 600u, 40u}) {
      const Outs words = each(operands, [&](unsigned t) { return tanh(n.word(t)); });
      outs.push_back(sum(words));
      outs.push_back(average(words));
    }
    return outs;
  });
  add("one product needs another", [](const Net& n) {
    const Expression w = n.leaf();
    const Expression u = pick_range(w, 0, kHidden), v = pick_range(w, 6, 2 * kHidden);
    Expression x = n.word(1), y = n.word(2);
    for (int k = 0; k < 3; ++k) x = v * (u * x), y = v * (u * y);
    return Outs{x, y};
  });
  add("the matrix of a product is another product", [](const Net& n) {
    const Expression w = n.leaf(), v = pick_range(w, 0, kHidden);
    Expression product = pick_range(w, 6, 2 * kHidden);
    for (int k = 0; k < 3; ++k) product = product * v;
    return Outs{product * n.word(1)};
  });
  return all;
}

}  // namespace

TEST_CASE("operations that run as one kernel compute what each of them does", "[cuda]") {
  check_nets(cases());
}

TEST_CASE("cells that are one node with their products compute the same", "[cuda]") {
  check_nets(cases(), true);
}

TEST_CASE("the kernels of a step do not meet in memory that is used again", "[cuda]") {
  for (const bool words : {false, true}) {
    CAPTURE(words);
    std::vector<Floats> last[2];
    for (const bool device : {false, true}) {
      ParameterCollection pc;
      pc.set_seed(3);
      DeviceGraph g(device ? gpu() : nullptr);
      g.set_inference(true);
      const Net n(g, pc);  // with so many values that memory is used again
      // Either memory of words is free for cells and outputs, or that of the sums alone.
      const Expression x = words ? Expression() : n.word(3, 1500);
      for (const Net::State& s :
           {n.sequence(60, 1500, false, x).back(), n.sequence(50, 1500, true, x).back()})
        for (const Expression& e : {s.h, s.c}) last[device].push_back(values((words ? e : e + x)));
    }
    check_equal(last[false], last[true]);
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("a step takes a kernel and a product each way", "[cuda]") {
  const auto sequences = [](unsigned count, unsigned length, bool both) {
    return [=](const Net& n) {
      Outs outs;
      for (unsigned i = 0; i < count; ++i) {
        outs.push_back(n.sequence(length).back().h);
        if (both) outs.push_back(n.sequence(length, 1, true).back().h);
      }
      return outs;
    };
  };
  for (const bool one : {false, true}) {
    CAPTURE(one);
    CHECK(more<Net>(sequences(1, 9, false), sequences(1, 8, false), one) == Counts{1, 1, 1, 1});
    CHECK(more<Net>(sequences(5, 9, false), sequences(5, 8, false), one) == Counts{1, 1, 1, 1});
  }
  // States of two directions lie by turns: they are gathered, and their gradients spread.
  CHECK(more<Net>(sequences(5, 9, true), sequences(5, 8, true)) == Counts{2, 1, 2, 1});
  CHECK(more<Net>(sequences(5, 9, true), sequences(5, 8, true), true) == Counts{2, 2, 2, 2});

  const auto complete = [](unsigned depth) {
    return [=](const Net& n) { return Outs{n.complete_tree(depth).h}; };
  };
  for (const bool one : {false, true})
    CHECK(more<Net>(complete(3), complete(2), one) == Counts{2, 1, 2, 1});
}

TEST_CASE("gradients of many operands of one shape take a kernel", "[cuda]") {
  using Combine = std::function<Expression(const Outs&)>;
  const auto of = [](const Combine& combine, unsigned operands) {
    return [=](const Net& n) {
      return Outs{combine(each(operands, [&](unsigned t) { return tanh(n.word(t)); }))};
    };
  };
  for (const Combine& combine : {Combine([](const Outs& e) { return concatenate(e); }),
                                 Combine([](const Outs& e) { return max(e); }),
                                 Combine([](const Outs& e) { return min(e[0], max(e)); }),
                                 Combine([](const Outs& e) { return logsumexp(e); }),
                                 Combine([](const Outs& e) { return sum(e); })})
    CHECK(more<Net>(of(combine, 9), of(combine, 5)) == Counts{0, 0, 0, 0});
}

TEST_CASE("with little memory on the device gradients share it, and are the same", "[cuda]") {
  std::vector<Floats> gradients[2];
  std::size_t bytes[2] = {};
  for (const bool little : {false, true}) {
    release_graph_memory();
    ParameterCollection pc;
    pc.set_seed(3);
    DeviceGraph g;
    const Net n(g, pc);
    const Net::State there = n.sequence(20, 400).back(), back = n.sequence(20, 400, true).back();
    Expression y = concatenate(std::vector<Expression>(10, cmult(there.h, back.h)));
    for (int k = 0; k < 100; ++k) y = tanh(y);
    const Expression loss = sum_batches(sum_elems(y));
    g.incremental_forward(loss);
    const SmallDevice small(little ? emulation::used() + bytes[false] * 3 / 4 : emulation::limit());
    g.backward(loss);
    bytes[little] = g.statistics().gradient_bytes;
    for (const Parameter& p : pc.parameters_list())
      gradients[little].push_back(as_vector(p.gradients()));
  }
  CHECK(bytes[true] < bytes[false] * 3 / 4);
  check_equal(gradients[false], gradients[true]);
}
#endif

TEST_CASE("a product that lies where the matrix of another was is made after it", "[cuda]") {
  constexpr unsigned kSize = 4;
  ParameterCollection pc;
  pc.set_seed(5);
  const Parameter p = pc.add_parameters({kSize, kSize});
  ComputationGraph g;
  const Expression w = parameter(g, p), x = parameter(g, pc.add_parameters({kSize, kSize}));
  std::vector<Expression> matrices, products;
  for (int k = 0; k < 6; ++k) matrices.push_back(w * (0.5f + 0.1f * static_cast<float>(k)));
  for (const Expression& m : matrices) products.push_back(m * x);
  Expression end = sum(products);
  for (int k = 0; k < 40; ++k) end = end * 0.999f;
  const NodeId last = end.i;

  Executor<float> host(g.store(), PlanPolicy::in_batches);
  Executor<float> device(g.store(), PlanPolicy::in_batches,
                         Backend<float>(cuda::kDevices.make_backend(0)));
  for (Executor<float>* e : {&host, &device}) {
    e->set_inference(true, WindowSizes{0, 64, 0, 8});
    e->forward(last);
  }
  const float* const got = device.backend(last).read(device.value(last), kSize * kSize);
  for (unsigned i = 0; i < kSize * kSize; ++i)
    CHECK(got[i] == Approx(host.value(last)[i]).epsilon(1e-5).margin(1e-6));
}
