#include "tests/layers/naive_transformer.h"

namespace linear_test {

using namespace dynet;
using naive::columns_of;
using naive::difference;
using naive::numbers;

namespace {

/// For a sentence, its words alone, and two sentences as a batch.
template <class Layer>
void columns_stand_alone(Layer& layer, unsigned size) {
  ComputationGraph cg;
  layer.new_graph(cg);
  const std::vector<float> xs = numbers(std::size_t{size} * 6, 3);
  const Expression y = layer.apply(input(cg, Dim({size, 6}), xs));
  const std::vector<float> values = as_vector(y.value());
  const unsigned out = y.dim().rows();
  CHECK(y.dim() == Dim({out, 6}));
  const Expression batch = layer.apply(input(cg, Dim({size, 3}, 2), xs));
  CHECK(batch.dim() == Dim({out, 3}, 2));
  CHECK(as_vector(batch.value()) == values);
  for (unsigned t = 0; t < 6; ++t) {
    const Expression one =
        layer.apply(input(cg, {size}, naive::part(xs, t * size, (t + 1) * size)));
    CHECK(one.dim() == Dim({out}));
    CHECK(as_vector(one.value()) == naive::part(values, t * out, (t + 1) * out));
  }
}

}  // namespace

TEST_CASE("linear: its formula, gradients and columns") {
  for (const bool bias : {true, false}) {
    ParameterCollection model;
    Linear layer(model, {3, 4, bias});
    naive::spread(model);
    const std::vector<float> x = numbers(15, 2);
    {
      ComputationGraph cg;
      layer.new_graph(cg);
      naive::Reader reader(model);
      CHECK(difference(reader.linear(columns_of(x, 3), bias),
                       as_vector(layer.apply(input(cg, {3, 5}, x)).value())) < 1e-6);
      CHECK(reader.done());
      CHECK_THROWS_AS(layer.apply(input(cg, {4}, numbers(4, 1))), ShapeError);
    }
    columns_stand_alone(layer, 3);
    naive::gradients_are_right(layer, model, {3, 3}, bias ? 2 : 1, 50);
  }
}

TEST_CASE("embedding: rows of a table, and scores by the same table") {
  ParameterCollection model;
  Embedding layer(model, {7, 3});
  const std::vector<unsigned> words = {4, 0, 4, 6, 1};
  const auto row = [&](unsigned w) { return as_vector(layer.table().row(w)); };
  ComputationGraph cg;
  layer.new_graph(cg);
  const Expression x = layer.apply(words);
  CHECK(x.dim() == Dim({3, 5}));
  std::vector<float> expected;
  for (const unsigned w : words)
    for (const float v : row(w)) expected.push_back(v);
  CHECK(as_vector(x.value()) == expected);
  CHECK(layer.apply({2}).dim() == Dim({3}));
  CHECK(as_vector(layer.apply({2}).value()) == row(2));

  const Expression scores = layer.logits(x);
  CHECK(scores.dim() == Dim({7, 5}));
  const std::vector<float> values = as_vector(scores.value());
  for (unsigned t = 0; t < 5; ++t)
    for (unsigned w = 0; w < 7; ++w) {
      double sum = 0;
      for (unsigned i = 0; i < 3; ++i) sum += double(row(w)[i]) * double(expected[t * 3 + i]);
      CHECK(double(values[t * 7 + w]) == Approx(sum).margin(1e-6));
    }
  CHECK(layer.logits(layer.apply({2})).dim() == Dim({7}));
  check_slopes(sum_elems(tanh(scores * 3)), 1);
  CHECK_THROWS_AS(layer.apply({7}), IndexError);
  CHECK_THROWS_WITH(layer.apply({}), Catch::Contains("needs a word"));
}

TEST_CASE("norms: their formulas, gradients and columns") {
  for (const bool rms : {false, true})
    for (const bool bias : {true, false})
      for (const float epsilon : {1e-5f, 0.3f}) {
        CAPTURE(rms, bias, epsilon);
        TransformerSettings how;
        how.rms_norm = rms;
        how.bias = bias;
        how.epsilon = epsilon;
        const auto check = [&](auto layer, ParameterCollection& model) {
          naive::spread(model);
          const std::vector<float> x = numbers(20, 2);
          {
            ComputationGraph cg;
            layer.new_graph(cg);
            naive::Reader reader(model);
            CHECK(difference(reader.norm(columns_of(x, 5), how),
                             as_vector(layer.apply(input(cg, {5, 4}, x)).value())) < 1e-5);
            CHECK(reader.done());
            CHECK_THROWS_AS(layer.apply(input(cg, {4, 5}, x)), ShapeError);
          }
          columns_stand_alone(layer, 5);
          naive::gradients_are_right(layer, model, {5, 3}, !rms && bias ? 2 : 1, 50);
        };
        ParameterCollection model;
        if (rms)
          check(RMSNorm(model, {5, epsilon}), model);
        else
          check(LayerNorm(model, {5, bias, epsilon}), model);
      }
}

TEST_CASE("feed-forward: its formulas, gradients, columns and dropout") {
  for (const Activation a : {Activation::relu, Activation::gelu, Activation::swiglu})
    for (const bool bias : {true, false}) {
      CAPTURE(int(a), bias);
      ParameterCollection model;
      FeedForward layer(model, {3, 5, a, bias});
      naive::spread(model);
      const std::vector<float> x = numbers(12, 2);
      {
        ComputationGraph cg;
        layer.new_graph(cg);
        naive::Reader reader(model);
        CHECK(difference(reader.feed_forward(columns_of(x, 3), a, bias),
                         as_vector(layer.apply(input(cg, {3, 4}, x)).value())) < 1e-5);
        CHECK(reader.done());
        layer.set_dropout(0.5f);
        const Expression y = layer.apply(input(cg, {3, 4}, x));
        CHECK(naive::dropouts(y) == std::vector<std::size_t>{20});
        layer.disable_dropout();
        const std::size_t from = cg.size();
        CHECK(naive::dropouts(layer.apply(input(cg, {3, 4}, x)), from).empty());
      }
      columns_stand_alone(layer, 3);
      const unsigned matrices = a == Activation::swiglu ? 3 : 2;
      naive::gradients_are_right(layer, model, {3, 3}, matrices * (bias ? 2 : 1), 50);
    }
}

TEST_CASE("layers of transformers: what is wrong is said, and changes nothing") {
  ParameterCollection model;
  CHECK_THROWS_WITH(Linear(model, {0, 2}), Catch::Contains("sizes must be above zero, got 0, 2"));
  CHECK_THROWS_WITH(Embedding(model, {3, 0}), Catch::Contains("of a size above zero"));
  CHECK_THROWS_WITH(LayerNorm(model, {0}), Catch::Contains("needs a size"));
  CHECK_THROWS_WITH(LayerNorm(model, {2, true, -1.0f}), Catch::Contains("not below zero"));
  CHECK_THROWS_WITH(RMSNorm(model, {2, 0.0f}), Catch::Contains("above zero"));
  CHECK_THROWS_WITH(RMSNorm(model, {2, INFINITY}), Catch::Contains("finite"));
  CHECK_THROWS_WITH(FeedForward(model, {2, 0}), Catch::Contains("must be above zero, got 2, 0"));
  CHECK(model.parameters_list().empty());
  CHECK(model.lookup_parameters_list().empty());
  ComputationGraph cg;
  Embedding embedding(model, {3, 2});
  CHECK_THROWS_WITH(embedding.logits(input(cg, {2}, {1, 2})),
                    Catch::Contains("call new_graph first"));
  FeedForward feed_forward(model, {2, 2});
  feed_forward.new_graph(cg);
  CHECK_THROWS_AS(feed_forward.apply(input(cg, {3}, {1, 2, 3})), ShapeError);
  for (const float rate : {-0.1f, 1.0f, NAN})
    CHECK_THROWS_WITH(feed_forward.set_dropout(rate), Catch::Contains("at least 0 and below 1"));
}

}  // namespace linear_test
