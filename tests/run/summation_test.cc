// Order of summation: a value has the same bits in every mode.

#include "tests/support/all_values.h"
#include "tests/support/prelude.h"

namespace summation_test {

using namespace dynet;
using test::same_bits;

namespace {

enum class Way { alone, batched, at_once, one_by_one, now_and_then, inference };
constexpr Way kWays[] = {Way::batched, Way::at_once, Way::one_by_one, Way::now_and_then,
                         Way::inference};

using Expressions = std::vector<Expression>;
using Build = std::function<Expressions(ComputationGraph&)>;

/// Values of all expressions that `build` returns, in their order.
std::vector<std::vector<float>> values(Way way, const Build& build) {
  ComputationGraph g(way != Way::alone);
  g.set_seed(17);
  g.set_immediate_compute(way == Way::at_once);
  g.set_inference(way == Way::inference);
  const Expressions all = build(g);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (way == Way::one_by_one || (way == Way::now_and_then && i % 7 == 3)) all[i].value();
  all.back().value();
  std::vector<std::vector<float>> result;
  for (const Expression& e : all) result.push_back(as_vector(e.value()));
  return result;
}

/// Number of modes with bits that differ from node by node.
int ways_that_differ(const Build& build) {
  const auto expected = values(Way::alone, build);
  int different = 0;
  for (const Way way : kWays) {
    const auto got = values(way, build);
    different += !std::equal(got.begin(), got.end(), expected.begin(), expected.end(), same_bits);
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

/// Trees of several shapes, with several layers.
template <class Builder>
int trees_that_differ(Builder& builder) {
  return ways_that_differ([&](ComputationGraph& g) {
    builder.new_graph(g);
    Expressions all;
    for (unsigned tree = 0; tree < 6; ++tree) {
      builder.start_new_sequence();
      std::vector<int> open;
      for (unsigned k = 0; k < 4 + tree; ++k) {
        open.push_back(static_cast<int>(2 * k));
        all.push_back(builder.add_input(open.back(), {}, some(g, {21}, 10 * tree + k)));
        if (open.size() < 2 || (k + tree) % 3 == 0) continue;
        const std::vector<int> children(open.end() - 2, open.end());
        open.resize(open.size() - 2);
        open.push_back(static_cast<int>(2 * k + 1));
        all.push_back(builder.add_input(open.back(), children, some(g, {21}, 90 * tree + k)));
      }
    }
    return all;
  });
}

/// Gradients of all parameters after a backward pass.
std::vector<float> gradients(ParameterCollection& pc, const Build& build) {
  pc.reset_gradient();
  ComputationGraph g;
  g.set_seed(17);
  const Expressions all = build(g);
  g.backward(all.back());
  return test::all_gradients(pc);
}

/// Whether gradients have the same bits in a second run.
bool same_gradients(ParameterCollection& pc, const Build& build) {
  const std::vector<float> expected = gradients(pc, build);
  return same_bits(gradients(pc, build), expected);
}

}  // namespace

TEST_CASE("recurrent networks have the same bits in every mode") {
  CHECK(sequences_that_differ<SimpleRNNBuilder>() == 0);
  CHECK(sequences_that_differ<GRUBuilder>() == 0);
  CHECK(sequences_that_differ<VanillaLSTMBuilder>() == 0);
  CHECK(sequences_that_differ<CoupledLSTMBuilder>() == 0);
  CHECK(sequences_that_differ<DeepLSTMBuilder>() == 0);
  CHECK(sequences_that_differ<VanillaLSTMBuilder>(
            [](VanillaLSTMBuilder& lstm) { lstm.set_dropout(0.3f, 0.2f); }) == 0);
}

TEST_CASE("networks over trees have the same bits in every mode") {
  ParameterCollection pc;
  pc.set_seed(3);
  NaryTreeLSTMBuilder nary(2, 2, 21, 21, pc);
  ChildSumTreeLSTMBuilder sums(2, 21, 21, pc);
  CHECK(trees_that_differ(nary) == 0);
  CHECK(trees_that_differ(sums) == 0);
}

TEST_CASE("graphs in windows have the same bits in every mode (slow)") {
  // 100 steps of four values of 64 x 512 numbers: 50 MiB.
  constexpr unsigned kSteps = 100, kSize = 64, kBatch = 512;
  ParameterCollection pc;
  pc.set_seed(9);
  const auto U = pc.add_parameters({kSize, kSize}), W = pc.add_parameters({kSize, kSize}),
             V = pc.add_parameters({kSize, kSize}), b = pc.add_parameters({kSize});
  for (unsigned order = 0; order < 3; ++order) {
    CAPTURE(order);
    CHECK(ways_that_differ([&](ComputationGraph& g) {
            const Expression u = parameter(g, U), w = parameter(g, W), v = parameter(g, V),
                             bias = parameter(g, b);
            Expressions all;
            Expression h = some(g, Dim({kSize}, kBatch), 1), below = h;
            const Expression x = some(g, Dim({kSize}, kBatch), 2);
            for (unsigned t = 0; t < kSteps; ++t) {
              // Two layers; the upper one depends on the lower one.
              below = tanh(affine_transform({bias, v, below}));
              std::vector<Expressions> terms = {{w, below}, {u, h}, {v, x}};
              std::rotate(terms.begin(), terms.begin() + order, terms.end());
              Expressions sum = {bias};
              for (const Expressions& e : terms) sum.insert(sum.end(), e.begin(), e.end());
              h = tanh(affine_transform(sum));
              if (t % 20 == 19) all.push_back(h);
            }
            return all;
          }) == 0);
  }
}

TEST_CASE("gradients have the same bits in a second run") {
  ParameterCollection pc;
  pc.set_seed(4);
  GRUBuilder gru(1, 40, 64, pc);
  VanillaLSTMBuilder lstm(1, 64, 48, pc);
  CHECK(same_gradients(pc, [&](ComputationGraph& g) {
    gru.new_graph(g);
    lstm.new_graph(g);
    Expressions losses;
    for (unsigned s = 0; s < 20; ++s) {
      gru.start_new_sequence();
      lstm.start_new_sequence();
      for (unsigned t = 0; t < 4 + s % 5; ++t)
        lstm.add_input(gru.add_input(some(g, Dim({40}, 2), 100 * s + t)));
      losses.push_back(sum_batches(squared_norm(lstm.back())));
    }
    return Expressions{sum(losses)};
  }));
  // A computed matrix with other uses than products, before and after the products.
  ParameterCollection more;
  more.set_seed(5);
  const auto P = more.add_parameters({64, 64});
  for (const bool before : {false, true})
    CHECK(same_gradients(more, [&](ComputationGraph& g) {
      const Expression M = tanh(parameter(g, P));
      Expressions xs, losses;
      for (unsigned i = 0; i < 400; ++i) xs.push_back(tanh(some(g, {64}, i)));
      const auto use = [&] { losses.push_back(sum_elems(cmult(M, some(g, {64, 64}, 1000)))); };
      if (before) use();
      for (const Expression& x : xs) losses.push_back(squared_norm(M * x));
      if (!before) use();
      return Expressions{sum(losses)};
    }));
}

TEST_CASE("sums of products have the same bits for any position of the recurrent product") {
  // Sizes below, at and above the thresholds at which kernels use other loops.
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
        CHECK(
            ways_that_differ([&](ComputationGraph& g) {
              const Expression u = parameter(g, U), w = parameter(g, W), v = parameter(g, V),
                               start = parameter(g, first_bias ? b : B);
              Expressions all;
              for (unsigned s = 0; s < size.samples; ++s) {
                Expression h = some(g, Dim({n, size.columns}, size.batch), s);
                for (unsigned t = 0; t < 3; ++t) {
                  const Expression x = some(g, Dim({inner, size.columns}, size.batch), 99 * t + s),
                                   y = some(g, Dim({2, size.columns}, size.batch), 77 * t + s);
                  Expressions terms = {start, w, x, v, y};
                  const Expressions own = {u, h};
                  // The recurrent product is first, between or last, and occurs twice.
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

}  // namespace summation_test
