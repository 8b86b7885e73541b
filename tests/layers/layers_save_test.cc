// Every layer that has parameters comes back from a file with the same bits.

#include <filesystem>
#include <fstream>
#include <regex>

#include "dynet-like/compat/text_file.h"
#include "dynet-like/io/safetensors.h"
#include "dynet-like/io/save.h"
#include "tests/io/folder.h"
#include "tests/layers/cells.h"
#include "tests/support/all_values.h"

namespace layers_save_test {

using namespace dynet;

namespace {

using Run = std::function<Expression(ComputationGraph&)>;

/// `make` adds the layer to a model; with `n` = 2 it has other sizes than with 1. What it returns
/// runs the layer in a graph: something that depends on all parameters.
struct Case {
  std::string name;  // begins with the class
  std::function<Run(ParameterCollection& model, unsigned n)> make;
};

Expression numbers(ComputationGraph& g, const Dim& d, std::uint64_t seed = 5) {
  return input(g, d, naive::numbers(d.size(), seed));
}

#define SETTINGS(...) []([[maybe_unused]] unsigned n) { return __VA_ARGS__; }
#define USE(...)                                                         \
  []([[maybe_unused]] auto& layer, [[maybe_unused]] ComputationGraph& g, \
     [[maybe_unused]] unsigned n) { return __VA_ARGS__; }

/// A layer with settings, and what to do with it.
template <class Layer, class Settings, class Use>
Case layer_of(const std::string& name, Settings settings, Use use) {
  return {name, [settings, use](ParameterCollection& model, unsigned n) -> Run {
            const auto layer = std::make_shared<Layer>(model, settings(n));
            return [layer, n, use](ComputationGraph& g) {
              layer->new_graph(g);
              return use(*layer, g, n);
            };
          }};
}

/// One that reads columns of 4 n numbers.
template <class Layer, class Settings>
Case columns(const std::string& name, Settings settings) {
  return layer_of<Layer>(name, settings, USE(layer.apply(numbers(g, {4 * n, 3}))));
}

template <class Builder>
Case recurrent(const std::string& name) {
  return layer_of<Builder>(
      name,
      [](unsigned n) {
        typename Builder::Settings s;
        s.layers = 2, s.input_dim = 3 * n, s.hidden_dim = 4;
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
      columns<Linear>("Linear", SETTINGS(Linear::Settings{4 * n, 3})),
      layer_of<Embedding>("Embedding", SETTINGS(Embedding::Settings{5, 3 * n}),
                          USE(layer.apply({0, 1, 2, 3, 4}))),
      columns<LayerNorm>("LayerNorm", SETTINGS(LayerNorm::Settings{4 * n})),
      columns<RMSNorm>("RMSNorm", SETTINGS(RMSNorm::Settings{4 * n})),
      columns<FeedForward>("FeedForward",
                           SETTINGS(FeedForward::Settings{4 * n, 5, Activation::swiglu})),
      columns<MultiHeadAttention>("MultiHeadAttention",
                                  [](unsigned n) {
                                    MultiHeadAttention::Settings s;
                                    s.size = 4 * n, s.heads = 2, s.relative = 2;
                                    return s;
                                  }),
      columns<TransformerEncoder>("TransformerEncoder",
                                  [](unsigned n) {
                                    TransformerSettings s;
                                    s.layers = 2, s.size = 4 * n, s.heads = 2, s.hidden = 6;
                                    s.final_norm = true;
                                    return s;
                                  }),
      layer_of<TransformerDecoder>(
          "TransformerDecoder",
          [](unsigned n) {
            TransformerSettings s;
            s.layers = 1, s.size = 4 * n, s.heads = 2, s.hidden = 6, s.memory = 3;
            return s;
          },
          USE(layer.apply(numbers(g, {4 * n, 3}), numbers(g, {3, 2})))),
      layer_of<LearnedPositions>("LearnedPositions", SETTINGS(LearnedPositions::Settings{5, 3 * n}),
                                 USE(layer.apply(5))),
      layer_of<BiaffineScorer>("BiaffineScorer", SETTINGS(BiaffineScorer::Settings{3, 2 * n, 2}),
                               USE(layer.pair(numbers(g, {3}), numbers(g, {2 * n})))),
      layer_of<ChainCrf>("ChainCrf", SETTINGS(ChainCrf::Settings{3 * n, {}}),
                         USE(layer.marginals(numbers(g, {3 * n, 4})))),
      layer_of<SemiCrf>("SemiCrf", SETTINGS(SemiCrf::Settings{3 * n, 2}),
                        USE(layer.marginals(numbers(g, {6 * n, 4})))),
      layer_of<CharCnn>("CharCnn", SETTINGS(CharCnn::Settings{4, 3 * n, {1, 2}, 2, 1}),
                        USE(layer.apply({0, 1, 2, 3, 0}))),
      layer_of<ImageNorm>("ImageNorm", SETTINGS(ImageNorm::Settings{2 * n}),
                          USE(layer.apply(numbers(g, {3, 4, 2 * n})))),
      layer_of<ResidualConvolution>("ResidualConvolution",
                                    SETTINGS(ResidualConvolution::Settings{2 * n}),
                                    USE(layer.apply(numbers(g, {3, 4, 2 * n})))),
      layer_of<CopyGate>("CopyGate", SETTINGS(CopyGate::Settings{4 * n}),
                         USE(layer.apply(numbers(g, {4 * n})))),
  };
}

std::vector<Case> builder_cases() {
  std::vector<Case> all = {
      recurrent<SimpleRNNBuilder>("SimpleRNNBuilder"),
      recurrent<VanillaLSTMBuilder>("VanillaLSTMBuilder"),
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
          "StandardSoftmaxBuilder", SETTINGS(StandardSoftmaxBuilder::Settings{4 * n, 6, true})),
      softmax_over<AdaptiveSoftmaxBuilder>(
          "AdaptiveSoftmaxBuilder",
          SETTINGS(AdaptiveSoftmaxBuilder::Settings{4 * n, 9, {3, 5}, 2})),
      softmax_over<SampledSoftmaxBuilder>("SampledSoftmaxBuilder",
                                          SETTINGS(SampledSoftmaxBuilder::Settings{4 * n, 6, 3})),
      softmax_over<ClassFactoredSoftmaxBuilder>(
          "ClassFactoredSoftmaxBuilder",
          SETTINGS(TreeSoftmaxBuilder::Settings{4 * n, true, 5, {{-1, -2}, {0, 1, 2}, {3, 4}}})),
      softmax_over<HierarchicalSoftmaxBuilder>(
          "HierarchicalSoftmaxBuilder", SETTINGS(TreeSoftmaxBuilder::Settings{
                                            4 * n, true, 5, {{-1, -2}, {0, -3}, {3, 4}, {1, 2}}})),
      layer_of<StackLSTM>("StackRNN", SETTINGS(StackLSTM::Settings{1, 3 * n, 4}),
                          [](StackLSTM& layer, ComputationGraph& g, unsigned n) {
                            RNNStack stack = layer.start();
                            stack.push(numbers(g, {3 * n}));
                            return stack.top();
                          }),
      layer_of<C2WBuilder>("C2WBuilder", SETTINGS(C2WBuilder::Settings{4, 1, 3 * n, 4}),
                           USE(layer.compose({0, 1, 2, 3}))),
  };
  all.push_back(
      {"BiRNNBuilder", [](ParameterCollection& model, unsigned n) -> Run {
         const auto layer = std::make_shared<BiRNNBuilder<GRUBuilder>>(2, 3 * n, 4, model);
         return [layer, n](ComputationGraph& g) {
           layer->new_graph(g);
           return concatenate(layer->transduce({numbers(g, {3 * n}, 1), numbers(g, {3 * n}, 2)}));
         };
       }});
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = feed_forward_cases();
  for (Case& c : builder_cases()) all.push_back(std::move(c));
  return all;
}

/// A layer in a model of its own, away from where parameters begin.
struct Model {
  ParameterCollection parameters;
  Run run;

  Model(const Case& c, unsigned n, std::uint64_t seed) {
    run = c.make(parameters, n);
    for (Parameter p : parameters.parameters_list())
      if (p.is_updated()) p.set_value(naive::numbers(p.dim().size(), 100 * seed++));
    for (LookupParameter p : parameters.lookup_parameters_list())
      for (unsigned row = 0; row < p.size(); ++row)
        p.initialize(row, naive::numbers(p.dim().size(), 100 * seed++));
  }
  std::vector<float> values() const {
    ComputationGraph g;
    return as_vector(run(g).value());
  }
  /// All that is trained.
  std::vector<float> weights() const { return test::all_values(parameters); }
};

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
      Model saved(c, 1, 1), again(c, 1, 2);
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
