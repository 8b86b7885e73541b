// The answers to the exercises of docs/tutorial.md; docs/answers.md quotes this file.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dynet-like/distributed/batch_trainer.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/save.h"
#include "dynet-like/layers/search/token_sampling.h"
#include "dynet-like/ops/form.h"
#include "dynet-like/run/grad_check.h"
#include "dynet-like/train/update_loops.h"
#include "tests/support/catch.h"

namespace answers_test {

using namespace dynet;

namespace {

std::vector<float> numbers(unsigned n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> all(n);
  for (float& x : all) x = static_cast<float>(random() % 2001) / 1000 - 1;
  return all;
}

double norm(const Tensor& values) {
  double squares = 0;
  for (const float x : as_vector(values)) squares += double(x) * double(x);
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("chapter 1: four errors are one loss") {
  ParameterCollection model;
  Parameter W = model.add_parameters({1, 2});
  const auto error_of = [&](ComputationGraph& cg, int sample) {
    const float x1 = sample & 1 ? 1 : -1, x2 = sample & 2 ? 1 : -1;
    const float target = x1 != x2 ? 1 : -1;
    return squared_distance(parameter(cg, W) * input(cg, {2}, {x1, x2}), input(cg, target));
  };
  {
    ComputationGraph cg;
    std::vector<Expression> errors;
    for (int sample = 0; sample < 4; ++sample) errors.push_back(error_of(cg, sample));
    Expression loss = average(errors);
    cg.backward(loss);
  }
  const std::vector<float> together = as_vector(W.gradients());
  model.reset_gradient();
  for (int sample = 0; sample < 4; ++sample) {
    ComputationGraph cg;
    cg.backward(error_of(cg, sample) / 4.0f);
  }
  const std::vector<float> added = as_vector(W.gradients());
  for (unsigned i = 0; i < 2; ++i) CHECK(together[i] == Approx(added[i]).margin(1e-6));
}

TEST_CASE("chapter 1: without tanh the loss stays at 1") {
  ParameterCollection model;
  Parameter W = model.add_parameters({8, 2}), V = model.add_parameters({1, 8});
  SimpleSGDTrainer trainer(model, 0.05f);
  float loss = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    ComputationGraph cg;
    Expression x = input(cg, Dim({2}, 4), {-1, -1, -1, 1, 1, -1, 1, 1});
    Expression y = parameter(cg, V) * (parameter(cg, W) * x);
    Expression error = mean_batches(squared_distance(y, input(cg, Dim({1}, 4), {-1, 1, 1, -1})));
    loss = as_scalar(cg.forward(error));
    cg.backward(error);
    trainer.update();
  }
  CHECK(loss == Approx(1).margin(0.01));
}

TEST_CASE("chapter 2: shapes of a minibatch, and its sum in place of its mean") {
  std::vector<std::vector<float>> trained;
  for (const bool mean : {true, false}) {
    ParameterCollection model;
    model.set_seed(1);
    Parameter W = model.add_parameters({24, 2}), V = model.add_parameters({2, 24});
    SimpleSGDTrainer trainer(model, mean ? 0.1f : 0.1f / 32);
    trainer.clipping_enabled = false;
    ComputationGraph cg;
    Expression x = input(cg, Dim({2}, 32), numbers(64));
    Expression h = parameter(cg, W) * x, scores = parameter(cg, V) * tanh(h);
    Expression losses = pickneglogsoftmax(scores, std::vector<unsigned>(32, 1));
    CHECK(h.dim() == Dim({24}, 32));
    CHECK(losses.dim() == Dim({1}, 32));
    cg.backward(mean ? mean_batches(losses) : sum_batches(losses));
    trainer.update();
    trained.push_back(as_vector(W.values()));
  }
  for (std::size_t i = 0; i < trained[0].size(); ++i)
    CHECK(trained[0][i] == Approx(trained[1][i]).margin(1e-6));
}

TEST_CASE("chapter 3: the longest sequence decides the number of batches") {
  ParameterCollection model;
  LookupParameter embeddings = model.add_lookup_parameters(2, {4});
  VanillaLSTMBuilder lstm(1, 4, 16, model);
  Parameter W = model.add_parameters({2, 16});
  const auto batches = [&](const std::vector<unsigned>& lengths, bool asks_in_loop) {
    ComputationGraph cg;
    lstm.new_graph(cg);
    const Expression w = parameter(cg, W);
    std::vector<Expression> losses;
    for (const unsigned length : lengths) {
      lstm.start_new_sequence();
      for (unsigned t = 0; t < length; ++t) lstm.add_input(lookup(cg, embeddings, t % 2));
      losses.push_back(pickneglogsoftmax(w * lstm.back(), length % 2));
      if (asks_in_loop) losses.back().value();
    }
    average(losses).value();
    return cg.statistics().batches;
  };
  const std::vector<unsigned> equal(32, 13), one = {13};
  std::vector<unsigned> mixed;
  for (unsigned k = 0; k < 32; ++k) mixed.push_back(3 + 2 * (k % 6));
  CHECK(batches(equal, false) == batches(one, false));
  CHECK(batches(mixed, false) == batches(one, false));
  CHECK(batches(mixed, true) > 10 * batches(mixed, false));
}

TEST_CASE("chapter 4: a deeper network of another cell, with dropout") {
  ParameterCollection model;
  LookupParameter embeddings_ = model.add_lookup_parameters(8, {8});
  BiRNNBuilder<GRUBuilder> lstm_(2, 8, 32, model);
  ComputationGraph cg;
  lstm_.new_graph(cg);
  for (const bool training : {true, false}) {
    std::vector<Expression> x;
    for (unsigned word : {3u, 1u, 2u}) {
      Expression e = lookup(cg, embeddings_, word);
      x.push_back(training ? dropout(e, 0.2f) : e);
    }
    x = lstm_.transduce(x);
    CHECK(x.size() == 3);
    CHECK(x[0].dim() == Dim({32}));
  }
}

TEST_CASE("chapter 5: a node with one child") {
  ParameterCollection model;
  NaryTreeLSTMBuilder cell_(2, 1, 8, 16, model);
  ComputationGraph cg;
  cell_.new_graph(cg);
  cell_.start_new_sequence();
  cell_.add_input(0, {}, input(cg, {8}, numbers(8)));
  const Expression h = cell_.add_input(1, {0}, input(cg, {8}, numbers(8, 2)));
  CHECK(h.dim() == Dim({16}));
  CHECK(check_gradients(squared_norm(h)).ok());
}

TEST_CASE("chapter 6: a lower temperature draws the probable words more often") {
  ParameterCollection model;
  StandardSoftmaxBuilder output(4, 3, model);
  model.parameters_list()[1].set_value({2, 1, 0});
  ComputationGraph cg;
  output.new_graph(cg);
  const Expression h = zeros(cg, {4});
  std::array<unsigned, 2> first = {0, 0};
  for (const bool cold : {false, true})
    for (std::uint64_t key = 0; key < 1000; ++key) {
      const double temperature = cold ? 0.5 : 1;
      const std::vector<float> scores = as_vector(output.full_logits(h).value());
      const unsigned word = sample_token(scores, key, {.temperature = temperature});
      first[cold] += word == 0;
    }
  CHECK(first[0] < 700);  // e^2 / (e^2 + e + 1) = 0.665
  CHECK(first[1] > 830);  // e^4 / (e^4 + e^2 + 1) = 0.867
}

TEST_CASE("chapter 7: scaled scores still give weights that add up to 1") {
  constexpr unsigned kDim = 32;
  ComputationGraph cg;
  const Expression keys = input(cg, {5, kDim}, numbers(5 * kDim));
  const Expression state = input(cg, {kDim}, numbers(kDim, 2));
  const Expression weights = softmax(keys * state / std::sqrt(float{kDim}));
  const std::vector<float> w = as_vector(weights.value());
  CHECK(std::accumulate(w.begin(), w.end(), 0.0f) == Approx(1));
}

TEST_CASE("chapter 8: a file of another shape changes nothing") {
  const std::string path = "answers_test.dynet";
  ParameterCollection small, large, same;
  small.add_parameters({16, 1}, "W");
  const Parameter W = large.add_parameters({32, 1}, "W");
  const Parameter again = same.add_parameters({16, 1}, "W");
  save(path, small);
  const std::vector<float> before = as_vector(W.values());
  std::string message;
  try {
    load(path, large);
  } catch (const FileError& e) {
    message = e.what();
  }
  CHECK(message.find("/W") != std::string::npos);
  CHECK(as_vector(W.values()) == before);
  load(path, same);
  CHECK(as_vector(again.values()) == as_vector(small.parameters_list()[0].values()));
  std::filesystem::remove(path);
}

namespace {

struct SignStep {
  float rate;
  float operator()(float w, float g, float*) const {
    return w - rate * static_cast<float>((g > 0) - (g < 0));
  }
};

constexpr TrainerRule kSign{
    .arrays = 0,
    .apply = [](const TrainerSlice& s) { each_value<0>(s, SignStep{s.c[0]}); },
    .device = DeviceRule::never("this program has no CUDA kernels")};

class SignTrainer : public Trainer {
 public:
  explicit SignTrainer(const ParameterCollection& pc, real lr) : Trainer(pc, lr, kSign) {}
  const char* kind() const override { return "SignTrainer"; }

 protected:
  void begin_update(std::uint64_t, TrainerConstants& c) override { c = {learning_rate}; }
};

}  // namespace

TEST_CASE("chapter 9: a trainer that steps by the sign of the gradient") {
  ParameterCollection model;
  Parameter p = model.add_parameters({3});
  p.set_value({1, -2, 0});
  SignTrainer trainer(model, 0.25f);
  ComputationGraph cg;
  cg.backward(squared_norm(parameter(cg, p)));
  trainer.update();
  CHECK(as_vector(p.values()) == std::vector<float>{0.75f, -1.75f, 0});
}

TEST_CASE("chapter 10: the cosine of existing operations") {
  ComputationGraph cg;
  const Expression x = input(cg, {3}, {1, 2, 2}), y = input(cg, {3}, {2, 0, 0});
  const Expression lengths = sqrt(cmult(squared_norm(x), squared_norm(y)));
  const Expression cosine = cdiv(dot_product(x, y), lengths);
  CHECK(as_scalar(cosine.value()) == Approx(1 / 3.0));
}

namespace {

template <class T>
void wrong_forward(const Batch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t j = 0; j < b.dim().size(); ++j) b.out(i)[j] = b.in(0, i)[j] * b.in(0, i)[j];
}
template <class T>
void wrong_backward(const GradientBatch<T>& b) {
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t j = 0; b.d_in(0, i) && j < b.dim().size(); ++j) {
      const T g = b.d_out(i)[j] * b.in(0, i)[j];  // without the factor 2
      b.d_in(0, i)[j] = b.add(0, i) ? b.d_in(0, i)[j] + g : g;
    }
}
const OpForm kWrongSquare{.name = "wrong_square",
                          .shape = [](const Operands& x) { return x[0]; },
                          .batch = BatchRule::each(),
                          .reads = Reads::inputs,
                          .aux = no_aux,
                          .forward = DYNET_FORWARD(wrong_forward),
                          .backward = DYNET_BACKWARD(wrong_backward),
                          .cuda = CudaRule::never("a test")};

}  // namespace

TEST_CASE("chapter 10: check_gradients reports a wrong backward") {
  ParameterCollection model;
  Parameter p = model.add_parameters({2});
  p.set_value({1, 2});
  ComputationGraph cg;
  const Expression y = add_node(kWrongSquare, parameter(cg, p), {}, SourceLocation::current());
  CHECK_FALSE(check_gradients(sum_elems(y)).ok());
}

TEST_CASE("chapter 11: another number of lanes") {
  struct Model {
    explicit Model(ParameterCollection& pc) : w(pc.add_parameters({1, 3})) {}
    void new_graph(ComputationGraph& cg) { W = parameter(cg, w); }
    Expression loss(ComputationGraph& cg, const unsigned& seed) {
      return squared_norm(W * input(cg, {3}, numbers(3, seed)));
    }
    Parameter w;
    Expression W;
  };
  const auto train = [&](unsigned threads, unsigned lanes) {
    ParameterCollection parameters;
    const Model model(parameters);
    AdamTrainer adam(parameters, 0.01f);
    BatchTrainer trainer(adam, {.threads = threads, .lanes = lanes});
    std::vector<unsigned> minibatch(64);
    std::iota(minibatch.begin(), minibatch.end(), 1u);
    double loss = 0;
    for (int step = 0; step < 5; ++step) loss = trainer.update(model, minibatch, &Model::loss);
    return loss;
  };
  CHECK(train(1, 4) == train(2, 4));
  CHECK(train(1, 4) == Approx(train(1, 8)));
}

TEST_CASE("chapter 12: a graph in inference has no backward") {
  ParameterCollection model;
  Parameter p = model.add_parameters({2});
  ComputationGraph cg;
  cg.set_inference(true);
  const Expression loss = squared_norm(parameter(cg, p));
  CHECK(as_scalar(cg.forward(loss)) >= 0);
  CHECK_THROWS_AS(cg.backward(loss), ArgumentError);
}

TEST_CASE("chapter 14: an infinite gradient of a finite value") {
  ParameterCollection model;
  Parameter p = model.add_parameters({1}, ParameterInitConst(0));
  SimpleSGDTrainer trainer(model, 0.1f);
  ComputationGraph cg;
  cg.set_check_validity(true);
  const Expression root = sqrt(parameter(cg, p));
  CHECK(as_scalar(cg.forward(root)) == 0);
  CHECK_THROWS_AS(cg.backward(root), NumericError);
  cg.set_check_validity(false);
  cg.backward(root);
  trainer.skip_non_finite = true;
  trainer.update();
  CHECK(trainer.skipped == 1);
  CHECK(as_vector(p.values())[0] == 0);
}

TEST_CASE("chapter 15: the row of a missing word") {
  ParameterCollection model;
  LookupParameter table = model.add_lookup_parameters(9, {3}, "words");
  table.initialize(8, {0, 0, 0});
  CHECK(as_vector(table.row(8)) == std::vector<float>(3));
}

TEST_CASE("chapter 16: equal neighbours need a blank between them") {
  ComputationGraph cg;
  const auto loss = [&](unsigned frames, bool zero) {
    const Expression log_probs = log_softmax(zeros(cg, {3, frames}));
    const std::vector<unsigned> labels = {1, 1, 2};
    return as_scalar(ctc_loss(log_probs, labels, {.zero_infinity = zero}).value());
  };
  CHECK(std::isfinite(loss(4, false)));
  CHECK(loss(3, false) == std::numeric_limits<float>::infinity());
  CHECK(loss(3, true) == 0);
}

TEST_CASE("chapter 17: without positions an encoder knows no order") {
  ParameterCollection model;
  TransformerEncoder encoder(model, {.layers = 1, .size = 8, .heads = 2, .hidden = 16});
  ComputationGraph cg;
  encoder.new_graph(cg);
  const Expression a = input(cg, {8}, numbers(8)), b = input(cg, {8}, numbers(8, 2));
  const auto first = [&](const Expression& sentence) {
    return as_vector(pick(encoder.apply(sentence), 0u, 1).value());
  };
  const auto second = [&](const Expression& sentence) {
    return as_vector(pick(encoder.apply(sentence), 1u, 1).value());
  };
  const auto ab = first(concatenate_cols({a, b})), ba = second(concatenate_cols({b, a}));
  for (unsigned i = 0; i < 8; ++i) CHECK(ab[i] == Approx(ba[i]).margin(1e-5));
  const auto placed = [&](const Expression& x) { return x + sinusoidal_positions(cg, 8, 2); };
  const auto pab = first(placed(concatenate_cols({a, b})));
  const auto pba = second(placed(concatenate_cols({b, a})));
  CHECK(std::abs(pab[0] - pba[0]) > 1e-3f);
}

TEST_CASE("chapter 19: gradients vanish in ten layers of logistic") {
  ParameterCollection model;
  std::vector<Parameter> layers;
  for (int l = 0; l < 10; ++l) layers.push_back(model.add_parameters({16, 16}));
  ComputationGraph cg;
  Expression x = input(cg, {16}, numbers(16));
  for (const Parameter& W : layers) x = logistic(parameter(cg, W) * x);
  cg.backward(sum_elems(x));
  CHECK(norm(layers.front().gradients()) < 1e-3 * norm(layers.back().gradients()));
}

}  // namespace answers_test
