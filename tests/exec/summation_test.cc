// One order of summation: a value has the same bits however its graph is run.

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/dynet.h"
#include "dynet-like/exec/executor.h"
#include "tests/exec/random_graph.h"
#include "tests/support/catch.h"

using namespace dynet;

namespace {

enum class Way { alone, batched, at_once, one_by_one, now_and_then, inference, workers };
constexpr Way kWays[] = {Way::batched,      Way::at_once,   Way::one_by_one,
                         Way::now_and_then, Way::inference, Way::workers};

using Expressions = std::vector<Expression>;
using Build = std::function<Expressions(ComputationGraph&)>;

/// The values of all that `build` returns, in the order in which it was made.
std::vector<std::vector<float>> values(Way way, const Build& build) {
  Workers two(2);
  ComputationGraph g(way != Way::alone);
  g.set_seed(17);
  g.set_immediate_compute(way == Way::at_once);
  g.set_inference(way == Way::inference);
  if (way == Way::workers) g.set_workers(&two);
  const Expressions all = build(g);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (way == Way::one_by_one || (way == Way::now_and_then && i % 7 == 3)) all[i].value();
  all.back().value();
  std::vector<std::vector<float>> result;
  for (const Expression& e : all) result.push_back(as_vector(e.value()));
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// How many ways give a value other bits than node after node.
int ways_that_differ(const Build& build) {
  const auto expected = values(Way::alone, build);
  int different = 0;
  for (const Way way : kWays) {
    const auto got = values(way, build);
    REQUIRE(got.size() == expected.size());
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) same = same && same_bits(got[i], expected[i]);
    different += !same;
  }
  return different;
}

/// The same for executors of either precision, and for plans that forget.
template <class T>
int planners_that_differ(const GraphStore& graph, NodeId last) {
  Executor<T> expected(graph, plan_in_order);
  expected.forward(last);
  int different = 0;
  for (const Planner planner : {plan_in_batches, plan_to_forget}) {
    Executor<T> got(graph, planner);
    got.set_inference(planner == plan_to_forget);
    got.forward(last);
    bool same = true;
    for (NodeId id = 0; id <= last; ++id)
      same = same && std::memcmp(got.value(id), expected.value(id),
                                 graph.nodes[id].dim.size() * sizeof(T)) == 0;
    different += !same;
  }
  return different;
}

constexpr unsigned kSizes[] = {2, 3, 4, 5, 16, 33};

/// The seeds of graphs that some way gives other values.
std::vector<std::uint64_t> random_graphs_that_differ(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> different;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const unsigned h = kSizes[seed % 6];
    RandomGraph::Model model(h);
    int ways = ways_that_differ([&](ComputationGraph& g) {
      RandomGraph random(g, model, h, seed);
      const Expression loss = random.build();
      Expressions all = random.vectors();
      all.push_back(loss);
      return all;
    });
    ComputationGraph g;
    g.set_seed(seed);
    const Expression loss = RandomGraph(g, model, h, seed).build();
    ways += planners_that_differ<float>(g.store(), loss.i);
    ways += planners_that_differ<double>(g.store(), loss.i);
    if (ways > 0) different.push_back(seed);
  }
  return different;
}

std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(random.uniform(i)) * 2 - 1;
  return x;
}

Expression some(ComputationGraph& g, const Dim& dim, std::uint64_t seed) {
  return input(g, dim, numbers(dim.size(), seed));
}

/// Sequences of several lengths, run by a builder.
template <class Builder>
int sequences_that_differ(const std::function<void(Builder&)>& set = {}) {
  int different = 0;
  for (const unsigned batch : {1u, 3u}) {
    ParameterCollection pc;
    pc.set_seed(3);
    Builder builder(2, 9, 21, pc);
    if (set) set(builder);
    different += ways_that_differ([&](ComputationGraph& g) {
      builder.new_graph(g);
      Expressions all;
      for (const unsigned length : {5u, 1u, 8u, 5u}) {
        builder.start_new_sequence();
        for (unsigned t = 0; t < length; ++t)
          all.push_back(builder.add_input(some(g, Dim({9}, batch), 31 * length + t)));
      }
      return all;
    });
  }
  return different;
}

}  // namespace

TEST_CASE("values of 300 random graphs have the same bits however they are run") {
  CHECK(random_graphs_that_differ(0, 300) == std::vector<std::uint64_t>{});
}

TEST_CASE("values of 5,000 random graphs have the same bits however they are run (slow)") {
  CHECK(random_graphs_that_differ(300, 5300) == std::vector<std::uint64_t>{});
}

TEST_CASE("recurrent networks have the same bits however they are run") {
  CHECK(sequences_that_differ<SimpleRNNBuilder>() == 0);
  CHECK(sequences_that_differ<GRUBuilder>() == 0);
  CHECK(sequences_that_differ<VanillaLSTMBuilder>() == 0);
  CHECK(sequences_that_differ<CoupledLSTMBuilder>() == 0);
  CHECK(sequences_that_differ<VanillaLSTMBuilder>(
            [](VanillaLSTMBuilder& lstm) { lstm.set_dropout(0.3f, 0.2f); }) == 0);
}

TEST_CASE("sums of products have the same bits wherever the recurrent product stands") {
  // Sizes below, at and above those at which the kernels go over to other loops.
  struct Size {
    unsigned rows, columns, samples, batch;
  };
  for (const Size& size : {Size{5, 1, 3, 1}, Size{1, 1, 3, 1}, Size{1, 3, 2, 2}, Size{17, 2, 2, 3},
                           Size{130, 1, 9, 1}, Size{300, 1, 170, 1}, Size{24, 7, 2, 30}})
    for (unsigned recurrent = 0; recurrent < 6; ++recurrent)
      for (const bool first_bias : {false, true}) {
        CAPTURE(size.rows, size.columns, size.samples, size.batch, recurrent, first_bias);
        ParameterCollection pc;
        pc.set_seed(9);
        const unsigned n = size.rows, inner = n == 1 ? 1300 : n + 3;
        const auto U = pc.add_parameters({n, n}), W = pc.add_parameters({n, inner}),
                   V = pc.add_parameters({n, 2}), b = pc.add_parameters({n}),
                   B = pc.add_parameters({n, size.columns});
        CHECK(ways_that_differ([&](ComputationGraph& g) {
                Expressions all;
                for (unsigned s = 0; s < size.samples; ++s) {
                  Expression h = some(g, Dim({n, size.columns}, size.batch), s);
                  for (unsigned t = 0; t < 3; ++t) {
                    const Expression x = some(g, Dim({inner, size.columns}, size.batch), 99 * t + s),
                                     y = some(g, Dim({2, size.columns}, size.batch), 77 * t + s);
                    Expressions terms = {parameter(g, first_bias ? b : B), parameter(g, W), x,
                                         parameter(g, V), y};
                    const Expressions own = {parameter(g, U), h};
                    // Before, between or behind the others, and twice.
                    for (const unsigned at : {recurrent % 3, recurrent / 3 * 3})
                      terms.insert(terms.begin() + 1 + 2 * std::min(at, 2u), own.begin(), own.end());
                    h = tanh(affine_transform(terms) * 0.7f);
                    all.push_back(h);
                  }
                }
                return all;
              }) == 0);
      }
}

TEST_CASE("a product of many columns has the bits of its columns alone") {
  for (const unsigned k : {1u, 2u, 7u, 127u, 128u, 129u, 1025u, 2100u})
    for (const unsigned m : {1u, 2u, 15u, 16u, 17u, 65u, 200u})
      for (const unsigned n : {2u, 4u, 7u, 25u, 200u}) {
        CAPTURE(m, k, n);
        ComputationGraph g;
        const Expression W = some(g, {m, k}, 1), X = some(g, {k, n}, 2), b = some(g, {m}, 3);
        const Expression all = W * X, sums = affine_transform({b, W, X, W, X});
        const std::vector<float> together = as_vector(all.value()), added = as_vector(sums.value());
        const std::vector<float> columns = numbers(std::size_t{k} * n, 2);
        int different = 0;
        for (const unsigned j : {0u, 1u, n / 2, n - 1}) {
          const Expression x = input(
              g, {k}, std::vector<float>(columns.begin() + k * j, columns.begin() + k * (j + 1)));
          const auto column = [&](const std::vector<float>& y) {
            return std::vector<float>(y.begin() + m * j, y.begin() + m * (j + 1));
          };
          const Expression one = W * x, sum = affine_transform({b, W, x, W, x});
          different += !same_bits(as_vector(one.value()), column(together));
          different += !same_bits(as_vector(sum.value()), column(added));
        }
        CHECK(different == 0);
      }
}
