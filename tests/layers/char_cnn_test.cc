#include "tests/layers/naive_transformer.h"

namespace char_cnn_test {

using namespace dynet;
using naive::numbers;
using naive::Vector;
using Word = std::vector<unsigned>;

namespace {

const CharCnn::Settings kSettings = {7, 3, {3, 1, 2}, 4, 2};

/// Table and parameters away from where they begin.
void spread(const CharCnn& layer) {
  naive::spread(layer.get_parameter_collection());
  naive::spread_tables(layer.get_parameter_collection(), 100);
}

/// The word as the paper writes it.
Vector naive_word(const CharCnn& layer, const Word& word) {
  const CharCnn::Settings& s = layer.settings();
  naive::Reader reader(layer.get_parameter_collection());
  Vector y;
  for (const unsigned width : s.widths) {
    std::vector<Parameter> filters;
    for (unsigned k = 0; k < width; ++k) filters.push_back(reader.next());
    const Vector bias = reader.next_vector();
    Vector most(s.filters, -INFINITY);
    for (std::size_t t = 0; t == 0 || t + width <= word.size(); ++t) {
      Vector window = bias;
      for (std::size_t k = 0; k < width && t + k < word.size(); ++k)
        window = naive::plus(
            window,
            naive::times(filters[k], naive::to_double(as_vector(layer.table().row(word[t + k])))));
      for (unsigned f = 0; f < s.filters; ++f) most[f] = std::max(most[f], window[f]);
    }
    for (const double m : most) y.push_back(std::tanh(m));
  }
  for (unsigned l = 0; l < s.highways; ++l) {
    const Vector change = reader.linear({y}, true)[0], gate = reader.linear({y}, true)[0];
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += naive::logistic(gate[i]) * (std::max(change[i], 0.0) - y[i]);
  }
  CHECK(reader.done());
  return y;
}

}  // namespace

TEST_CASE("character cnn: words of all lengths, shorter than filters too, and gradients") {
  for (const unsigned highways : {0u, 2u}) {
    ParameterCollection model;
    CharCnn::Settings s = kSettings;
    s.highways = highways;
    CharCnn layer(model, s);
    spread(layer);
    ComputationGraph cg;
    layer.new_graph(cg);
    for (const Word& word :
         {Word{4}, Word{6, 0}, Word{1, 2, 3}, Word{3, 3, 5, 3}, Word{0, 1, 2, 3, 4, 5, 6, 0, 2}}) {
      const Expression y = layer.apply(word);
      CHECK(y.dim() == Dim({12}));
      CHECK(naive::difference(naive_word(layer, word), as_vector(y.value())) < 1e-6);
    }
    const Expression sum = layer.apply({1, 2, 3, 4, 1}) + layer.apply({5}) + layer.apply({2, 2});
    check_slopes(dot_product(sum, input(cg, {12}, numbers(12, 5))), 1 + 6 + 3 + 4 * highways);
  }
}

TEST_CASE("character cnn: what words give does not depend on others, and they batch") {
  ParameterCollection model;
  CharCnn layer(model, {30, 8, {2, 3, 4}, 6, 1});
  spread(layer);
  const auto batches = [&](bool batched, unsigned count) {
    ComputationGraph cg(batched);
    layer.new_graph(cg);
    std::vector<Expression> words;
    for (unsigned k = 0; k < count; ++k) {
      Word word;
      for (unsigned i = 0; i < 1 + k % 10; ++i) word.push_back((7 * k + 5 * i) % 30);
      words.push_back(layer.apply(word));
    }
    const Expression all = concatenate_to_batch(words);
    const std::vector<float> values = as_vector(all.value());
    return std::pair(cg.statistics().batches, values);
  };
  const auto [alone, values] = batches(false, 60);
  const auto [few, same] = batches(true, 60);
  const auto [more, others] = batches(true, 240);
  CHECK(values == same);
  CHECK(alone > 60 * 8);
  CHECK(few <= 70);    // by lengths of words
  CHECK(more == few);  // not by words
}

TEST_CASE("character cnn: gates begin nearly closed, dropout trains and rests") {
  ParameterCollection model;
  CharCnn layer(model, kSettings);
  const auto p = layer.get_parameter_collection().parameters_list();
  CHECK(as_vector(p[12].values()) == std::vector<float>(12, -2.0f));
  CHECK(as_vector(p[10].values()) == std::vector<float>(12, 0.0f));
  ComputationGraph cg;
  layer.new_graph(cg);
  layer.set_dropout(0.5f);
  CHECK(naive::dropouts(layer.apply({1, 2})) == std::vector<std::size_t>{12});
  layer.disable_dropout();
  const std::size_t from = cg.size();
  CHECK(naive::dropouts(layer.apply({1, 2}), from).empty());
  CHECK_THROWS_AS(layer.set_dropout(1), ArgumentError);
}

TEST_CASE("character cnn: what is wrong is said, and changes nothing") {
  ParameterCollection model;
  CHECK_THROWS_WITH(CharCnn(model, {0, 2, {2}, 3}), Catch::Contains("got 0, 2 and 3"));
  CHECK_THROWS_AS(CharCnn(model, {2, 0, {2}, 3}), ArgumentError);
  CHECK_THROWS_AS(CharCnn(model, {2, 2, {2}, 0}), ArgumentError);
  CHECK_THROWS_WITH(CharCnn(model, {2, 2, {}, 3}), Catch::Contains("needs widths"));
  CHECK_THROWS_AS(CharCnn(model, {2, 2, {2, 0}, 3}), ArgumentError);
  CHECK(model.parameters_list().empty());
  CHECK(model.lookup_parameters_list().empty());
  ComputationGraph cg;
  CharCnn layer(model, kSettings);
  layer.new_graph(cg);
  CHECK_THROWS_WITH(layer.apply({}), Catch::Contains("needs a character"));
  CHECK_THROWS_AS(layer.apply({1, 7}), IndexError);
}

}  // namespace char_cnn_test
