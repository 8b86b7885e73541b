// TensorTools, timers, word vectors, training over lists, macros.

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "dynet-like/base/errors.h"
#include "dynet/dict.h"
#include "dynet/dynet.h"
#include "dynet/except.h"
#include "dynet/expr.h"
#include "dynet/lstm.h"
#include "dynet/mp.h"
#include "dynet/pretrain.h"
#include "dynet/tensor.h"
#include "dynet/timing.h"
#include "dynet/training.h"
#include "dynet/treelstm.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace tools_test {

using namespace dynet;
using Floats = std::vector<float>;
using Places = std::vector<std::ptrdiff_t>;

namespace {

Tensor tensor(const Dim& d, const Floats& values) {
  Tensor t = make_tensor(d);
  TensorTools::set_elements(t, values);
  return t;
}

/// Mean of the elements, or of a power of them.
double mean(const Tensor& t, int power = 1) {
  double sum = 0;
  for (const float x : as_vector(t)) sum += std::pow(x, power);
  return sum / static_cast<double>(t.d.size());
}

}  // namespace

TEST_CASE("TensorTools changes tensors where they lie") {
  Tensor t = tensor({2, 2}, {-2, 0.25, 0.5, 3});
  TensorTools::clip(t, 0, 1);
  CHECK(as_vector(t) == Floats{0, 0.25, 0.5, 1});
  TensorTools::scale(t, 2, 4);
  CHECK(as_vector(t) == Floats{2, 2.5, 3, 4});
  TensorTools::uniform_to_bernoulli(t, 2.75);
  CHECK(as_vector(t) == Floats{1, 1, 0, 0});
  TensorTools::constant(t, 5);
  CHECK(as_vector(t) == Floats{5, 5, 5, 5});
  TensorTools::zero(t);
  CHECK(as_vector(t) == Floats{0, 0, 0, 0});
  Tensor batch = make_tensor(Dim({2, 2}, 2));
  TensorTools::identity(batch);
  CHECK(as_vector(batch) == Floats{1, 0, 0, 1, 1, 0, 0, 1});
  TensorTools::accumulate(t, batch.batch_elem(0));
  TensorTools::accumulate(t, batch.batch_elem(1));
  CHECK(as_vector(t) == Floats{2, 0, 0, 2});
  TensorTools::copy_elements(t, tensor({4}, {1, 2, 3, 4}));
  CHECK(as_vector(t) == Floats{1, 2, 3, 4});
  TensorTools::copy_element(t, 3, t, 0);
  TensorTools::set_element(t, 1, 9);
  CHECK(as_vector(t) == Floats{4, 9, 3, 4});
  CHECK(TensorTools::access_element(t, 1) == 9);
  CHECK(TensorTools::access_element(t, Dim({0, 1})) == 3);

  CHECK_THROWS_AS(TensorTools::clip(t, 1, 0), ArgumentError);
  CHECK_THROWS_AS(TensorTools::access_element(t, 4), IndexError);
  CHECK_THROWS_AS(TensorTools::access_element(t, -1), IndexError);
  CHECK_THROWS_AS(TensorTools::access_element(t, Dim({2, 0})), IndexError);
  CHECK_THROWS_AS(TensorTools::set_element(t, 4, 0), IndexError);
  CHECK_THROWS_AS(TensorTools::set_elements(t, {1}), ShapeError);
  CHECK_THROWS_AS(TensorTools::copy_elements(t, batch), ShapeError);
  CHECK_THROWS_AS(TensorTools::accumulate(t, batch), ShapeError);
  Tensor wide = make_tensor(Dim({2, 3}));
  CHECK_THROWS_AS(TensorTools::identity(wide), ShapeError);
  CHECK(as_vector(t) == Floats{4, 9, 3, 4});
}

TEST_CASE("TensorTools draws from rndeng") {
  reset_rng(3);
  Tensor t = make_tensor(Dim({100, 100}));
  TensorTools::randomize_bernoulli(t, 0.3, 2);
  CHECK(mean(t) == Approx(0.6).margin(0.03));
  CHECK(mean(t, 2) == Approx(1.2).margin(0.06));
  TensorTools::randomize_normal(t, 1, 2);
  CHECK(mean(t) == Approx(1).margin(0.08));
  CHECK(mean(t, 2) == Approx(5).margin(0.3));
  TensorTools::randomize_uniform(t, -1, 3);
  CHECK(mean(t) == Approx(1).margin(0.06));
  CHECK(mean(t, 2) == Approx(7.0 / 3).margin(0.1));
  Tensor q = make_tensor(Dim({5, 5}));
  TensorTools::randomize_orthonormal(q, 2);
  for (unsigned i = 0; i < 5; ++i)
    for (unsigned j = 0; j < 5; ++j) {
      double dot = 0;
      for (unsigned k = 0; k < 5; ++k) dot += q.v[i * 5 + k] * q.v[j * 5 + k];
      CHECK(dot == Approx(i == j ? 4 : 0).margin(1e-4));
    }
  reset_rng(3);
  Tensor again = make_tensor(Dim({100, 100}));
  TensorTools::randomize_bernoulli(again, 0.3, 2);
  reset_rng(3);
  TensorTools::randomize_bernoulli(t, 0.3, 2);
  CHECK(as_vector(t) == as_vector(again));
  CHECK_THROWS_AS(TensorTools::randomize_bernoulli(t, 1.5), ArgumentError);
}

TEST_CASE("argmax, topk, logsumexp and sampling along any dimension") {
  // Two matrices {2,3}.
  const Tensor t = tensor(Dim({2, 3}, 2), {1, 6, 5, 2, 3, 4, 0, 0, 7, -1, 0, 8});
  const IndexTensor rows = TensorTools::argmax(t, 0);
  CHECK(rows.d == Dim({1, 3}, 2));
  CHECK(as_vector(rows) == Places{1, 0, 1, 0, 0, 1});
  const IndexTensor two = TensorTools::argmax(t, 1, 2);
  CHECK(two.d == Dim({2, 2}, 2));
  CHECK(as_vector(two) == Places{1, 0, 2, 2, 1, 2, 0, 0});
  const auto [values, places] = TensorTools::topk(t, 1, 2);
  CHECK(as_vector(values) == Floats{5, 6, 3, 4, 7, 8, 0, 0});
  CHECK(as_vector(places) == as_vector(two));
  CHECK(as_scalar(TensorTools::argmax(tensor({3}, {1, 3, 3}))) == 1);

  Tensor m = make_tensor(Dim({2}, 2)), z = make_tensor(Dim({2}, 2));
  TensorTools::logsumexp(t, m, z, 1);
  CHECK(as_vector(m) == Floats{5, 6, 7, 8});
  CHECK(z.v[0] == Approx(std::log(std::exp(1.0) + std::exp(5.0) + std::exp(3.0))));
  CHECK(z.v[3] == Approx(std::log(1 + std::exp(-1.0) + std::exp(8.0))));

  reset_rng(8);
  const Floats p = {0.1f, 0.6f, 0, 0.3f};
  Tensor log_p = make_tensor(Dim({4}));
  for (unsigned i = 0; i < 4; ++i) log_p.v[i] = std::log(p[i]);
  std::vector<int> counts(4);
  const IndexTensor drawn = TensorTools::categorical_sample_log_prob(log_p, 0, 10000);
  CHECK(drawn.d == Dim({10000}));
  for (const std::ptrdiff_t i : as_vector(drawn)) ++counts.at(static_cast<std::size_t>(i));
  for (unsigned i = 0; i < 4; ++i) CHECK(counts[i] == Approx(10000 * p[i]).margin(200));

  CHECK_THROWS_AS(TensorTools::argmax(t, 2), IndexError);
  CHECK_THROWS_AS(TensorTools::argmax(t, 0, 3), ArgumentError);
  CHECK_THROWS_AS(TensorTools::categorical_sample_log_prob(make_tensor(Dim({0}))), ArgumentError);
  CHECK_THROWS_AS(TensorTools::logsumexp(t, m, z, 0), ShapeError);
  CHECK_THROWS_AS(as_scalar(two), ArgumentError);
}

TEST_CASE("timers add up") {
  NamedTimer timer;
  CHECK(timer.total("a") == 0);
  timer.stop("a");
  CHECK(timer.total("a") == 0);
  timer.start("a");
  const Timing timing;
  while (timing.stop() < 2) {
  }
  timer.stop("a");
  const double once = timer.total("a");
  CHECK(once >= 2);
  timer.stop("a");
  CHECK(timer.total("a") == once);
}

TEST_CASE("word vectors as text") {
  const TemporaryFolder folder;
  ParameterCollection m;
  Dict d;
  d.convert("one");
  d.convert("two");
  const LookupParameter lp = m.add_lookup_parameters(2, {3});
  save_pretrained_embeddings(folder / "vectors", d, lp);
  Dict d2;
  d2.convert("zero");
  std::unordered_map<int, Floats> vectors;
  read_pretrained_embeddings(folder / "vectors", d2, vectors);
  CHECK(vectors.size() == 2);
  CHECK(vectors[d2.convert("one")] == as_vector(lp.row(0)));
  CHECK(vectors[d2.convert("two")] == as_vector(lp.row(1)));

  write_file(folder / "word2vec", "2 3\r\none 1 2 3\r\nthree 4 5e-1 -6 \r\n");
  vectors.clear();
  d.freeze();
  read_pretrained_embeddings(folder / "word2vec", d, vectors);
  CHECK(vectors == std::unordered_map<int, Floats>{{0, {1, 2, 3}}});
  for (const char* wrong : {"one 1 2\ntwo 1\n", "one 1 x\n", "one 1 2\ntwo 1 2.5.\n"}) {
    write_file(folder / "wrong", wrong);
    CHECK_THROWS_AS(read_pretrained_embeddings(folder / "wrong", d, vectors), FileError);
  }
  CHECK(vectors.size() == 1);
  CHECK_THROWS_AS(read_pretrained_embeddings(folder / "none", d, vectors), FileError);
  CHECK_THROWS_AS(save_pretrained_embeddings(folder / "no" + "/file", d, lp), FileError);
  Dict large({"a", "b", "c"});
  CHECK_THROWS_AS(save_pretrained_embeddings(folder / "x", large, lp), ArgumentError);
}

TEST_CASE("training over a list makes an update for each batch and for the rest") {
  struct Counting : mp::ILearner<int, double> {
    explicit Counting(ParameterCollection& m) : p(m.add_parameters({1}, ParameterInitConst(0))) {}
    double LearnFromDatum(const int& x, bool learn) override {
      ComputationGraph cg;
      Expression e = parameter(cg, p) * float(x);
      const double value = as_scalar(e.value());
      if (learn) {
        cg.backward(e);
        seen += x;
      }
      return value;
    }
    void SaveModel() override { ++saved; }
    Parameter p;
    int seen = 0, saved = 0;
  };
  ParameterCollection m;
  Counting learner(m);
  SimpleSGDTrainer trainer(m, 1);
  trainer.clipping_enabled = false;
  mp::run_single_process<int, double>(&learner, &trainer, {1, 2, 3, 4, 5}, {1}, 2, 100, 100, 2);
  CHECK(trainer.updates == 6);
  CHECK(learner.seen == 30);
  CHECK(as_scalar(learner.p.values()) == -30);
  CHECK(learner.saved == 2);
  CHECK(mp::run_mp_minibatch<int, double>(3, &learner, {1, 1}) == -60);
  CHECK(trainer.updates == 6);
  mp::run_sp_minibatch_trainer<int, double>(&learner, &trainer, {1, 1});
  CHECK(as_scalar(learner.p.values()) == -32);
  mp::run_multi_process<int, double>(3, &learner, &trainer, {1, 2}, {1}, 1, 1, 1);
  CHECK(as_scalar(learner.p.values()) == -35);
  CHECK_THROWS_AS((mp::run_single_process<int, double>(&learner, &trainer, {1}, {1}, 1, 1, 1, 0)),
                  ArgumentError);
}

TEST_CASE("macros throw DyNet's types") {
  const int x = 3;
  CHECK_THROWS_AS([&] { DYNET_INVALID_ARG("bad " << x); }(), std::invalid_argument);
  CHECK_THROWS_AS([&] { DYNET_RUNTIME_ERR("bad " << x); }(), std::runtime_error);
  CHECK_THROWS_AS([&] { DYNET_NO_CUDA_IMPL_ERROR("op"); }(), cuda_not_implemented);
  CHECK(message_of<std::invalid_argument>([&] { DYNET_ARG_CHECK(x > 3, "x is " << x); }) ==
        "x is 3");
  CHECK(message_of<std::runtime_error>([&] { DYNET_ASSERT(x > 3, "x is " << x); }) == "x is 3");
  if (x == 3)
    DYNET_ARG_CHECK(x == 3, "not thrown");
  else
    DYNET_ASSERT(false, "not reached");
  CHECK(DYNET_MAX_TENSOR_DIM == 7);
}

TEST_CASE("builders made without arguments are empty until one is assigned") {
  ComputationGraph cg;
  LSTMBuilder rnn;
  NaryTreeLSTMBuilder tree;
  CHECK_THROWS_AS(rnn.new_graph(cg), ArgumentError);
  CHECK_THROWS_AS(rnn.start_new_sequence(), ArgumentError);
  CHECK_THROWS_AS(tree.new_graph(cg), ArgumentError);
  ParameterCollection m;
  rnn = LSTMBuilder(1, 2, 3, m);
  rnn.new_graph(cg);
  rnn.start_new_sequence();
  CHECK(rnn.add_input(zeros(cg, {2})).dim() == Dim({3}));
}

}  // namespace tools_test
