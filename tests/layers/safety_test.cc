// After an error in the middle a builder is what it was, and goes on.

#include "tests/layers/naive.h"

namespace safety_test {

using namespace dynet;
using naive::difference;
using naive::numbers;

namespace {

constexpr unsigned kIn = 3, kHidden = 4, kLayers = 2;
const float kNaN = std::numeric_limits<float>::quiet_NaN();

struct BuilderKind {
  std::string name;
  std::function<std::unique_ptr<RNNBuilder>(ParameterCollection&)> make;
};

const std::vector<BuilderKind>& kinds() {
  const auto make = []<class T>(auto... options) {
    return [=](ParameterCollection& pc) -> std::unique_ptr<RNNBuilder> {
      return std::make_unique<T>(kLayers, kIn, kHidden, pc, options...);
    };
  };
  static const std::vector<BuilderKind> all{
      {"SimpleRNN", make.operator()<SimpleRNNBuilder>()},
      {"SimpleRNN with lags", make.operator()<SimpleRNNBuilder>(true)},
      {"VanillaLSTM", make.operator()<VanillaLSTMBuilder>()},
      {"VanillaLSTM, normalized", make.operator()<VanillaLSTMBuilder>(true)},
      {"CompactVanillaLSTM", make.operator()<CompactVanillaLSTMBuilder>()},
      {"SparseLSTM", make.operator()<SparseLSTMBuilder>()},
      {"CoupledLSTM", make.operator()<CoupledLSTMBuilder>()},
      {"FastLSTM", make.operator()<FastLSTMBuilder>()},
      {"DeepLSTM", make.operator()<DeepLSTMBuilder>()},
      {"GRU", make.operator()<GRUBuilder>()},
  };
  return all;
}

/// Everything that a builder shows of itself.
std::vector<long> seen(const RNNBuilder& b, int steps) {
  std::vector<long> all{b.state()};
  const auto add = [&](const std::vector<Expression>& list) {
    all.push_back(-static_cast<long>(list.size()));
    for (const Expression& e : list) all.push_back(static_cast<long>(e.i));
  };
  for (int t = -1; t < steps; ++t) {
    add(b.get_s(RNNPointer(t)));
    add(b.get_h(RNNPointer(t)));
    if (t >= 0) all.push_back(b.get_head(RNNPointer(t)));
  }
  CHECK_THROWS_AS(b.get_s(RNNPointer(steps)), ArgumentError);
  add(b.final_s());
  add(b.final_h());
  if (b.state() >= 0) all.push_back(static_cast<long>(b.back().i));
  return all;
}

void add_auxiliary_input(RNNBuilder& b, const Expression& x, const Expression& auxiliary) {
  auto* rnn = dynamic_cast<SimpleRNNBuilder*>(&b);
  if (!rnn) throw ArgumentError("there are no lags");
  if (rnn->settings().support_lags)
    CHECK_THROWS_AS(rnn->add_auxiliary_input(x, auxiliary), ShapeError);
  rnn->add_auxiliary_input(x, auxiliary);
}

/// A sequence in one graph, and everything that can go wrong with it.
struct Bench {
  ComputationGraph g, foreign;
  Expression stale, of_foreign = input(foreign, {kIn}, {1, 2, 3});

  Bench() {
    ComputationGraph gone;
    stale = input(gone, {kHidden}, numbers(kHidden, 3));
  }
  Expression x(int t, unsigned size = kIn, unsigned batch = 1) {
    return input(g, Dim({size}, batch), numbers(size * batch, 40 + static_cast<unsigned>(t)));
  }

  /// Mistakes with a builder that has made some steps.
  std::vector<std::function<void(RNNBuilder&)>> mistakes(unsigned components) {
    std::vector<Expression> part_stale;
    for (unsigned k = 0; k < components; ++k) part_stale.push_back(x(9, kHidden));
    part_stale.back() = stale;
    const std::vector<Expression> outputs_stale{x(9, kHidden), stale};
    using B = RNNBuilder&;
    return {
        [this](B b) { b.add_input(x(1, kIn + 1)); },
        [this](B b) { b.add_input(stale); },
        [this](B b) { b.add_input(of_foreign); },
        [](B b) { b.add_input(Expression()); },
        [this](B b) { b.add_input(RNNPointer(100), x(1)); },
        [this](B b) { b.add_input(RNNPointer(0), x(1, 1)); },
        [this](B b) { b.add_masked_input(x(1), stale); },
        [this](B b) { b.add_masked_input(x(1, kIn, 3), x(2, 1, 2)); },
        [this](B b) { b.add_masked_input(x(1, 1), x(2, 1)); },
        [this, part_stale](B b) { b.set_s(b.state(), part_stale); },
        [this](B b) { b.set_s(b.state(), {x(1, kHidden)}); },
        [outputs_stale](B b) { b.set_h(b.state(), outputs_stale); },
        [](B b) { b.set_h(b.state(), {}); },
        [this](B b) { b.start_new_sequence({x(1, kHidden)}); },
        [](B b) { b.get_head(RNNPointer(-1)); },
        [](B b) { b.set_dropout(kNaN); },
        [](B b) { b.set_dropout(0.5f, -1.0f); },
        // The auxiliary input of a step that fails is not there in the next one.
        [this](B b) { add_auxiliary_input(b, x(1), x(2, kHidden + 1)); },
        [this](B b) { add_auxiliary_input(b, x(1, 1), x(2, kHidden)); },
        [](B b) {
          if (auto* lstm = dynamic_cast<VanillaLSTMBuilder*>(&b)) lstm->set_weightnoise(kNaN);
          throw ArgumentError("there is no noise");
        },
        [](B b) {
          ParameterCollection other;
          b.copy(VanillaLSTMBuilder(kLayers + 1, kIn, kHidden, other));
        },
    };
  }
};

/// An error with such a part of a sentence; one with a place is thrown in this file.
template <class F>
void check_refused(F use, const std::string& part = "") {
  try {
    use();
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK_THAT(e.what(), Catch::Contains(part));
    CHECK((e.where().line == 0 || std::string(e.where().file) == __FILE__));
  }
}

std::vector<double> numbers_of(const Expression& e) {
  return naive::to_double(as_vector(e.value()));
}

}  // namespace

TEST_CASE("after any mistake a recurrent network has the steps that it had, and goes on") {
  for (const BuilderKind& kind : kinds())
    for (const bool dropout : {false, true}) {
      CAPTURE(kind.name, dropout);
      ParameterCollection pc;
      const auto disturbed = kind.make(pc), calm = kind.make(pc);
      calm->copy(*disturbed);
      if (dropout) disturbed->set_dropout(0.3f, 0.2f);
      Bench bench;
      ComputationGraph alone;
      disturbed->new_graph(bench.g);
      calm->new_graph(alone);
      disturbed->start_new_sequence();
      calm->start_new_sequence();
      const auto mistakes = bench.mistakes(disturbed->num_h0_components());
      for (int t = 0; t < 4; ++t) {
        for (std::size_t k = 0; k < mistakes.size(); ++k) {
          CAPTURE(t, k);
          const auto before = seen(*disturbed, t);
          check_refused([&] { mistakes[k](*disturbed); });
          CHECK(seen(*disturbed, t) == before);
        }
        const RNNPointer from(t == 3 ? 1 : t - 1);
        const Expression y = disturbed->add_input(from, bench.x(t));
        const Expression z =
            calm->add_input(from, input(alone, {kIn}, numbers(kIn, 40 + static_cast<unsigned>(t))));
        if (dropout) continue;
        CHECK(difference(z, y) < 1e-6);
      }
      if (dropout) continue;
      for (int t = 0; t < 4; ++t) {
        const auto a = disturbed->get_s(RNNPointer(t)), b = calm->get_s(RNNPointer(t));
        REQUIRE(a.size() == b.size());
        for (std::size_t k = 0; k < a.size(); ++k) CHECK(difference(b[k], a[k]) < 1e-6);
      }
    }
}

TEST_CASE("an error in an upper layer takes back what lower layers did") {
  for (const BuilderKind& kind : kinds()) {
    CAPTURE(kind.name);
    ParameterCollection pc;
    const auto b = kind.make(pc);
    Bench bench;
    b->new_graph(bench.g);
    b->start_new_sequence();
    const Expression first = b->add_input(bench.x(0));
    std::vector<Expression> s = b->final_s();
    s.back() = bench.x(1, kHidden + 1);  // the output of the upper layer
    b->set_s(RNNPointer(0), s);
    const auto before = seen(*b, 2);
    for (int k = 0; k < 3; ++k) {
      CHECK_THROWS_AS(b->add_input(bench.x(1)), Error);
      CHECK_THROWS_AS(b->add_masked_input(bench.x(1), bench.x(2, 1)), Error);
      CHECK(seen(*b, 2) == before);
    }
    const Expression again = b->add_input(RNNPointer(-1), bench.x(0));
    CHECK(difference(first, again) < 1e-6);
    CHECK(b->state() == 2);
  }
}

TEST_CASE("a step that fails leaves no dropout masks of its batch behind") {
  for (const BuilderKind& kind : kinds()) {
    CAPTURE(kind.name);
    ParameterCollection pc;
    const auto b = kind.make(pc);
    b->set_dropout(0.5f);
    Bench bench;
    b->new_graph(bench.g);
    b->start_new_sequence();
    CHECK_THROWS_AS(b->add_input(bench.x(1, kIn + 1, 3)), Error);
    CHECK(b->add_input(bench.x(1, kIn, 2)).dim().bd == 2);
    // Those of the sequence stay when drawing others fails.
    ComputationGraph other;
    std::optional<ComputationGraph> gone(std::in_place);
    b->new_graph(*gone);
    b->start_new_sequence();
    b->set_dropout_masks(2);
    CHECK_THROWS_AS(b->set_dropout_masks(0), ArgumentError);
    CHECK(b->add_input(input(*gone, Dim({kIn}, 2), numbers(2 * kIn, 1))).dim().bd == 2);
    gone.reset();
    CHECK_THROWS_AS(b->set_dropout_masks(3), StaleExpressionError);
    b->new_graph(other);
    b->start_new_sequence();
    CHECK(b->add_input(input(other, Dim({kIn}, 4), numbers(4 * kIn, 1))).dim().bd == 4);
  }
}

TEST_CASE("errors in the middle of a sentence, a word and a tree do no harm") {
  ParameterCollection pc;
  BiRNNBuilder<GRUBuilder> both(kLayers, kIn, 2 * kHidden, pc);
  C2WBuilder words(5, 1, kIn, 2 * kHidden, pc);
  BidirectionalTreeLSTMBuilder tree(1, kHidden, kHidden, pc);
  Bench bench;
  const std::vector<Expression> xs{bench.x(0), bench.x(1), bench.x(2)};
  both.new_graph(bench.g);
  words.new_graph(bench.g);
  tree.new_graph(bench.g);
  const auto use = [&] {
    tree.start_new_sequence();
    tree.add_input(0, {}, bench.x(3, kHidden));
    return numbers_of(concatenate(
        {both.transduce(xs)[1], words.compose({1, 2, 4}), tree.add_input(1, {0}, Expression())}));
  };
  const std::vector<double> expected = use();
  CHECK_THROWS_AS(both.transduce({bench.x(0), bench.stale, bench.x(2)}), Error);
  CHECK_THROWS_AS(both.transduce({bench.x(0), bench.x(1, kIn + 1)}), Error);
  CHECK_THROWS_AS(both.transduce(xs, {bench.x(0, 1), bench.stale, bench.x(0, 1)}), Error);
  CHECK_THROWS_AS(both.set_dropout(kNaN), ArgumentError);
  CHECK_THROWS_AS(words.compose({1, 5}), IndexError);
  CHECK_THROWS_AS(words.set_dropout(0.1f, kNaN), ArgumentError);
  tree.start_new_sequence();
  tree.add_input(0, {}, bench.x(1, kHidden));
  CHECK_THROWS_AS(tree.add_input(1, {0}, bench.stale), Error);
  CHECK(difference(expected, use()) < 2e-6);
}

namespace {

template <class Builder, class... N>
void check_tree(unsigned in, N... n) {
  ParameterCollection pc;
  Builder b(n..., kLayers, in, kHidden, pc);
  Bench bench;
  b.new_graph(bench.g);
  check_refused([&] { b.add_input(0, {}, bench.x(1, in)); }, "start_new_sequence");
  check_refused([&] { b.back(); }, "start_new_sequence");
  b.start_new_sequence();
  check_refused([&] { b.back(); }, "was not added");
  const auto build = [&](int first) {
    b.add_input(first, {}, bench.x(1, in));
    b.add_input(first + 1, {}, bench.x(2, in));
    return numbers_of(b.add_input(first + 2, {first, first + 1}, bench.x(3, in)));
  };
  const std::vector<double> expected = build(0);
  const auto state = [&] {
    std::vector<long> all;
    for (int id = 0; id < 3; ++id)
      for (const Expression& e : b.get_s(id)) all.push_back(static_cast<long>(e.i));
    for (const Expression& e : b.final_s()) all.push_back(static_cast<long>(e.i));
    all.push_back(static_cast<long>(b.back().i));
    return all;
  };
  const auto before = state();
  const std::vector<int> leaves{0, 1}, unknown{0, 7};
  const std::pair<const char*, std::function<void()>> mistakes[] = {
      {"", [&] { b.add_input(3, leaves, bench.x(1, in + 1)); }},
      {"stale", [&] { b.add_input(3, leaves, bench.stale); }},
      {"", [&] { b.add_input(3, {}, bench.x(1, in + 1)); }},
      {"node 7 was not added", [&] { b.add_input(3, unknown, bench.x(1, in)); }},
      {"needs an input", [&] { b.add_input(3, {}, Expression()); }},
      {"a node 2 already", [&] { b.add_input(2, {}, bench.x(1, in)); }},
      {"must not be negative", [&] { b.add_input(-1, {}, bench.x(1, in)); }},
      {"set_num_elements", [&] { b.set_num_elements(-1); }},
      {"node 3 was not added", [&] { b.get_s(3); }},
      {"node 3 was not added", [&] { b.get_h(3); }},
  };
  for (const auto& [part, mistake] : mistakes) {
    check_refused(mistake, part);
    CHECK(state() == before);
  }
  CHECK(difference(expected, build(3)) < 2e-6);
  // Nodes and the limit belong to the tree.
  b.set_num_elements(7);
  check_refused([&] { b.add_input(7, {}, bench.x(1, in)); }, "no node 7 in a tree of 7");
  b.start_new_sequence();
  check_refused([&] { b.back(); }, "was not added");
  CHECK(difference(expected, build(7)) < 2e-6);
}

}  // namespace

TEST_CASE("after any mistake a tree has the nodes that it had, and goes on") {
  check_tree<NaryTreeLSTMBuilder>(kIn, 2u);
  check_tree<ChildSumTreeLSTMBuilder>(kIn);
  check_tree<UnidirectionalTreeLSTMBuilder>(kHidden);
  check_tree<BidirectionalTreeLSTMBuilder>(kHidden);
}

TEST_CASE("a builder that cannot be made leaves the collection as it was") {
  ParameterCollection pc;
  const auto fails = [&](auto make) {
    CHECK_THROWS_AS(make(), ArgumentError);
    CHECK(pc.size() == 0);
  };
  fails([&] { SimpleRNNBuilder(0, 2, 3, pc); });
  fails([&] { VanillaLSTMBuilder(0, 2, 3, pc); });
  fails([&] { VanillaLSTMBuilder(1, 2, 3, pc, false, kNaN); });
  fails([&] { VanillaLSTMBuilder(1, 2, 1u << 30, pc); });  // four times as many are no number
  fails([&] { CompactVanillaLSTMBuilder(0, 2, 3, pc); });
  fails([&] { SparseLSTMBuilder(0, 2, 3, pc); });
  fails([&] { SparseLSTMBuilder(1, 2, 3, pc, false, INFINITY); });
  fails([&] { CoupledLSTMBuilder(0, 2, 3, pc); });
  fails([&] { FastLSTMBuilder(1, static_cast<unsigned>(-2), 3, pc); });
  fails([&] { DeepLSTMBuilder(0, 2, 3, pc); });
  fails([&] { GRUBuilder(0, 2, 3, pc); });
  fails([&] { BiRNNBuilder<GRUBuilder>(1, 2, 3, pc); });
  fails([&] { BiRNNBuilder<GRUBuilder>(pc, BiRNNBuilder<GRUBuilder>::Settings{}); });
  fails([&] { C2WBuilder(5, 0, 2, 4, pc); });
  fails([&] { NaryTreeLSTMBuilder(2, 0, 2, 3, pc); });
  fails([&] { ChildSumTreeLSTMBuilder(0, 2, 3, pc); });
  fails([&] { UnidirectionalTreeLSTMBuilder(1, 2, 3, pc); });
  fails([&] { BidirectionalTreeLSTMBuilder(1, 3, 3, pc); });
  // The names are those of a collection in which nothing was tried.
  const auto name = [](const auto& b) { return b.get_parameter_collection().get_fullname(); };
  CHECK(name(SimpleRNNBuilder(1, 2, 3, pc)) == "/simple-rnn-builder/");
  CHECK(name(VanillaLSTMBuilder(1, 2, 3, pc)) == "/vanilla-lstm-builder/");
  CHECK(name(GRUBuilder(1, 2, 3, pc)) == "/gru-builder/");
  CHECK(name(FastLSTMBuilder(1, 2, 3, pc)) == "/fast-lstm-builder/");
  CHECK(name(BiRNNBuilder<GRUBuilder>(1, 2, 4, pc)) == "/bi-rnn-builder/");
}

TEST_CASE("noise falls on every weight of an LSTM, the bias too") {
  ParameterCollection pc;
  VanillaLSTMBuilder lstm(kLayers, kIn, kHidden, pc);
  for (Parameter p : pc.parameters_list()) p.zero();
  lstm.set_weightnoise(0.5f);
  // An LSTM with zeros as input returns zeros, but for its biases.
  const auto output = [&](std::uint64_t seed) {
    ComputationGraph g;
    g.set_seed(seed);
    lstm.new_graph(g);
    lstm.start_new_sequence();
    return as_vector(lstm.add_input(zeros(g, {kIn})).value());
  };
  const std::vector<float> a = output(1), b = output(2);
  for (unsigned i = 0; i < kHidden; ++i) CHECK(a[i] != 0);
  CHECK(a != b);
  CHECK(output(1) == a);
  // So many noises as there are parameters.
  ComputationGraph g;
  lstm.new_graph(g);
  std::size_t noises = 0;
  const Expression any = zeros(g, {1});
  for (const Node& n : any.pg->store().nodes) noises += std::string(n.form->name.value) == "noise";
  CHECK(noises == pc.parameters_list().size());
  lstm.set_weightnoise(0);
  CHECK(output(1) == std::vector<float>(kHidden, 0.0f));
}

TEST_CASE("rates that cannot be are told by every builder, which keeps those that it had") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto told = [](auto f) -> std::string {
    try {
      f();
    } catch (const ArgumentError& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  ParameterCollection pc;
  FastLSTMBuilder fast(1, kIn, kHidden, pc);
  VanillaLSTMBuilder lstm(1, kIn, kHidden, pc);
  BiRNNBuilder<GRUBuilder> both(1, kIn, 2 * kHidden, pc);
  C2WBuilder words(5, 1, kIn, 2 * kHidden, pc);
  SparseLSTMBuilder sparse(1, kIn, kHidden, pc);
  for (const float bad : {kNaN, inf, -inf, -0.1f, 1.0f, 2.0f}) {
    const std::string rule =
        "set_dropout: a rate must be at least 0 and below 1, got " + std::to_string(bad);
    CHECK(told([&] { fast.set_dropout(bad); }) == rule);
    CHECK(told([&] { fast.set_dropout(0.1f, bad); }) == rule);
    CHECK(told([&] { fast.set_dropout(0.1f, 0.1f, bad); }) == rule);
    CHECK(told([&] { both.set_dropout(bad); }) == rule);
    CHECK(told([&] { both.set_dropout(0.0f, bad); }) == rule);
    CHECK(told([&] { words.set_dropout(bad); }) == rule);
    CHECK(told([&] { words.set_dropout(0.2f, bad); }) == rule);
    for (const BuilderKind& kind : kinds()) {
      ParameterCollection other;
      const auto b = kind.make(other);
      CHECK(told([&] { b->set_dropout(bad); }) == rule);
      CHECK(told([&] { b->set_dropout(0.1f, bad); }) == rule);
    }
    if (bad >= 1 && bad <= 2) continue;
    const auto names_rate = Catch::Contains("got " + std::to_string(bad));
    CHECK_THAT(told([&] { lstm.set_weightnoise(bad); }), names_rate);
    CHECK_THAT(told([&] { sparse.set_sparsity(bad); }), names_rate);
  }
  // None of them drops anything now.
  ComputationGraph g;
  fast.new_graph(g);
  fast.start_new_sequence();
  fast.add_input(zeros(g, {kIn}));
  both.new_graph(g);
  both.transduce({zeros(g, {kIn})});
  words.new_graph(g);
  const Expression any = words.compose({1, 2});
  for (const Node& n : any.pg->store().nodes)
    CHECK(std::string(n.form->name.value) != "random_bernoulli");
}

TEST_CASE("a state that no output can be made of is not a step") {
  ParameterCollection pc;
  DeepLSTMBuilder b(kLayers, kIn, kHidden, pc);
  Bench bench;
  b.new_graph(bench.g);
  b.start_new_sequence();
  b.add_input(bench.x(0));
  const auto before = seen(b, 1);
  std::vector<Expression> s = b.final_s();
  s[kLayers] = bench.x(1, kHidden, 2);  // outputs of two batches
  s.back() = bench.x(1, kHidden, 3);
  CHECK_THROWS_AS(b.set_s(RNNPointer(0), s), ShapeError);
  CHECK_THROWS_AS(b.set_h(RNNPointer(0), {s[kLayers], s.back()}), ShapeError);
  CHECK(seen(b, 1) == before);
  b.add_input(bench.x(1));
  CHECK(b.get_s(RNNPointer(1)).back().dim() == Dim({kHidden}));
}

}  // namespace safety_test
