// All layers with parameters: settings and files from which they come back with the same bits,
// gradients, and the graph that they need.

#include <filesystem>
#include <fstream>
#include <regex>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/layers/naive_transformer.h"
#include "tests/support/all_values.h"

namespace layers_save_test {

using namespace dynet;

namespace {

/// A layer in a model.
struct Layer {
  std::function<void(ComputationGraph&, bool update)> put;
  std::function<Expression(ComputationGraph&)> use;  ///< something that depends on all parameters
};

/// `make` adds the layer to a model; with `n` = 2 it has other sizes than with 1. Its settings may
/// be read from a stream.
struct Case {
  std::string name;  // begins with the class
  std::function<Layer(ParameterCollection& model, unsigned n, bool read)> make;
  /// Uses an object that was made without arguments, if there is one.
  std::function<void(ComputationGraph&)> use_empty;
};

Expression numbers(ComputationGraph& g, const Dim& d, std::uint64_t seed = 5) {
  return input(g, d, naive::numbers(d.size(), seed));
}

#define SETTINGS(...) []([[maybe_unused]] unsigned n) { return __VA_ARGS__; }
#define USE(...)                                                         \
  []([[maybe_unused]] auto& layer, [[maybe_unused]] ComputationGraph& g, \
     [[maybe_unused]] unsigned n) { return __VA_ARGS__; }

/// A layer with settings, none of them the default, and what to do with it.
template <class Builder, class Settings, class Use>
Case layer_of(const std::string& name, Settings settings, Use use) {
  Case c;
  c.name = name;
  c.make = [settings, use](ParameterCollection& model, unsigned n, bool read) -> Layer {
    auto given = settings(n);
    ParameterCollection other;
    if (read) given = naive::saved(Builder(other, given).settings());
    const auto layer = std::make_shared<Builder>(model, given);
    return {[layer](ComputationGraph& g, bool update) { layer->new_graph(g, update); },
            [layer, n, use](ComputationGraph& g) { return use(*layer, g, n); }};
  };
  if constexpr (std::is_default_constructible_v<Builder>)
    c.use_empty = [](ComputationGraph& g) { Builder().new_graph(g); };
  return c;
}

/// One that reads columns of 4 n numbers.
template <class Builder, class Settings>
Case columns(const std::string& name, Settings settings) {
  return layer_of<Builder>(name, settings, USE(layer.apply(numbers(g, {4 * n, 3}))));
}

/// `change` sets what other networks do not have.
template <class Builder>
Case recurrent(
    const std::string& name,
    const std::function<void(typename Builder::Settings&)>& change = [](auto&) {}) {
  return layer_of<Builder>(
      name,
      [change](unsigned n) {
        typename Builder::Settings s;
        s.layers = 2, s.input_dim = 3 * n, s.hidden_dim = 4;
        change(s);
        return s;
      },
      [](Builder& layer, ComputationGraph& g, unsigned n) {
        layer.start_new_sequence();
        layer.add_input(numbers(g, {3 * n}, 1));
        return layer.add_input(numbers(g, {3 * n}, 2));
      });
}

template <class Builder>
Case tree(const std::string& name) {
  return layer_of<Builder>(name, SETTINGS(TreeLSTMBuilder::Settings{2, 4 * n, 4 * n, 2}),
                           [](Builder& layer, ComputationGraph& g, unsigned n) {
                             layer.start_new_sequence();
                             layer.add_input(0, {}, numbers(g, {4 * n}, 1));
                             layer.add_input(1, {}, numbers(g, {4 * n}, 2));
                             return layer.add_input(2, {0, 1}, numbers(g, {4 * n}, 3));
                           });
}

template <class Builder>
Case softmax_over(const std::string& name, std::function<typename Builder::Settings(unsigned)> s) {
  return layer_of<Builder>(name, s, USE(layer.full_log_distribution(numbers(g, {4 * n}))));
}

std::vector<Case> feed_forward_cases() {
  return {
      columns<Linear>("Linear", SETTINGS(Linear::Settings{4 * n, 3, false})),
      layer_of<Embedding>("Embedding", SETTINGS(Embedding::Settings{5, 3 * n}),
                          USE(layer.apply({0, 1, 2, 3, 4}))),
      columns<LayerNorm>("LayerNorm", SETTINGS(LayerNorm::Settings{4 * n, false, 0.5f})),
      columns<RMSNorm>("RMSNorm", SETTINGS(RMSNorm::Settings{4 * n, 0.5f})),
      columns<FeedForward>("FeedForward",
                           SETTINGS(FeedForward::Settings{4 * n, 5, Activation::swiglu, false})),
      layer_of<MultiHeadAttention>(
          "MultiHeadAttention",
          SETTINGS(MultiHeadAttention::Settings{8 * n, 4, 2, 3, false, true, 5, true, 7}),
          USE(layer.apply(numbers(g, {8 * n, 3}), numbers(g, {3, 5})))),
      columns<TransformerEncoder>("TransformerEncoder",
                                  [](unsigned n) {
                                    TransformerSettings s;
                                    s.layers = 2, s.size = 4 * n, s.heads = 2, s.hidden = 6;
                                    s.causal = true;
                                    return s;
                                  }),
      layer_of<TransformerDecoder>(
          "TransformerDecoder",
          [](unsigned n) {
            TransformerSettings s;
            s.layers = 2, s.size = 4 * n, s.heads = 2, s.hidden = 6, s.key_heads = 1, s.memory = 3;
            s.activation = Activation::gelu, s.epsilon = 0.1f, s.bias = false, s.relative = 1;
            s.norm_first = s.final_norm = s.rms_norm = s.rotary = true, s.rotary_base = 50;
            return s;
          },
          USE(layer.apply(numbers(g, {4 * n, 3}), numbers(g, {3, 2})))),
      layer_of<LearnedPositions>("LearnedPositions", SETTINGS(LearnedPositions::Settings{5, 3 * n}),
                                 USE(layer.apply(5))),
      layer_of<BiaffineScorer>("BiaffineScorer",
                               SETTINGS(BiaffineScorer::Settings{3, 2 * n, 2, false}),
                               USE(layer.pair(numbers(g, {3}), numbers(g, {2 * n})))),
      layer_of<ChainCrf>(
          "ChainCrf",
          [](unsigned n) {
            const std::vector<std::string> tags = {"O", "B-X", "I-X", "B-Y", "I-Y", "B-Z"};
            const auto first = tags.begin();
            return ChainCrf::Settings{3 * n,
                                      tag_constraints(TagScheme::bio, {first, first + 3 * n})};
          },
          USE(layer.marginals(numbers(g, {3 * n, 4})))),
      layer_of<SemiCrf>("SemiCrf", SETTINGS(SemiCrf::Settings{3 * n, 2}),
                        USE(layer.marginals(numbers(g, {6 * n, 4})))),
      layer_of<CharCnn>("CharCnn", SETTINGS(CharCnn::Settings{4, 3 * n, {1, 2}, 2, 1}),
                        USE(layer.apply({0, 1, 2, 3, 0}))),
      layer_of<ImageNorm>("ImageNorm", SETTINGS(ImageNorm::Settings{2 * n, 0.5f, 0.25f}),
                          USE(layer.apply(numbers(g, {3, 4, 2 * n})))),
      layer_of<ResidualConvolution>("ResidualConvolution",
                                    SETTINGS(ResidualConvolution::Settings{2 * n, 2, 0.25f}),
                                    USE(layer.apply(numbers(g, {3, 4, 2 * n})))),
      layer_of<CopyGate>("CopyGate", SETTINGS(CopyGate::Settings{4 * n}),
                         USE(layer.apply(numbers(g, {4 * n})))),
  };
}

std::vector<Case> builder_cases() {
  std::vector<Case> all = {
      recurrent<SimpleRNNBuilder>("SimpleRNNBuilder"),
      recurrent<SimpleRNNBuilder>("SimpleRNNBuilder with lags",
                                  [](auto& s) { s.support_lags = true; }),
      recurrent<VanillaLSTMBuilder>("VanillaLSTMBuilder"),
      recurrent<VanillaLSTMBuilder>("VanillaLSTMBuilder, normalized",
                                    [](auto& s) { s.ln_lstm = true, s.forget_bias = 0.5f; }),
      recurrent<CompactVanillaLSTMBuilder>("CompactVanillaLSTMBuilder"),
      recurrent<SparseLSTMBuilder>("SparseLSTMBuilder"),
      recurrent<CoupledLSTMBuilder>("CoupledLSTMBuilder"),
      recurrent<FastLSTMBuilder>("FastLSTMBuilder"),
      recurrent<DeepLSTMBuilder>("DeepLSTMBuilder"),
      recurrent<GRUBuilder>("GRUBuilder"),
      tree<NaryTreeLSTMBuilder>("NaryTreeLSTMBuilder"),
      tree<ChildSumTreeLSTMBuilder>("ChildSumTreeLSTMBuilder"),
      tree<UnidirectionalTreeLSTMBuilder>("UnidirectionalTreeLSTMBuilder"),
      tree<BidirectionalTreeLSTMBuilder>("BidirectionalTreeLSTMBuilder"),
      softmax_over<StandardSoftmaxBuilder>(
          "StandardSoftmaxBuilder", SETTINGS(StandardSoftmaxBuilder::Settings{4 * n, 6, false})),
      softmax_over<AdaptiveSoftmaxBuilder>(
          "AdaptiveSoftmaxBuilder",
          SETTINGS(AdaptiveSoftmaxBuilder::Settings{4 * n, 9, {3, 5}, 2, false})),
      layer_of<SampledSoftmaxBuilder>(
          "SampledSoftmaxBuilder",
          SETTINGS(SampledSoftmaxBuilder::Settings{4 * n, 4, 3, {1, 5, 2, 8}, false}),
          USE(layer.full_log_distribution(numbers(g, {4 * n})) + layer.log_expected(1))),
      softmax_over<ClassFactoredSoftmaxBuilder>(
          "ClassFactoredSoftmaxBuilder",
          SETTINGS(TreeSoftmaxBuilder::Settings{4 * n, false, 5, {{-1, -2}, {0, 1, 2}, {3, 4}}})),
      softmax_over<HierarchicalSoftmaxBuilder>(
          "HierarchicalSoftmaxBuilder", SETTINGS(TreeSoftmaxBuilder::Settings{
                                            4 * n, true, 5, {{-1, -2}, {0, -3}, {3, 4}, {1, 2}}})),
      layer_of<StackLSTM>("StackRNN", SETTINGS(StackLSTM::Settings{2, 3 * n, 4}),
                          [](StackLSTM& layer, ComputationGraph& g, unsigned n) {
                            RNNStack stack = layer.start();
                            stack.push(numbers(g, {3 * n}));
                            return stack.top();
                          }),
      layer_of<C2WBuilder>("C2WBuilder", SETTINGS(C2WBuilder::Settings{4, 2, 3 * n, 4}),
                           USE(layer.compose({0, 1, 2, 3}))),
  };
  using Both = BiRNNBuilder<VanillaLSTMBuilder>;
  all.push_back(layer_of<Both>(
      "BiRNNBuilder",
      [](unsigned n) {
        ParameterCollection model;
        return Both(2, 3 * n, 4, model, true, 0.5f).settings();
      },
      USE(concatenate(layer.transduce({numbers(g, {3 * n}, 1), numbers(g, {3 * n}, 2)})))));
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = feed_forward_cases();
  for (Case& c : builder_cases()) all.push_back(std::move(c));
  return all;
}

/// A layer in a model of its own, with other parameters for each seed; none: as they begin.
struct Model {
  ParameterCollection parameters;
  Layer layer;

  Model(const Case& c, unsigned n, std::uint64_t seed, bool read = false)
      : layer(c.make(parameters, n, read)) {
    if (seed == 0) return;
    naive::spread(parameters, 100 * seed);
    naive::spread_tables(parameters, 1000 * seed);
  }
  std::vector<float> values() const {
    ComputationGraph g;
    layer.put(g, true);
    return as_vector(layer.use(g).value());
  }
  /// All that is trained.
  std::vector<float> weights() const { return test::all_values(parameters); }
};

/// Calls f with parameter k not being a number, for each k, and a graph in which that is an error.
template <class F>
void with_bad_parameters(const ParameterCollection& pc, F f) {
  for (Parameter p : pc.parameters_list()) {
    const std::vector<float> good = as_vector(p.values());
    std::vector<float> bad = good;
    bad[0] = std::numeric_limits<float>::quiet_NaN();
    p.set_value(bad);
    ComputationGraph checking;
    checking.set_immediate_compute(true);
    checking.set_check_validity(true);
    INFO(p.get_fullname());
    f(checking);
    p.set_value(good);
  }
}

/// A kind of file.
struct Format {
  const char* name;
  std::function<void(const std::string&, ParameterCollection&)> save, load;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"binary", [](const std::string& path, ParameterCollection& pc) { save(path, pc); },
       [](const std::string& path, ParameterCollection& pc) { load(path, pc); }},
      {"text",
       [](const std::string& path, ParameterCollection& pc) { TextFileSaver(path).save(pc); },
       [](const std::string& path, ParameterCollection& pc) { TextFileLoader(path).populate(pc); }},
      {"safetensors",
       [](const std::string& path, ParameterCollection& pc) { save_safetensors(path, pc); },
       [](const std::string& path, ParameterCollection& pc) { load_safetensors(path, pc); }},
  };
  return all;
}

}  // namespace

TEST_CASE("every layer comes back from a file with the same bits") {
  const TemporaryFolder folder;
  for (const Case& c : all_cases())
    for (const Format& format : formats()) {
      CAPTURE(c.name, format.name);
      Model saved(c, 1, 1), again(c, 1, 2, true);
      REQUIRE(again.values() != saved.values());
      format.save(folder / "model", saved.parameters);
      format.load(folder / "model", again.parameters);
      CHECK(again.weights() == saved.weights());
      CHECK(again.values() == saved.values());
    }
}

TEST_CASE("a file of another shape is refused, and every layer stays as it was") {
  const TemporaryFolder folder;
  for (const Case& c : all_cases())
    for (const Format& format : formats()) {
      CAPTURE(c.name, format.name);
      Model large(c, 2, 1), layer(c, 1, 2);
      const std::vector<float> weights = layer.weights(), values = layer.values();
      format.save(folder / "model", large.parameters);
      CHECK_THROWS_AS(format.load(folder / "model", layer.parameters), FileError);
      CHECK(layer.weights() == weights);
      CHECK(layer.values() == values);
    }
}

TEST_CASE("every layer begins with the same values when it is made again from its settings") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    const Model one(c, 1, 0), again(c, 1, 0, true);
    CHECK(again.weights() == one.weights());  // they are of the seed and the name
    CHECK(again.values() == one.values());
  }
}

TEST_CASE("gradients of every layer are the slopes of a loss, and none without update") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    const Model m(c, 1, 1);
    std::size_t trained = m.parameters.lookup_parameters_list().size();
    for (const Parameter& p : m.parameters.parameters_list()) trained += p.is_updated();
    const auto loss = [&](ComputationGraph& g, bool update) {
      m.layer.put(g, update);
      const Expression y = m.layer.use(g);
      return sum_elems(cmult(tanh(y), numbers(g, y.dim(), 9)));
    };
    check_slopes(loss, trained, 0);
  }
}

TEST_CASE("every layer asks for a graph, before the first one and after each") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    const Model m(c, 1, 1);
    std::optional<ComputationGraph> g(std::in_place);
    if (c.use_empty)
      CHECK_THAT(message<ArgumentError>([&] { c.use_empty(*g); }), Catch::Contains(" empty"));
    CHECK_THAT(message<ArgumentError>([&] { m.layer.use(*g); }), Catch::Contains("call new_graph"));
    const std::vector<float> expected = m.values();
    for (const bool destroy : {false, true}) {
      m.layer.put(*g, true);
      CHECK(as_vector(m.layer.use(*g).value()) == expected);
      if (destroy)
        g.reset();
      else
        g->clear();
      ComputationGraph other;
      CHECK_THROWS_AS(m.layer.use(other), StaleExpressionError);
    }
  }
}

TEST_CASE("every layer stays in its graph when it cannot be put into another") {
  // Networks of several others ask for a graph then.
  const std::set<std::string> ask = {"BiRNNBuilder", "C2WBuilder", "BidirectionalTreeLSTMBuilder"};
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    const Model m(c, 1, 1);
    ComputationGraph g;
    m.layer.put(g, true);
    const std::vector<float> expected = as_vector(m.layer.use(g).value());
    with_bad_parameters(m.parameters, [&](ComputationGraph& checking) {
      CHECK_THROWS_AS(m.layer.put(checking, true), NumericError);
      if (ask.contains(c.name)) CHECK_THROWS_AS(m.layer.use(g), ArgumentError);
    });
    if (ask.contains(c.name)) m.layer.put(g, true);
    CHECK(as_vector(m.layer.use(g).value()) == expected);
  }
}

TEST_CASE("no layer with parameters is left out of the tests of files") {
  // Base classes and parts of layers, without objects of their own.
  const std::set<std::string> parts = {"PeepholeLSTMBuilder", "TreeLSTMBuilder",
                                       "TreeSoftmaxBuilder",  "Norm",
                                       "TransformerStack",    "LayerBase"};
  const std::vector<Case> cases = all_cases();
  const std::regex definition("\nclass (\\w+)[^;{]*\\{");
  unsigned found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(LIBRARY_HEADERS)) {
    const std::string path = file.path();
    if (!std::regex_search(path, std::regex("/(layers|structures)/.*\\.h$"))) continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator m(text.begin(), text.end(), definition), end; m != end; ++m) {
      const std::string name = (*m)[1];
      const std::size_t from = static_cast<std::size_t>(m->position());
      const std::string body = text.substr(from, text.find("\n};", from) - from);
      if (body.find("ParameterCollection& model") == std::string::npos || parts.contains(name))
        continue;
      ++found;
      INFO(name << " has no case in layers_save_test.cc");
      CHECK(std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; }));
    }
  }
  CHECK(found >= 34);
}

}  // namespace layers_save_test
