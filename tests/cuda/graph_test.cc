// Graphs on the device against the CPU.

#include <thread>

#include "tests/cuda/training.h"
#include "tests/support/graph_program.h"

using namespace dynet;
using namespace dynet::test;

TEST_CASE("a device is found by its name", "[cuda]") {
  const auto all = get_device_manager()->get_devices();
  REQUIRE(all.size() >= 2);
  CHECK(all[0] == default_device);
  CHECK(gpu()->type == DeviceType::GPU);
  CHECK(get_device_manager()->get(1) == gpu());
  CHECK_THROWS_AS(get_device_manager()->get_global_device("GPU:99"), DeviceError);
}

TEST_CASE("random programs in every mode have the CPU's values and gradients", "[cuda]") {
  std::vector<GraphMode> modes = {{.name = "batched"},
                                  {.name = "unbatched", .batched = false},
                                  {.name = "immediate", .immediate = true},
                                  {.name = "value by value", .asks = true},
                                  {.name = "interleaved", .interleaved = true},
                                  {.name = "checked", .check = true},
                                  {.name = "inference", .inference = true},
                                  {.name = "switching", .switching = true}};
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const GraphProgram program{
        .width = static_cast<unsigned>(2 + seed % 4), .actions = 20, .changes = seed % 2 == 1};
    const GraphLog expected = run_program(program, Choices(seed), {.name = "CPU"});
    for (GraphMode& mode : modes) {
      if (program.changes && (mode.inference || mode.switching)) continue;
      mode.device = gpu();
      CAPTURE(seed, mode.name);
      const GraphLog got = run_program(program, Choices(seed), mode);
      CHECK(first_difference(expected, got, SameBits::none) == "");
    }
  }
}

TEST_CASE("sums of products are made in one order on the device, in batches or not", "[cuda]") {
  // Matrices of one row and one column: the order inside a product is the library's.
  ParameterCollection pc;
  pc.set_seed(5);
  std::vector<Parameter> p;
  for (int k = 0; k < 4; ++k) p.push_back(pc.add_parameters({1, 1}));
  for (unsigned place = 0; place < 3; ++place) {  // of the recurrent product
    CAPTURE(place);
    const auto results = [&](bool batched) {
      DeviceGraph g(gpu(), batched);
      std::vector<Expression> all, w;
      // Not the parameters themselves: several products with those may be one.
      for (const Parameter& one : p) w.push_back(2.0f * parameter(g, one));
      for (unsigned s = 0; s < 5; ++s) {
        Expression h = constant(g, {1}, 0.1f * static_cast<float>(s));
        for (unsigned t = 0; t < 4 + s % 2; ++t) {
          std::vector<Expression> terms = {w[3]};
          for (unsigned k = 0; k < 3; ++k) {
            terms.push_back(w[k]);
            terms.push_back(k == place ? h : input(g, 0.3f * static_cast<float>(s + t + k)));
          }
          terms.insert(terms.end(), {w[place], h});
          all.push_back(h = affine_transform(terms));
        }
      }
      return values(concatenate(all));
    };
    CHECK(results(false) == results(true));
  }
}

TEST_CASE("a graph throws at the line of a call that its device does not support", "[cuda]") {
  ComputationGraph g;
  input(g, 1.0f);
  CHECK_THROWS_AS(g.set_device(gpu()), ArgumentError);
  CHECK_THROWS_AS(g.set_device(nullptr), ArgumentError);

  static const OpForm kOnly{.name = "mine",
                            .shape = [](const Operands& x) { return x[0]; },
                            .batch = BatchRule::each(),
                            .reads = Reads::nothing,
                            .aux = no_aux,
                            .passes_gradient = false,
                            .forward = Forward{nullptr, nullptr},
                            .backward = Backward{nullptr, nullptr},
                            .cuda = CudaRule::never("nobody has written kernels for it")};
  DeviceGraph h;
  const Expression x = input(h, {3}, {1, 2, 3});
  const std::size_t size = h.size();
  CHECK_THROWS_AS(add_node(kOnly, x, {}, SourceLocation::current()), DeviceError);
  CHECK_THROWS_WITH(add_node(kOnly, x, {}, SourceLocation::current()),
                    Catch::Contains("mine: cannot run on a GPU: nobody has written kernels") &&
                        Catch::Contains("graph_test.cc"));
  CHECK(h.size() == size);
  CHECK(as_vector(tanh(x).value()).size() == 3);
  // The device of the operand decides, not that of the graph.
  ComputationGraph cpu;
  const Expression y = input(cpu, 2.0f);
  CHECK_NOTHROW(add_node(kOnly, y, {}, SourceLocation::current()));
  CHECK_THROWS_AS(add_node(kOnly, to_device(y, gpu()), {}, SourceLocation::current()), DeviceError);
}

TEST_CASE("graphs on several threads share a device", "[cuda]") {
  Model m;
  Floats expected(4), got(4);
  std::vector<Floats> expected_gradients(4), gradients(4);
  const auto run = [&](ComputationGraph& g, unsigned i, Floats& losses,
                       std::vector<Floats>& inner) {
    g.set_seed(i + 1);
    const Expression x = lookup(g, m.words, i), loss = m.loss(g, i) + squared_norm(x);
    losses[i] = as_scalar(loss.value());
    g.backward(loss);
    inner[i] = gradient(x);
  };
  const auto take_gradients = [&] {
    const Floats all = all_gradients(m.pc);
    m.pc.reset_gradient();
    return all;
  };
  for (unsigned i = 0; i < 4; ++i) {
    ComputationGraph g;
    run(g, i, expected, expected_gradients);
  }
  const Floats sum = take_gradients();
  CHECK(*std::max_element(sum.begin(), sum.end()) > 0.1f);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      DeviceGraph g;
      run(g, i, got, gradients);
    });
  for (std::thread& t : threads) t.join();
  check_near(got, expected, 1e-4);
  for (unsigned i = 0; i < 4; ++i) check_near(gradients[i], expected_gradients[i], 1e-4);
  check_near(take_gradients(), sum, 1e-4);
}

#ifndef DYNET_TEST_GPU
// On the CPU a graph of this size is cut into windows that its caches hold.
TEST_CASE("products of matrices of data are one batch, and those of a parameter another",
          "[cuda]") {
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({4, 4});
  check_both(1e-5, [&](bool on_device) {
    DeviceGraph g(on_device ? gpu() : nullptr);
    const Expression matrix = parameter(g, w);
    std::vector<Expression> products;
    for (unsigned k = 0; k < 5; ++k) {
      const Expression x = input(g, {4}, {1, 2, 3, static_cast<float>(k)});
      products.push_back(tanh(input(g, {4, 4}, Floats(16, 0.1f * static_cast<float>(k)))) * x);
      products.push_back(matrix * x);
    }
    const Floats all = values(sum(products));
    // Both inputs, tanh, both products, the sum.
    if (on_device) CHECK(g.statistics().batches == 6);
    return all;
  });
}

TEST_CASE("a large graph costs the device no more launches than a small one", "[cuda]") {
  constexpr unsigned kChains = 64, kLength = 16, kSmall = 32, kLarge = 1 << 14;
  const auto launches = [](unsigned size) {
    DeviceGraph g;
    std::vector<Expression> ends;
    for (unsigned c = 0; c < kChains; ++c) {
      Expression x = zeros(g, {size});
      for (unsigned k = 0; k < kLength; ++k) x = tanh(x);
      ends.push_back(sum_elems(x));
    }
    const std::size_t before = emulation::counts().launches;
    g.incremental_forward(sum(ends));
    return emulation::counts().launches - before;
  };
  emulation::idle() = true;
  const std::size_t small = launches(kSmall), large = launches(kLarge);
  emulation::idle() = false;
  CHECK(large == small);
  CHECK(small <= kLength + 4);
}
#endif
