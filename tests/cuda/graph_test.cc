// Graphs, builders and training on the device against the CPU.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/cuda/device.h"
#include "tests/support/catch.h"
#include "tests/support/op_case.h"

using namespace dynet;

namespace {

using Floats = std::vector<float>;

Device* gpu() { return get_device_manager()->get_global_device("GPU:0"); }

void check_near(const Floats& a, const Floats& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  CHECK(test::largest_difference(a.data(), b.data(), a.size()) <= tolerance);
}

/// Everything that a model for language is made of.
struct Model {
  ParameterCollection pc;
  LookupParameter words = pc.add_lookup_parameters(40, {12});
  VanillaLSTMBuilder lstm{2, 12, 16, pc};
  GRUBuilder gru{1, 16, 10, pc};
  Parameter w = pc.add_parameters({7, 10}), b = pc.add_parameters({7});

  /// Loss of a sentence, or of two in a batch.
  Expression loss(ComputationGraph& g, unsigned seed, bool batched = false) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    gru.new_graph(g);
    gru.start_new_sequence();
    const Expression W = parameter(g, w), B = parameter(g, b);
    std::vector<Expression> losses;
    for (unsigned t = 0; t < 3 + seed % 4; ++t) {
      const unsigned word = (seed * 7 + t * t) % 40, tag = (seed + t) % 7;
      const Expression x = batched ? lookup(g, words, std::vector<unsigned>{word, (word + 1) % 40})
                                   : lookup(g, words, word);
      const Expression h = gru.add_input(dropout(lstm.add_input(x), 0.2f));
      const Expression scores = affine_transform({B, W, h});
      losses.push_back(batched ? sum_batches(pickneglogsoftmax(scores, {tag, 6 - tag}))
                               : pickneglogsoftmax(scores, tag));
    }
    return sum(losses);
  }
};

}  // namespace

TEST_CASE("a device is found by its name", "[cuda]") {
  const auto all = get_device_manager()->get_devices();
  REQUIRE(all.size() >= 2);
  CHECK(all[0] == default_device);
  CHECK(gpu()->type == DeviceType::GPU);
  CHECK(get_device_manager()->get(1) == gpu());
  CHECK_THROWS_AS(get_device_manager()->get_global_device("GPU:99"), DeviceError);
}

TEST_CASE("training on the device gives the losses and parameters of the CPU", "[cuda]") {
  constexpr unsigned kUpdates = 12;
  Floats losses[2], parameters[2];
  for (const bool on_device : {false, true}) {
    Model m;
    AdamTrainer trainer(m.pc);
    for (unsigned i = 0; i < kUpdates; ++i) {
      ComputationGraph g;
      if (on_device) g.set_device(gpu());
      g.set_seed(i + 1);
      const Expression loss = sum({m.loss(g, 3 * i), m.loss(g, i + 1), m.loss(g, i + 5, true)});
      losses[on_device].push_back(as_scalar(loss.value()));
      g.backward(loss);
      trainer.update();
    }
    parameters[on_device] = test::all_values(m.pc);
  }
  check_near(losses[0], losses[1], 1e-4);
  check_near(parameters[0], parameters[1], 2e-3);
  std::printf("%u updates, loss %g to %g\n", kUpdates, losses[1].front(), losses[1].back());
}

TEST_CASE("two runs on the device are the same bits", "[cuda]") {
  Floats parameters[2];
  for (Floats& result : parameters) {
    Model m;
    SimpleSGDTrainer trainer(m.pc);
    for (unsigned i = 0; i < 5; ++i) {
      ComputationGraph g;
      g.set_device(gpu());
      g.set_seed(i + 1);
      g.backward(sum({m.loss(g, i), m.loss(g, 2 * i + 1)}));
      trainer.update();
    }
    result = test::all_values(m.pc);
  }
  CHECK(parameters[0] == parameters[1]);
}

TEST_CASE("sums of products are made in one order on the device, in batches or not", "[cuda]") {
  // Matrices of one row and one column: the order inside a product is the library's.
  ParameterCollection pc;
  pc.set_seed(5);
  std::vector<Parameter> p;
  for (int k = 0; k < 4; ++k) p.push_back(pc.add_parameters({1, 1}));
  for (unsigned place = 0; place < 3; ++place) {  // of the recurrent product
    CAPTURE(place);
    Floats values[2];
    for (const bool batched : {false, true}) {
      ComputationGraph g(batched);
      g.set_device(gpu());
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
      values[batched] = as_vector(concatenate(all).value());
    }
    CHECK(values[0] == values[1]);
  }
}

TEST_CASE("values on the device may be read while a graph is built", "[cuda]") {
  Model m;
  ComputationGraph g, h;
  g.set_device(gpu());
  for (ComputationGraph* graph : {&g, &h}) graph->set_seed(5);
  const Expression a = m.loss(g, 3), b = m.loss(h, 3);
  CHECK(as_scalar(a.value()) == Approx(as_scalar(b.value())).epsilon(1e-4));
  g.checkpoint();
  h.checkpoint();
  const Expression more = m.loss(g, 9) + a, also = m.loss(h, 9) + b;
  CHECK(as_scalar(more.value()) == Approx(as_scalar(also.value())).epsilon(1e-4));
  g.revert();
  h.revert();
  g.backward(a * a);
  h.backward(b * b);
  check_near(as_vector(a.gradient()), as_vector(b.gradient()), 1e-4);
  // Values behind pointers are read again.
  float x = 2;
  ComputationGraph k;
  k.set_device(gpu());
  const Expression e = input(k, &x) * 3;
  CHECK(as_scalar(k.forward(e)) == 6);
  x = 5;
  CHECK(as_scalar(k.forward(e)) == 15);
}

TEST_CASE("the device draws the same random numbers", "[cuda]") {
  Floats drawn[2];
  for (const bool on_device : {false, true}) {
    ComputationGraph g;
    if (on_device) g.set_device(gpu());
    g.set_seed(11);
    const Expression x = concatenate({random_normal(g, {300}), random_uniform(g, {300}, -1, 1),
                                      random_bernoulli(g, {300}, 0.3f), random_gumbel(g, {300}),
                                      dropout(ones(g, {300}), 0.4f)});
    drawn[on_device] = as_vector(x.value());
  }
  check_near(drawn[0], drawn[1], 1e-5);
}

TEST_CASE("inference and immediate mode work on the device", "[cuda]") {
  Model m;
  float expected = 0;
  for (int mode = 0; mode < 3; ++mode) {
    ComputationGraph g;
    g.set_seed(2);
    if (mode > 0) g.set_device(gpu());
    if (mode == 1) g.set_inference(true);
    if (mode == 2) g.set_immediate_compute(true);
    const float loss = as_scalar(m.loss(g, 6).value());
    if (mode == 0) expected = loss;
    CHECK(loss == Approx(expected).epsilon(1e-4));
  }
}

TEST_CASE("a graph throws at the line of a call that its device does not support", "[cuda]") {
  ComputationGraph g;
  input(g, 1.0f);
  CHECK_THROWS_AS(g.set_device(gpu()), ArgumentError);
  CHECK_THROWS_AS(g.set_device(nullptr), ArgumentError);

  static const OpForm kOnly{.name = "mine",
                            .kind = Kind::compute,
                            .shape = [](const Operands& x) { return x[0]; },
                            .batch = BatchRule::each(),
                            .reads = Reads::nothing,
                            .aux = no_aux,
                            .passes_gradient = false,
                            .forward = Forward{nullptr, nullptr},
                            .backward = Backward{nullptr, nullptr},
                            .cuda = CudaRule::never("nobody has written kernels for it")};
  ComputationGraph h;
  h.set_device(gpu());
  const Expression x = input(h, {3}, {1, 2, 3});
  const std::size_t size = h.size();
  try {
    add_node(kOnly, x, {}, SourceLocation::current());
    FAIL("nothing was thrown");
  } catch (const DeviceError& e) {
    CHECK_THAT(e.what(), Catch::Contains("mine: cannot run on a GPU: nobody has written kernels"));
    CHECK_THAT(e.what(), Catch::Contains("graph_test.cc"));
  }
  CHECK(h.size() == size);
  CHECK(as_vector(tanh(x).value()).size() == 3);
}

TEST_CASE("a check of validity finds the operation on the device", "[cuda]") {
  ComputationGraph g;
  g.set_device(gpu());
  g.set_check_validity(true);
  const Expression x = input(g, {2}, {1, -1});
  CHECK_THROWS_AS(log(x).value(), NumericError);
}

TEST_CASE("without memory on the device there is an error, and the graph goes on", "[cuda]") {
  Model m;
  {  // kernels are loaded, and cuBLAS is started
    ComputationGraph g;
    g.set_device(gpu());
    g.backward(m.loss(g, 3));
  }
  release_graph_memory();
  const test::SmallDevice small(test::kLittleMemory);
  ComputationGraph g;
  g.set_device(gpu());
  const Expression a = m.loss(g, 3);
  const float loss = as_scalar(a.value());
  g.checkpoint();
  Expression large = constant(g, {20000, 20000}, 1);
  large = large + large;
  CHECK_THROWS_AS(large.value(), OutOfMemoryError);
  g.revert();
  CHECK(as_scalar(a.value()) == loss);
  g.backward(a);
  CHECK(std::isfinite(as_scalar(m.loss(g, 4).value())));
}

TEST_CASE("graphs on several threads share a device", "[cuda]") {
  Model m;
  std::vector<float> expected(4), got(4);
  std::vector<Floats> expected_gradients(4), gradients(4);
  const auto run = [&](ComputationGraph& g, unsigned i, Floats& losses,
                       std::vector<Floats>& inner) {
    g.set_seed(i + 1);
    Model mine = m;  // whose parameters are those of m
    const Expression x = lookup(g, mine.words, i), loss = mine.loss(g, i) + squared_norm(x);
    losses[i] = as_scalar(loss.value());
    g.backward(loss);
    inner[i] = as_vector(x.gradient());
  };
  const auto take_gradients = [&] {
    Floats all;
    for (const Parameter& p : m.pc.parameters_list())
      for (const float x : as_vector(p.gradients())) all.push_back(x);
    for (unsigned row = 0; row < m.words.size(); ++row)
      for (const float x : m.words.row_gradient(row)) all.push_back(x);
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
      ComputationGraph g;
      g.set_device(gpu());
      run(g, i, got, gradients);
    });
  for (std::thread& t : threads) t.join();
  check_near(got, expected, 1e-4);
  for (unsigned i = 0; i < 4; ++i) check_near(gradients[i], expected_gradients[i], 1e-4);
  check_near(take_gradients(), sum, 1e-4);
}

TEST_CASE("gradients side by side are stored where none was, and added where one was", "[cuda]") {
  constexpr unsigned kSize = 6, kNodes = 5;
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({kSize, kSize});
  const LookupParameter words = pc.add_lookup_parameters(kNodes, {kSize});
  Floats gradients[2];
  for (const bool on_device : {false, true}) {
    ComputationGraph g;
    if (on_device) g.set_device(gpu());
    const Expression W = parameter(g, w);
    std::vector<Expression> x, losses;
    for (unsigned i = 0; i < kNodes; ++i) x.push_back(tanh(lookup(g, words, i)));
    for (const Expression& e : x) losses.push_back(squared_norm(W * e));
    for (unsigned i = 0; i < kNodes; i += 2) losses.push_back(sum_elems(x[i]));  // goes back first
    const Expression loss = sum(losses);
    g.backward(loss, true);
    for (const Expression& e : x)
      for (const float d : as_vector(e.gradient())) gradients[on_device].push_back(d);
  }
  check_near(gradients[0], gradients[1], 1e-5);
}

#ifndef DYNET_TEST_GPU
// On the CPU a graph of this size is cut into windows that its caches hold.
TEST_CASE("products of matrices of data are one batch, and those of a parameter another",
          "[cuda]") {
  ParameterCollection pc;
  const Parameter w = pc.add_parameters({4, 4});
  Floats values[2];
  for (const bool on_device : {false, true}) {
    ComputationGraph g;
    if (on_device) g.set_device(gpu());
    const Expression matrix = parameter(g, w);
    std::vector<Expression> products;
    for (unsigned k = 0; k < 5; ++k) {
      const Expression x = input(g, {4}, {1, 2, 3, static_cast<float>(k)});
      products.push_back(tanh(input(g, {4, 4}, Floats(16, 0.1f * static_cast<float>(k)))) * x);
      products.push_back(matrix * x);
    }
    values[on_device] = as_vector(sum(products).value());
    // Both inputs, tanh, both products, the sum.
    if (on_device) CHECK(g.statistics().batches == 6);
  }
  check_near(values[0], values[1], 1e-5);
}

TEST_CASE("a large graph costs the device no more launches than a small one", "[cuda]") {
  constexpr unsigned kChains = 64, kLength = 16, kSmall = 32, kLarge = 1 << 14;
  const auto launches = [](unsigned size) {
    ComputationGraph g;
    g.set_device(gpu());
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
