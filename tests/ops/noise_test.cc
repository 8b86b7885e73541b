#include "kernels/cpu/noise.h"

#include "tests/ops/cases.h"

namespace dynet::test {
namespace {

using Draw = std::function<double(const RandomStream&, std::size_t, double)>;

/// The naive loop finds the draws by the key of the node that was built last.
template <class A>
OpCase drawing(const std::string& name, std::function<Expression(const Operand&)> build,
               Draw element, std::optional<Dim> dim = {}) {
  const auto key = std::make_shared<std::uint64_t>();
  OpCase c;
  c.name = name;
  c.shapes = [dim](Shapes& s) { return dim ? std::vector<Dim>{} : std::vector{s.any(3)}; };
  c.build = [build, key](const Operand& x) {
    const Expression y = build(x);
    const GraphStore& graph = x.graph->store();
    *key = graph.attr<A>(graph.nodes[y.i]).key;
    return y;
  };
  c.reference = [key, dim, element](const Arrays& x) {
    Array y{dim ? *dim : x[0].dim, std::vector<double>(dim ? dim->size() : x[0].v.size())};
    const RandomStream stream(mix_bits(*key));  // epoch 0
    for (std::size_t k = 0; k < y.v.size(); ++k) y.v[k] = element(stream, k, dim ? 0 : x[0].v[k]);
    return y;
  };
  c.random = true;
  return c;
}

/// Dropout with one draw for each element of `drawn`, the operand's shape with some sizes of one.
/// Shapes have a dimension `last`.
OpCase sharing(const std::string& name, unsigned last,
               const std::function<Expression(const Expression&)>& op,
               const std::function<Dim(const Dim&)>& drawn) {
  OpCase c;
  c.name = name;
  c.random = true;
  const auto key = std::make_shared<std::uint64_t>();
  c.shapes = [last](Shapes& s) { return std::vector{with_dimension(s, last)}; };
  c.build = [op, key](const Operand& x) {
    const Expression y = op(x[0]);
    const GraphStore& graph = x.graph->store();
    *key = graph.attr<SharedDropoutAttr>(graph.nodes[y.i]).key;
    return y;
  };
  c.reference = [key, drawn](const Arrays& x) {
    const RandomStream stream(mix_bits(*key));
    const double p = static_cast<double>(0.4f);
    std::size_t k = 0;
    const Array scales = fill(
        drawn(x[0].dim), [&](const Place&) { return stream.uniform(k++) < p ? 0 : 1 / (1 - p); });
    return zip({x[0], scales}, [](const std::vector<double>& v) { return v[0] * v[1]; });
  };
  return c;
}

}  // namespace

std::vector<OpCase> noise_cases() {
  using S = const RandomStream&;
  std::vector<OpCase> all;
  all.push_back(drawing<DropoutAttr>(
      "dropout", [](const Operand& x) { return dropout(x[0], 0.4f); },
      [](S s, std::size_t k, double x) {
        const double p = static_cast<double>(0.4f);
        return s.uniform(k) < p ? 0 : x / (1 - p);
      }));
  all.push_back(drawing<DropoutAttr>(
      "dropout 0", [](const Operand& x) { return dropout(x[0], 0); },
      [](S, std::size_t, double x) { return x; }));
  for (unsigned d : {0u, 1u, 2u})
    all.push_back(sharing(
        "dropout_dim along " + std::to_string(d), d,
        [d](const Expression& x) { return dropout_dim(x, d, 0.4f); },
        [d](Dim x) {
          x.d[d] = 1;
          return x;
        }));
  const auto whole = [](const Dim& x) { return Dim({1}, x.bd); };
  all.push_back(sharing(
      "dropout_batch", 0, [](const Expression& x) { return dropout_batch(x, 0.4f); }, whole));
  all.push_back(sharing(
      "block_dropout", 0, [](const Expression& x) { return block_dropout(x, 0.4f); }, whole));
  all.push_back(drawing<NoiseAttr>(
      "noise", [](const Operand& x) { return noise(x[0], 0.5f); },
      [](S s, std::size_t k, double x) { return x + 0.5 * s.normal(k); }));
  const Dim d({7, 50}, 2);
  all.push_back(drawing<RandomAttr>(
      "random_normal", [d](const Operand& x) { return random_normal(*x.graph, d, 1.5f, 2.0f); },
      [](S s, std::size_t k, double) { return 1.5 + 2 * s.normal(k); }, d));
  all.push_back(drawing<RandomAttr>(
      "random_bernoulli",
      [d](const Operand& x) { return random_bernoulli(*x.graph, d, 0.25f, 3.0f); },
      [](S s, std::size_t k, double) { return s.uniform(k) < 0.25 ? 3 : 0; }, d));
  all.push_back(drawing<RandomAttr>(
      "random_uniform", [d](const Operand& x) { return random_uniform(*x.graph, d, -1.0f, 3.0f); },
      [](S s, std::size_t k, double) { return -1 + 4 * s.uniform(k); }, d));
  all.push_back(drawing<RandomAttr>(
      "random_gumbel", [d](const Operand& x) { return random_gumbel(*x.graph, d, -1.5f, 2.0f); },
      [](S s, std::size_t k, double) {
        const double u = (static_cast<double>(s.bits(k) >> 32) + 0.5) * 0x1p-32;
        return -1.5 - 2 * std::log(-std::log(u));
      },
      d));
  return all;
}

DYNET_OP_TESTS("noise", noise_cases())

TEST_CASE("noise: mean and deviation are as asked for") {
  ComputationGraph g;
  g.set_seed(1);
  const auto check = [](const Tensor& t, double mean, double deviation) {
    double sum = 0, squares = 0;
    const std::size_t n = t.d.size();
    for (std::size_t k = 0; k < n; ++k) sum += static_cast<double>(t.v[k]);
    sum /= static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k) squares += std::pow(static_cast<double>(t.v[k]) - sum, 2);
    CHECK(sum == Approx(mean).margin(0.02));
    CHECK(std::sqrt(squares / static_cast<double>(n)) == Approx(deviation).margin(0.02));
  };
  check(random_normal(g, {100000}, 0.5f, 2.0f).value(), 0.5, 2);
  check(random_uniform(g, {100000}, -1, 3).value(), 1, 4 / std::sqrt(12.0));
  check(random_bernoulli(g, {100000}, 0.3f).value(), 0.3, std::sqrt(0.21));
  check(random_gumbel(g, {100000}).value(), 0.5772, 1.2825);  // Euler's constant, pi / root of 6
  check(random_gumbel(g, {100000}, 2.0f, 0.5f).value(), 2.2886, 0.6413);
  check(dropout_dim(constant(g, {2, 50000}, 1), 0, 0.2f).value(), 1, 0.5);
  check(dropout_batch(constant(g, Dim({2}, 50000), 1), 0.2f).value(), 1, 0.5);
  check(noise(constant(g, {100000}, 1), 0.5f).value(), 1, 0.5);
  check(dropout(constant(g, {100000}, 1), 0.2f).value(), 1, 0.5);
}

}  // namespace dynet::test
