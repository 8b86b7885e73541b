// Every builder on the device against the CPU: values, gradients, minibatches, masks,
// dropout.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/cuda/check_equal.h"

using namespace dynet;

namespace {

using PC = ParameterCollection;
using Tree = TreeSoftmaxBuilder::Settings;

constexpr unsigned kWords = 7, kInput = 5, kHidden = 8;

/// Outputs of a builder in a graph, for `batch` samples side by side.
using Build = std::function<std::vector<Expression>(ComputationGraph&, unsigned batch)>;

/// `name` begins with the builder's.
struct Case {
  std::string name;
  std::function<Build(PC&)> make;
  bool batched = true;
};

/// The t-th inputs.
class Inputs {
 public:
  explicit Inputs(PC& pc, unsigned size = kInput)
      : table_(pc.add_lookup_parameters(kWords, {size})) {}
  Expression operator()(ComputationGraph& g, unsigned batch, unsigned t) const {
    std::vector<unsigned> words;
    for (unsigned i = 0; i < batch; ++i) words.push_back((3 * t + 2 * i) % kWords);
    return lookup(g, table_, words);
  }

 private:
  LookupParameter table_;
};

/// 1 for every other sample.
Expression mask(ComputationGraph& g, unsigned batch) {
  Floats m(batch);
  for (unsigned i = 0; i < batch; ++i) m[i] = i % 2 == 0 ? 0.0f : 1.0f;
  return input(g, Dim({1}, batch), m);
}

/// A builder that is made of these arguments, the collection before or behind them.
template <class Builder, class... Arguments>
auto made(Arguments... arguments) {
  return [=](PC& pc) {
    if constexpr (std::is_constructible_v<Builder, PC&, Arguments...>)
      return std::make_shared<Builder>(pc, arguments...);
    else
      return std::make_shared<Builder>(arguments..., pc);
  };
}

constexpr auto kAsItIs = [](auto&) {};
constexpr auto kDropped = [](auto& b) { b.set_dropout(0.2f); };

/// A builder that is made, then prepared, and in each graph asked for outputs.
template <class Make, class Prepare, class Outs>
Case built(const std::string& name, Make make, Prepare prepare, Outs outs, bool batched = true,
           unsigned input = kInput) {
  return {name,
          [=](PC& pc) -> Build {
            const auto b = make(pc);
            prepare(*b);
            return [=, x = Inputs(pc, input)](ComputationGraph& g, unsigned batch) {
              b->new_graph(g);
              return outs(*b, x, g, batch);
            };
          },
          batched};
}

/// A sequence with a masked step, one that leaves it half-way, and one that goes on from its end.
template <class Builder, class Prepare = decltype(kAsItIs), class... More>
Case recurrent(const std::string& name, Prepare prepare = kAsItIs, More... more) {
  return built(
      name, [=](PC& pc) { return std::make_shared<Builder>(2, kInput, kHidden, pc, more...); },
      prepare,
      [](Builder& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
        std::vector<Expression> outs;
        b.start_new_sequence();
        for (unsigned t = 0; t < 3; ++t) outs.push_back(b.add_input(x(g, batch, t)));
        outs.push_back(b.add_masked_input(x(g, batch, 3), mask(g, batch)));
        const std::vector<Expression> end = b.final_s();
        outs.push_back(b.add_input(RNNPointer(1), x(g, batch, 4)));
        b.start_new_sequence(end);
        outs.push_back(b.add_input(x(g, batch, 5)));
        for (const Expression& s : b.final_s()) outs.push_back(s);
        return outs;
      });
}

template <class Builder, class Prepare>
Case bidirectional(const std::string& name, Prepare prepare) {
  return built("BiRNNBuilder, " + name, made<BiRNNBuilder<Builder>>(2u, kInput, kHidden), prepare,
               [](auto& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
                 std::vector<Expression> xs, masks;
                 for (unsigned t = 0; t < 3; ++t) {
                   xs.push_back(x(g, batch, t));
                   masks.push_back(t == 2 ? mask(g, batch) : ones(g, Dim({1}, batch)));
                 }
                 std::vector<Expression> outs = b.transduce(xs);
                 for (const Expression& y : b.transduce(xs, masks)) outs.push_back(y);
                 return outs;
               });
}

template <class Make, class Prepare = decltype(kAsItIs)>
Case tree(const std::string& name, Make make, Prepare prepare = kAsItIs) {
  return built(
      name, make, prepare,
      [](auto& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
        b.start_new_sequence();
        std::vector<Expression> outs;
        // ((0 1) 2) (3)
        const std::vector<std::vector<int>> children = {{}, {}, {0, 1}, {}, {2, 3}, {4}};
        for (unsigned n = 0; n < children.size(); ++n)
          outs.push_back(b.add_input(static_cast<int>(n), children[n], x(g, batch, n)));
        for (const Expression& s : b.final_s()) outs.push_back(s);
        return outs;
      },
      true, kHidden);
}

template <class Make>
Case softmax_of(const std::string& name, Make make) {
  return built(name, make, kAsItIs,
               [](auto& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
                 std::vector<Expression> outs;
                 for (unsigned t = 0; t < 4; ++t) {
                   std::vector<unsigned> words;
                   for (unsigned i = 0; i < batch; ++i) words.push_back((t + 2 * i) % 5);
                   const Expression rep = x(g, batch, t);
                   outs.push_back(b.neg_log_softmax(rep, words));
                   outs.push_back(b.full_log_distribution(rep));
                   outs.push_back(b.full_logits(rep));
                   if (batch == 1) outs.push_back(input(g, static_cast<float>(b.sample(rep))));
                 }
                 return outs;
               });
}

const std::vector<Case>& cases() {
  using Plain = VanillaLSTMBuilder;
  const auto dropped = [](auto& b) { b.set_dropout(0.3f, 0.2f); };
  const auto dropped_cells = [](auto& b) { b.set_dropout(0.3f, 0.2f, 0.1f); };
  static const std::vector<Case> all = {
      recurrent<SimpleRNNBuilder>("SimpleRNNBuilder"),
      recurrent<SimpleRNNBuilder>("SimpleRNNBuilder, dropout", dropped),
      {"SimpleRNNBuilder, lags",
       [](PC& pc) -> Build {
         const auto b = std::make_shared<SimpleRNNBuilder>(2, kInput, kHidden, pc, true);
         return [b, x = Inputs(pc), aux = pc.add_parameters({kHidden})](ComputationGraph& g,
                                                                        unsigned batch) {
           b->new_graph(g);
           b->start_new_sequence();
           std::vector<Expression> outs;
           for (unsigned t = 0; t < 3; ++t)
             outs.push_back(b->add_auxiliary_input(x(g, batch, t), parameter(g, aux)));
           return outs;
         };
       }},
      recurrent<Plain>("VanillaLSTMBuilder"),
      recurrent<Plain>("VanillaLSTMBuilder, dropout", dropped),
      recurrent<Plain>("VanillaLSTMBuilder, weight noise",
                       [](auto& b) { b.set_weightnoise(0.1f); }),
      recurrent<Plain>("VanillaLSTMBuilder, layer norm", kAsItIs, true),
      recurrent<Plain>(
          "VanillaLSTMBuilder, layer norm, dropout, weight noise",
          [](auto& b) {
            b.set_dropout(0.3f, 0.2f);
            b.set_weightnoise(0.1f);
          },
          true),
      recurrent<CompactVanillaLSTMBuilder>("CompactVanillaLSTMBuilder, dropout", dropped),
      recurrent<SparseLSTMBuilder>("SparseLSTMBuilder", [](auto& b) { b.set_sparsity(40); }),
      recurrent<CoupledLSTMBuilder>("CoupledLSTMBuilder"),
      recurrent<CoupledLSTMBuilder>("CoupledLSTMBuilder, dropout", dropped_cells),
      recurrent<FastLSTMBuilder>("FastLSTMBuilder"),
      recurrent<FastLSTMBuilder>("FastLSTMBuilder, dropout", dropped_cells),
      recurrent<DeepLSTMBuilder>("DeepLSTMBuilder"),
      recurrent<DeepLSTMBuilder>("DeepLSTMBuilder, dropout", dropped_cells),
      recurrent<GRUBuilder>("GRUBuilder"),
      recurrent<GRUBuilder>("GRUBuilder, dropout", dropped),
      bidirectional<Plain>("LSTM", kAsItIs),
      bidirectional<GRUBuilder>("GRU, dropout", kDropped),
      tree("NaryTreeLSTMBuilder", made<NaryTreeLSTMBuilder>(2u, 2u, kHidden, kHidden)),
      tree("ChildSumTreeLSTMBuilder", made<ChildSumTreeLSTMBuilder>(2u, kHidden, kHidden)),
      tree("UnidirectionalTreeLSTMBuilder, dropout",
           made<UnidirectionalTreeLSTMBuilder>(2u, kHidden, kHidden),
           [](auto& b) { b.node_builder.set_dropout(0.2f); }),
      tree("BidirectionalTreeLSTMBuilder",
           made<BidirectionalTreeLSTMBuilder>(2u, kHidden, kHidden)),
      softmax_of("StandardSoftmaxBuilder", made<StandardSoftmaxBuilder>(kInput, 5u)),
      softmax_of("StandardSoftmaxBuilder, no bias",
                 [](PC& pc) { return std::make_shared<StandardSoftmaxBuilder>(kInput, 5, pc, false); }),
      softmax_of("ClassFactoredSoftmaxBuilder",
                 made<ClassFactoredSoftmaxBuilder>(
                     Tree{kInput, true, 5, {{-1, -2}, {0, 1, 2}, {3, 4}}})),
      softmax_of("HierarchicalSoftmaxBuilder",
                 made<HierarchicalSoftmaxBuilder>(
                     Tree{kInput, true, 5, {{-1, -2}, {0, -3}, {3, 4}, {1, 2}}})),
      softmax_of("AdaptiveSoftmaxBuilder",
                 made<AdaptiveSoftmaxBuilder>(
                     AdaptiveSoftmaxBuilder::Settings{kInput, 5, {1, 3}, 2})),
      softmax_of("SampledSoftmaxBuilder",
                 made<SampledSoftmaxBuilder>(SampledSoftmaxBuilder::Settings{kInput, 5, 4})),
      built("SampledSoftmaxBuilder, losses of samples",
            made<SampledSoftmaxBuilder>(SampledSoftmaxBuilder::Settings{kInput, 50, 9}), kAsItIs,
            [](auto& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
              const std::vector<unsigned> words(batch, 3);
              return std::vector<Expression>{b.sampled_loss(x(g, batch, 0), words),
                                             b.nce_loss(x(g, batch, 1), words)};
            }),
      built("StackLSTM, dropout", made<StackLSTM>(StackLSTM::Settings{2, kInput, kHidden}),
            kDropped,
            [](auto& b, const Inputs& x, ComputationGraph& g, unsigned batch) {
              RNNStack stack = b.start();
              std::vector<Expression> outs = {stack.top()};
              stack.push(x(g, batch, 0));
              RNNStack other = stack;
              other.push(x(g, batch, 1));
              stack.push(x(g, batch, 2));
              outs.push_back(stack.top());
              outs.push_back(other.top());
              return outs;
            }),
      built("CharCnn, dropout", made<CharCnn>(CharCnn::Settings{kWords, kInput, {2, 3}, 4, 1}),
            kDropped,
            [](auto& b, const auto&...) {
              return std::vector<Expression>{b.apply({1, 2, 3}), b.apply({4}),
                                             b.apply({6, 6, 0, 1})};
            },
            false),
      built("C2WBuilder, dropout", made<C2WBuilder>(kWords, 1u, kInput, kHidden), kDropped,
            [](auto& b, const auto&...) {
              return std::vector<Expression>{b.compose({1, 2, 3}), b.compose({4}),
                                             b.compose({6, 6, 0, 1})};
            },
            false),
      {"copying",
       [](PC& pc) -> Build {
         return [x = Inputs(pc)](ComputationGraph& g, unsigned batch) {
           const Expression gate = pick_range(x(g, batch, 0), 0, 1), scores = x(g, batch, 1),
                            attention = x(g, batch, 2);
           const std::vector<unsigned> source = {1, 5, 6, 5, 0};
           return std::vector<Expression>{
               copy_log_prob(gate, scores, attention, {source}, {5}),
               copy_log_prob(gate, scores, attention, {source}, {3}),
               copy_log_distribution(gate, scores, attention, {1, 2, 3, 4, 0}, 0)};
         };
       }},
  };
  return all;
}

struct Outcome {
  Floats values, gradients;
};

/// Two graphs, whose gradients add up.
Outcome run(const Case& c, unsigned batch, Device* device) {
  ParameterCollection pc;
  pc.set_seed(7);
  const Build build = c.make(pc);
  Outcome o;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    test::DeviceGraph g(device);
    g.set_seed(seed);
    std::vector<Expression> losses;
    for (const Expression& y : build(g, batch)) {
      const Expression weights = random_uniform(g, y.dim(), -1, 1);
      losses.push_back(sum_batches(sum_elems(cmult(y, weights))));
      const Floats v = as_vector(y.value());
      o.values.insert(o.values.end(), v.begin(), v.end());
    }
    g.backward(sum(losses));
  }
  o.gradients = test::all_gradients(pc);
  return o;
}

}  // namespace

TEST_CASE("every builder does on the device what it does on the CPU", "[cuda]") {
  for (const Case& c : cases())
    for (const unsigned batch : {1u, 3u}) {
      if (batch > 1 && !c.batched) continue;
      CAPTURE(c.name, batch);
      const Outcome here = run(c, batch, &kCpu), there = run(c, batch, test::gpu()),
                    again = run(c, batch, test::gpu());
      for (const auto part : {&Outcome::values, &Outcome::gradients}) {
        CHECK(
            std::any_of((here.*part).begin(), (here.*part).end(), [](float x) { return x != 0; }));
        test::check_near(here.*part, there.*part, 2e-5);
        CHECK(again.*part == there.*part);
      }
    }
}

// The sources are the same for every device, and may not be where a GPU is.
#ifndef DYNET_TEST_GPU
TEST_CASE("no builder is left out of the tests of the device", "[cuda]") {
  // Base classes without objects of their own.
  const std::set<std::string> bases = {"RNNBuilder", "PeepholeLSTMBuilder", "TreeLSTMBuilder",
                                       "SoftmaxBuilder", "TreeSoftmaxBuilder"};
  const std::regex builder("\nclass (\\w+Builder)\\b");
  unsigned found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(LIBRARY_HEADERS)) {
    const std::string path = file.path();
    if (!std::regex_search(path, std::regex("/(layers|structures)/.*\\.h$"))) continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator m(text.begin(), text.end(), builder), end; m != end; ++m) {
      const std::string name = (*m)[1];
      if (bases.count(name) > 0) continue;
      ++found;
      INFO(name << " has no case in builders_test.cc");
      CHECK(std::any_of(cases().begin(), cases().end(),
                        [&](const Case& c) { return c.name.starts_with(name); }));
    }
  }
  CHECK(found >= 15);
}
#endif
