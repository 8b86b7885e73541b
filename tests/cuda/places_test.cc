// Graphs on several devices, the CPU among them.

#include "dynet-like/base/random.h"
#include "tests/cuda/check_equal.h"
#include "tests/support/split_model.h"

using namespace dynet;
using namespace dynet::test;

namespace {

using Devices = SplitModel::Devices;

Device* const cpu = default_device;
bool one_gpu() { return get_device_manager()->num_devices() == 2; }
Device* another() { return one_gpu() ? cpu : gpu(1); }

void check_same(const SplitOutcome& a, const SplitOutcome& b) {
  check_near(a.losses, b.losses, 1e-4);
  check_near(a.of_words, b.of_words, 1e-4);
  check_near(a.parameters, b.parameters, 1e-3);
}

}  // namespace

TEST_CASE("places: the CPU and a GPU, forth and back", "[cuda]") {
  const SplitOutcome expected = train({});
  // Embeddings on the CPU, all else at the GPU; only the network there; only what is around.
  for (const Devices& at :
       {Devices{cpu, gpu(0), gpu(0)}, Devices{cpu, gpu(0), cpu}, Devices{gpu(0), cpu, gpu(0)}})
    for (Device* own : {cpu, gpu(0)}) check_same(expected, train(at, {own}));
  check_same(expected, train({cpu, gpu(0), cpu}, {gpu(0), false}));
  // A device for those that name none.
  check_same(expected, train({cpu, nullptr, nullptr}, {gpu(0)}));
}

TEST_CASE("places: several GPUs, and the CPU", "[cuda]") {
  if (one_gpu()) {
    skip("there is one GPU");
    return;
  }
  const SplitOutcome expected = train({});
  for (const Devices& at : {Devices{gpu(0), gpu(1), gpu(0)}, Devices{cpu, gpu(0), gpu(1)},
                            Devices{gpu(1), gpu(0), cpu}})
    check_same(expected, train(at));
  check_same(expected, train({gpu(1), gpu(0), gpu(1)}, {gpu(1), false}));
}

TEST_CASE("places: two runs on several devices are the same bits", "[cuda]") {
  const Devices at{cpu, gpu(0), another()};
  const SplitOutcome first = train(at), second = train(at);
  CHECK(first.parameters == second.parameters);
  CHECK(first.of_words == second.of_words);
}

TEST_CASE("places: values and gradients may be asked for at any time and anywhere", "[cuda]") {
  ParameterCollection pc;
  Parameter p = pc.add_parameters({3}), q = pc.add_parameters({3}, "q", gpu(0));
  p.set_value({1, 2, 3});
  q.set_value({3, 2, 1});
  float factor = 2;
  ComputationGraph g;
  const Expression x = parameter(g, p) * input(g, &factor), y = to_device(x, gpu(0));
  CHECK(values(y) == Floats{2, 4, 6});
  const Expression z = cmult(y, parameter(g, q)), back = to_device(z, cpu);
  CHECK(z.get_device_name() == "GPU:0");
  CHECK(back.get_device_name() == "CPU");
  CHECK(values(back) == Floats{6, 8, 6});
  g.checkpoint();
  CHECK(as_scalar(sum_elems(to_device(square(back), gpu(0))).value()) == 136);
  g.revert();
  const Expression loss = sum_elems(back);
  g.backward(loss);
  CHECK(gradient(z) == Floats{1, 1, 1});
  CHECK(gradient(y) == Floats{3, 2, 1});
  CHECK(gradient(x) == Floats{3, 2, 1});
  CHECK(as_vector(p.gradients()) == Floats{6, 4, 2});
  CHECK(as_vector(q.gradients()) == Floats{2, 4, 6});
  factor = 1;
  CHECK(as_scalar(g.forward(loss)) == 10);
}

TEST_CASE("places: without memory on one device there is an error, and the graph goes on",
          "[cuda]") {
  SplitModel m({cpu, gpu(0), cpu});
  {  // kernels are loaded, and cuBLAS is started
    ComputationGraph g;
    g.backward(m.loss(g, 3));
  }
  release_graph_memory();
  const SmallDevice small(kLittleMemory);
  ComputationGraph g;
  g.set_seed(2);
  const Expression a = m.loss(g, 3);
  const float loss = as_scalar(a.value());
  g.checkpoint();
  const Expression there = to_device(constant(g, {4000, 4000}, 1), gpu(0));
  const Expression large = concatenate(std::vector<Expression>(20, there));
  CHECK_THROWS_AS(large.value(), OutOfMemoryError);
  g.revert();
  CHECK(as_scalar(a.value()) == loss);
  g.backward(a);
  CHECK(std::isfinite(as_scalar(m.loss(g, 4).value())));
}

namespace {

/// A graph of chance, of which every operation runs on a device of chance, or all on the CPU.
class Scattered {
 public:
  Scattered(std::uint64_t seed, bool scattered, bool batched)
      : graph(batched), state_(seed), scattered_(scattered) {
    graph.set_seed(seed);
    w_ = pc.add_parameters({4, 4}, "p", device());
    b_ = pc.add_parameters({4}, "p", device());
    table_ = pc.add_lookup_parameters(6, {4}, "t", device());
    const unsigned nodes = 20 + below(30);
    for (unsigned i = 0; i < nodes; ++i) all.push_back(next());
    std::vector<Expression> ends;
    for (const Expression& e : all) ends.push_back(sum_elems(to_device(e, cpu)));
    loss = sum(ends);
  }

  ComputationGraph graph;
  ParameterCollection pc;
  std::vector<Expression> all;
  Expression loss;

 private:
  unsigned below(unsigned n) {
    state_ = mix_bits(state_ + 1);
    return static_cast<unsigned>(state_ >> 33) % n;
  }
  Device* device() {
    const auto devices = get_device_manager()->get_devices();
    Device* const of_chance = devices[below(static_cast<unsigned>(devices.size()))];
    return scattered_ ? of_chance : cpu;
  }
  Expression next() {
    Device* const there = device();
    const auto count = static_cast<unsigned>(all.size());
    const unsigned which = count < 3 ? 6 + below(2) : below(8);
    if (which == 6) return lookup(graph, table_, below(6));
    if (which == 7) return tanh(to_device(parameter(graph, b_), there));
    const auto operand = [&] { return to_device(all[below(count)], there); };
    const Expression x = operand(), y = operand();
    switch (which) {
      case 0:
        return tanh(x);
      case 1:
        return x + 0.5f;
      case 2:
        return cmult(x, y);
      case 3:
        return tanh(sum({x, y, x}));
      default:
        return tanh(affine_transform(
            {to_device(parameter(graph, b_), there), to_device(parameter(graph, w_), there), x}));
    }
  }

  std::uint64_t state_;
  bool scattered_;
  Parameter w_, b_;
  LookupParameter table_;
};

}  // namespace

TEST_CASE("places: graphs of chance on devices of chance", "[cuda]") {
  unsigned mixed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Scattered one(seed, false, true), several(seed, true, seed % 4 != 0);
    for (Scattered* s : {&one, &several}) s->graph.backward(s->loss, seed % 3 == 0);
    REQUIRE(one.all.size() == several.all.size());
    for (std::size_t i = 0; i < one.all.size(); ++i) {
      check_near(values(one.all[i]), values(several.all[i]), 1e-4);
      check_near(gradient(one.all[i]), gradient(several.all[i]), 1e-3);
    }
    const auto parameters = one.pc.parameters_list(), others = several.pc.parameters_list();
    for (std::size_t p = 0; p < parameters.size(); ++p)
      check_near(as_vector(parameters[p].gradients()), as_vector(others[p].gradients()), 1e-3);
    mixed += several.graph.store().devices.size() > 2;
  }
  CHECK((one_gpu() || mixed > 20));
}
