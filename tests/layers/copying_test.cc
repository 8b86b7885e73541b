#include "dynet-like/io/dict.h"
#include "tests/layers/naive_transformer.h"
#include "tests/support/all_values.h"

namespace copying_test {

using namespace dynet;
using naive::numbers;
using naive::part;
using naive::Vector;
using Numbers = std::vector<unsigned>;

namespace {

constexpr unsigned kWords = 5, kOthers = 2;
const float kNever = -INFINITY;

/// The formula, word by word.
Vector mixture(float gate, const std::vector<float>& scores, std::vector<float> attention,
               const Numbers& source) {
  attention.resize(source.size());  // what lies behind is padding
  const double g = naive::logistic(double(gate));
  Vector p = naive::softmax_of(naive::to_double(scores));
  p.resize(kWords + kOthers);
  for (double& x : p) x *= g;
  const Vector a = naive::softmax_of(naive::to_double(attention));
  for (std::size_t i = 0; i < source.size(); ++i) p[source[i]] += (1 - g) * a[i];
  return p;
}

}  // namespace

TEST_CASE("copying: log-probabilities of single words and of all of them") {
  ComputationGraph cg;
  const Numbers source = {3, 6, 0, 3, 5, 6};
  const std::vector<float> scores = numbers(kWords, 1), attention = numbers(6, 2);
  for (const float gate : {-2.0f, 0.3f, 5.0f}) {
    const Expression z = input(cg, gate), s = input(cg, {kWords}, scores),
                     a = input(cg, {6}, attention);
    const Vector p = mixture(gate, scores, attention, source);
    const Expression all = copy_log_distribution(z, s, a, source, kOthers);
    CHECK(all.dim() == Dim({kWords + kOthers}));
    const std::vector<float> logs = as_vector(all.value());
    double sum = 0;
    for (unsigned w = 0; w < kWords + kOthers; ++w) {
      const Expression one = copy_log_prob(z, s, a, {source}, {w});
      CHECK(one.dim() == Dim({1}));
      CHECK(as_scalar(one.value()) == Approx(std::log(p[w])).margin(1e-6));
      CHECK(logs[w] == Approx(std::log(p[w])).margin(1e-6));
      sum += std::exp(double(logs[w]));
    }
    CHECK(sum == Approx(1));
  }
}

TEST_CASE("copying: batches with sources of several lengths") {
  ComputationGraph cg;
  const std::vector<Numbers> sources = {{3, 6, 0, 3}, {5}, {6, 2, 5}};
  const Numbers targets = {3, 5, 4};
  const std::vector<float> gates = {0.5f, -1, 2};
  const std::vector<float> scores = numbers(kWords * 3, 1), attention = numbers(12, 2);
  const auto mixture_of = [&](std::size_t k, const Numbers& source) {
    return mixture(gates[k], part(scores, kWords * k, kWords * (k + 1)),
                   part(attention, 4 * k, 4 * (k + 1)), source);
  };
  const Expression z = input(cg, Dim({1}, 3), gates), s = input(cg, Dim({kWords}, 3), scores),
                   a = input(cg, Dim({4}, 3), attention);
  const Expression logs = copy_log_prob(z, s, a, sources, targets);
  CHECK(logs.dim() == Dim({1}, 3));
  for (unsigned k = 0; k < 3; ++k) {
    const Vector p = mixture_of(k, sources[k]);
    CHECK(as_vector(logs.value())[k] == Approx(std::log(p[targets[k]])).margin(1e-6));
  }
  // Several targets of one state; one source, or one target, for all.
  const Expression first = pick_batch_elem(s, 0u), looks = pick_batch_elem(a, 0u);
  const Vector p = mixture_of(0, sources[0]);
  const Expression many = copy_log_prob(input(cg, 0.5f), first, looks, {sources[0]}, {0, 3, 6});
  CHECK(many.dim() == Dim({1}, 3));
  for (unsigned k = 0; k < 3; ++k)
    CHECK(as_vector(many.value())[k] == Approx(std::log(p[3 * k])).margin(1e-6));
  const Expression shared = copy_log_prob(z, s, a, {sources[0]}, {6});
  for (unsigned k = 0; k < 3; ++k)
    CHECK(as_vector(shared.value())[k] ==
          Approx(std::log(mixture_of(k, sources[0])[6])).margin(1e-6));
  const Expression all = copy_log_distribution(z, s, a, sources[0], kOthers);
  CHECK(all.dim() == Dim({kWords + kOthers}, 3));
  for (unsigned k = 0; k < 3; ++k)
    CHECK(as_vector(all.value().batch_elem(k))[6] ==
          Approx(as_vector(shared.value())[k]).margin(1e-6));
  // Nothing to be added to the vocabulary.
  const Expression plain = copy_log_distribution(z, s, a, {3, 0, 0, 4}, 0);
  CHECK(plain.dim() == Dim({kWords}, 3));
  CHECK(as_scalar(sum_batches(sum_elems(exp(plain))).value()) == Approx(3));
}

TEST_CASE("copying: gradients") {
  ParameterCollection model;
  const Parameter gate = model.add_parameters({1}), scores = model.add_parameters({kWords}),
                  attention = model.add_parameters({4});
  naive::spread(model);
  const Numbers source = {3, 6, 0, 3};
  ComputationGraph cg;
  const Expression z = parameter(cg, gate), s = parameter(cg, scores), a = parameter(cg, attention);
  // In both, in the vocabulary only, in the source only; of all.
  for (const Expression& loss :
       {copy_log_prob(z, s, a, {source}, {3}), copy_log_prob(z, s, a, {source}, {1}),
        copy_log_prob(z, s, a, {source}, {6}),
        sum_batches(copy_log_prob(z, s, a, {source, {5}, {1, 2}}, {3, 5, 0})),
        dot_product(copy_log_distribution(z, s, a, {3, 6, 5, 3}, kOthers),
                    input(cg, {kWords + kOthers}, numbers(kWords + kOthers, 3)))}) {
    check_slopes(loss, 3);
  }
}

TEST_CASE("copying: copy_log_prob is exact for absent words and extreme scores") {
  ParameterCollection model;
  const Parameter gate = model.add_parameters({1}), scores = model.add_parameters({kWords}),
                  attention = model.add_parameters({3});
  naive::spread(model);
  ComputationGraph cg;
  const Expression z = parameter(cg, gate), s = parameter(cg, scores), a = parameter(cg, attention);
  // In neither: minus infinity, without gradients.
  const Expression neither = copy_log_prob(z, s, a, {{0, 1, 5}}, {6});
  CHECK(as_scalar(neither.value()) == kNever);
  cg.backward(neither);
  for (const float g : test::all_gradients(model)) CHECK(g == 0);
  // As one of a batch it leaves the others' gradients as they are.
  model.reset_gradient();
  cg.backward(pick_batch_elem(copy_log_prob(z, s, a, {{0, 1, 5}}, {5, 6}), 0u));
  const std::vector<float> beside = as_vector(gate.gradients());
  CHECK(beside[0] < 0);
  model.reset_gradient();
  cg.backward(copy_log_prob(z, s, a, {{0, 1, 5}}, {5}));
  CHECK(as_vector(gate.gradients()) == beside);
  // A gate that is closed, or open, as far as floats go.
  const Expression closed = input(cg, 200), open = input(cg, -200);
  const double generated = as_vector(log_softmax(s).value())[1];
  const double copied = as_vector(log_softmax(a).value())[2];
  CHECK(as_scalar(copy_log_prob(closed, s, a, {{0, 1, 5}}, {5}).value()) == Approx(copied - 200));
  CHECK(as_scalar(copy_log_prob(open, s, a, {{0, 2, 5}}, {1}).value()) == Approx(generated - 200));
  // Attention that some positions are not to get.
  const Expression masked = input(cg, {3}, {0, kNever, kNever});
  CHECK(as_scalar(copy_log_prob(open, s, masked, {{0, 1, 5}}, {0}).value()) ==
        Approx(0).margin(1e-6));
  CHECK(as_scalar(copy_log_prob(open, s, masked, {{0, 1, 5}}, {5}).value()) == kNever);
}

TEST_CASE("copying: a source extends the vocabulary by its own words") {
  Dict dict(std::vector<std::string>{"<unk>", "the", "cat"});
  CHECK_THROWS_WITH(extend_vocabulary(dict, {"the"}), Catch::Contains("frozen"));
  dict.freeze();
  dict.set_unk("<unk>");
  const ExtendedSource source = extend_vocabulary(dict, {"the", "gnu", "cat", "emu", "gnu"});
  CHECK(source.numbers == Numbers{1, 3, 2, 4, 3});
  CHECK(source.others == std::vector<std::string>{"gnu", "emu"});
  CHECK(extend_vocabulary(dict, {}).numbers.empty());
}

TEST_CASE("coverage: add sums attention and returns the coverage loss") {
  ParameterCollection model;
  const Parameter scores = model.add_parameters({3});
  naive::spread(model);
  ComputationGraph cg;
  Coverage coverage(cg, 3);
  CHECK(as_vector(coverage.vector().value()) == std::vector<float>(3, 0.0f));
  CHECK(as_scalar(coverage.add(input(cg, {3}, {0.5f, 0.25f, 0.25f})).value()) == 0);
  Coverage other = coverage;
  CHECK(as_scalar(coverage.add(input(cg, {3}, {0, 0.75f, 0.25f})).value()) == 0.5f);
  CHECK(as_vector(coverage.vector().value()) == std::vector<float>{0.5f, 1, 0.5f});
  CHECK(as_vector(other.vector().value()) == std::vector<float>{0.5f, 0.25f, 0.25f});
  const Expression batch = other.add(input(cg, Dim({3}, 2), {1, 0, 0, 0, 1, 0}));
  CHECK(as_vector(batch.value()) == std::vector<float>{0.5f, 0.25f});
  const Expression weights = softmax(parameter(cg, scores));
  Coverage trained(cg, 3);
  trained.add(weights);
  check_slopes(trained.add(cmult(weights, input(cg, {3}, {0.5f, 2, 0.25f}))), 1);
  CHECK_THROWS_AS(Coverage(cg, 0), ArgumentError);
  CHECK_THROWS_AS(other.add(input(cg, {2}, {1, 0})), ShapeError);
  CHECK(as_vector(other.vector().value()).size() == 6);
}

TEST_CASE("copying: a gate is one number") {
  ParameterCollection model;
  CHECK_THROWS_AS(CopyGate(model, {0}), ArgumentError);
  CHECK(model.parameters_list().empty());
  CopyGate layer(model, {3});
  naive::spread(model);
  ComputationGraph cg;
  const std::vector<float> x = numbers(3, 4);
  layer.new_graph(cg);
  const Expression gate = layer.apply(input(cg, {3}, x));
  CHECK(gate.dim() == Dim({1}));
  naive::Reader reader(model);
  CHECK(naive::difference(reader.linear({naive::to_double(x)}, true), as_vector(gate.value())) <
        1e-6);
}

TEST_CASE("copying: wrong arguments throw") {
  ComputationGraph cg;
  const Expression z = input(cg, 0), s = zeros(cg, {kWords}), a = zeros(cg, {3});
  const auto prob = [&](const std::vector<Numbers>& sources, const Numbers& targets) {
    return copy_log_prob(z, s, a, sources, targets);
  };
  CHECK_THROWS_WITH(prob({{0, 1, 2, 3}}, {0}), Catch::Contains("at most the 3"));
  CHECK_THROWS_AS(prob({{}}, {0}), ArgumentError);
  CHECK_THROWS_WITH(prob({{0}, {1}}, {0, 1, 2}), Catch::Contains("one of the sources"));
  CHECK_THROWS_WITH(prob({{0}, {1}, {2}}, {0, 1}), Catch::Contains("one of the targets"));
  CHECK_THROWS_AS(prob({}, {0}), ArgumentError);
  CHECK_THROWS_AS(prob({{0}}, {}), ArgumentError);
  CHECK_THROWS_AS(copy_log_prob(a, s, a, {{0}}, {0}), ShapeError);
  CHECK_THROWS_AS(copy_log_prob(z, zeros(cg, {2, 2}), a, {{0}}, {0}), ShapeError);
  CHECK_THROWS_AS(copy_log_prob(z, s, zeros(cg, {2, 2}), {{0}}, {0}), ShapeError);
  CHECK_THROWS_WITH(copy_log_distribution(z, s, a, {0, 1}, 0), Catch::Contains("got 2"));
  CHECK_THROWS_WITH(copy_log_distribution(z, s, a, {0, 1, 6}, 1),
                    Catch::Contains("word 6 of the source"));
  CHECK_NOTHROW(copy_log_distribution(z, s, a, {0, 1, 5}, 1));
}

}  // namespace copying_test
