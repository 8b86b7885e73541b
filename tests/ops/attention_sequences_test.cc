// Attention where keys are not seen, at the borders of its blocks, and in other company.
#include "tests/ops/sequences.h"
#include "tests/support/all_values.h"

namespace attention_sequences_test {

using namespace dynet;
using namespace dynet::test;

namespace {

constexpr float kInfinity = -kForbidden;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> numbers(std::size_t n, std::uint64_t key) {
  const RandomStream random(key);
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(random.normal(i));
  return v;
}
Parameter some(ParameterCollection& model, const Dim& d, std::uint64_t key) {
  Parameter p = model.add_parameters(d, ParameterInitFromVector(numbers(d.size(), key)));
  return p;
}

}  // namespace

TEST_CASE("attention: queries without a key give zero, and have no gradient") {
  ParameterCollection model;
  const Parameter pq = some(model, {2, 5}, 1), pk = some(model, {2, 3}, 2),
                  pv = some(model, {4, 3}, 3);
  ComputationGraph g;
  const Expression q = parameter(g, pq), k = parameter(g, pk), v = parameter(g, pv);
  const Expression causal = attention(q, k, v, {.causal = true});  // the first two see none
  const Expression none = attention(q, k, v, {.key_lengths = {0}});
  const Expression empty = attention(q, zeros(g, {2, 0}), zeros(g, {4, 0}));
  const Expression lows = attention(q, k, v, input(g, {1, 1}, std::vector<float>{-kInfinity}));
  const std::vector<float> y = as_vector(causal.value());
  CHECK(std::all_of(y.begin(), y.begin() + 8, [](float e) { return e == 0; }));
  for (unsigned c = 0; c < 4; ++c)  // the next sees one
    CHECK(y[8 + c] == Approx(as_vector(v.value())[c]).epsilon(1e-6));
  for (const Expression& e : {none, empty, lows})
    CHECK(as_vector(e.value()) == std::vector<float>(20, 0.0f));
  g.backward(sum_elems(none) + sum_elems(empty) + sum_elems(lows));
  for (const Parameter& p : {pq, pk, pv})
    for (const float d : as_vector(*p.gradients())) CHECK(d == 0);
  model.reset_gradient();
  g.backward(squared_norm(causal));
  const std::vector<float> d = as_vector(*pq.gradients());
  CHECK(std::all_of(d.begin(), d.begin() + 6, [](float e) { return e == 0; }));
  CHECK(d[9] != 0);
}

TEST_CASE("attention: the only key gives its value") {
  ComputationGraph g;
  const std::vector<float> value = {3, -7, 0.5f};
  const Expression q = input(g, {2, 2}, {1e4f, -1e4f, 3, 1}), k = input(g, {2, 1}, {1e4f, 1});
  const std::vector<float> y = as_vector(attention(q, k, input(g, {3, 1}, value)).value());
  for (unsigned i = 0; i < 6; ++i) CHECK(y[i] == value[i % 3]);
}

TEST_CASE("attention: scores of any size") {
  // Keys 0, -1, 1, 0, -1, 1, ... times 1e4: a query of one sees every third, of minus one others.
  constexpr unsigned kKeys = 300;
  std::vector<float> keys, values;
  for (unsigned j = 0; j < kKeys; ++j) {
    keys.push_back(1e4f * static_cast<float>(static_cast<int>((j + 1) % 3) - 1));
    values.push_back(static_cast<float>(j % 3));
  }
  auto [model, p, g, q] = Variable({1, 3}, {1, -1, 0});
  const Expression k = input(g, {1, kKeys}, keys), v = input(g, {1, kKeys}, values);
  const Expression y = attention(q, k, v, {.scale = 1});
  const std::vector<float> mean = as_vector(y.value());
  CHECK(mean[0] == Approx(1).epsilon(1e-6));
  CHECK(mean[1] == Approx(2).epsilon(1e-6));
  CHECK(mean[2] == Approx(1).epsilon(1e-5));
  g.backward(sum_elems(y));
  const std::vector<float> d = as_vector(*p.gradients());
  CHECK(d[0] == Approx(0).margin(1e-2));
  CHECK(d[1] == Approx(0).margin(1e-2));
  CHECK(d[2] == Approx(-1e4 / 3).epsilon(1e-3));
}

TEST_CASE("attention: minus infinity forbids a key, in any block") {
  constexpr unsigned kKeys = 261;
  for (const unsigned open : {0u, 5u, 127u, 128u, 260u}) {
    ParameterCollection model;
    Parameter pb = model.add_parameters({2 * kKeys + 1, 1});
    // One query, the last: key j is at distance j - 260.
    std::vector<float> b(2 * kKeys + 1, -kInfinity);
    b[kKeys + open - 260] = 2;
    pb.set_value(b);
    const Parameter pv = some(model, {3, kKeys}, 1), pq = some(model, {2, 1}, 3);
    ComputationGraph g;
    const Expression v = parameter(g, pv), q = parameter(g, pq);
    const Expression y =
        attention(q, input(g, {2, kKeys}, numbers(2 * kKeys, 2)), v, parameter(g, pb));
    const std::vector<float> all = as_vector(v.value()), mean = as_vector(y.value());
    for (unsigned r = 0; r < 3; ++r) CHECK(mean[r] == all[3 * open + r]);
    g.backward(sum_elems(y));
    const std::vector<float> d = as_vector(*pv.gradients());
    for (unsigned j = 0; j < kKeys; ++j) CHECK(d[3 * j] == (j == open ? 1.0f : 0.0f));
    for (const Parameter& p : {pq, pb})
      for (const float e : as_vector(*p.gradients())) CHECK(e == Approx(0).margin(1e-6));
  }
}

TEST_CASE("attention: keys that a query does not see change nothing, whatever they hold") {
  constexpr unsigned kQueries = 70, kKeys = 150, kSize = 3;
  struct Run {
    std::vector<float> y, dq, dk, dv;
  };
  // Keys from `from` on are `filler`, for queries below `unseeing`, whose results are looked at.
  const auto run = [&](bool causal, unsigned from, float filler) {
    ParameterCollection model;
    const Dim keys({2 * kSize, kKeys});
    std::vector<float> k = numbers(keys.size(), 2), v = numbers(keys.size(), 3);
    std::fill(k.begin() + from * 2 * kSize, k.end(), filler);
    std::fill(v.begin() + from * 2 * kSize, v.end(), filler);
    Parameter pk = model.add_parameters(keys), pv = model.add_parameters(keys);
    pk.set_value(k);
    pv.set_value(v);
    const Parameter pq = some(model, {2 * kSize, kQueries}, 1);
    AttentionSettings s{.heads = 2, .causal = causal};
    if (!causal) s.key_lengths = {from};
    // With `causal` query i sees keys up to i + 80.
    const unsigned looked = causal ? from - (kKeys - kQueries) : kQueries;
    ComputationGraph g;
    const Expression y = attention(parameter(g, pq), parameter(g, pk), parameter(g, pv), s);
    const Expression first = pick_range(y, 0, looked, 1);
    Run r{as_vector(first.value()), {}, {}, {}};
    if (!causal) {
      g.backward(squared_norm(first));
      r.dq = as_vector(*pq.gradients());
      r.dk = as_vector(*pk.gradients());
      r.dv = as_vector(*pv.gradients());
    }
    return r;
  };
  for (const bool causal : {false, true})
    for (const unsigned from : {81u, 90u, 127u, 128u, 129u, 140u}) {
      const Run plain = run(causal, from, 0);
      for (const float filler : {kNaN, kInfinity, 1e30f}) {
        const Run other = run(causal, from, filler);
        CHECK(same_bits(plain.y, other.y));
        CHECK(same_bits(plain.dq, other.dq));
        CHECK(same_bits(plain.dk, other.dk));
        CHECK(same_bits(plain.dv, other.dv));
        CHECK(std::none_of(plain.y.begin(), plain.y.end(), [](float e) { return std::isnan(e); }));
      }
    }
}

TEST_CASE("attention: a NaN in a visible key reaches the result") {
  ComputationGraph g;
  std::vector<float> keys = numbers(2 * 200, 1);
  keys[2 * 150] = kNaN;
  const Expression q = input(g, {2, 1}, {1, 2}), v = input(g, {1, 200}, numbers(200, 2));
  CHECK(std::isnan(as_scalar(attention(q, input(g, {2, 200}, keys), v).value())));
  CHECK(std::isfinite(
      as_scalar(attention(q, input(g, {2, 200}, keys), v, {.key_lengths = {150}}).value())));
}

TEST_CASE("attention: sequences of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kCount = 12;
  ParameterCollection model;
  const Parameter bias = some(model, {7, 4}, 99);
  Sentences all{.shared = {bias}, .batches = 2 + kCount + 4};
  for (unsigned n = 0; n < kCount; ++n) {
    const unsigned queries = 1 + n * 17 % 40, keys = 1 + n * 53 % 140;
    all.own.push_back({some(model, {12, queries}, 3 * n), some(model, {6, keys}, 3 * n + 1),
                       some(model, {4, keys}, 3 * n + 2)});
  }
  all.build = [&](ComputationGraph& g, unsigned n) {
    const std::vector<Parameter>& p = all.own[n];
    AttentionSettings s{.heads = 4, .key_heads = 2, .causal = true};
    if (n % 3 == 0) s.key_lengths = {p[1].dim().cols() / 2};
    return std::vector{attention(parameter(g, p[0]), parameter(g, p[1]), parameter(g, p[2]),
                                 parameter(g, bias), s)};
  };
  all.loss = [](const std::vector<Expression>& x) { return squared_norm(x[0]); };
  check_alone_and_together(model, all);
}

TEST_CASE("attention: settings that are no settings") {
  ComputationGraph g;
  const Expression q = zeros(g, Dim({12, 3}, 2)), k = zeros(g, {12, 5}), one = zeros(g, {12, 3});
  CHECK_THROWS_AS(attention(q, k, k, {.heads = 0}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.heads = 3, .key_heads = 2}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.heads = 2, .key_heads = 4}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.scale = static_cast<double>(kInfinity)}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.scale = static_cast<double>(kNaN)}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.key_lengths = {5}}), ArgumentError);
  CHECK_THROWS_AS(attention(one, k, k, {.key_lengths = {5, 5}}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.key_lengths = {5, 6}}), ArgumentError);
  CHECK_THROWS_AS(attention(q, k, k, {.heads = 5}), ShapeError);
  CHECK_NOTHROW(attention(q, k, k, {.key_lengths = {0, 5}}));
  CHECK_NOTHROW(attention(one, k, k, {.heads = 12, .key_lengths = {5}}));
}

}  // namespace attention_sequences_test
