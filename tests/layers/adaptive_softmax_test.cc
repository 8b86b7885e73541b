#include "tests/layers/naive_transformer.h"
#include "tests/layers/softmax_check.h"

namespace adaptive_softmax_test {

using namespace dynet;
using naive::kRep;
using naive::numbers;
using naive::softmax_of;
using naive::Vector;

namespace {

/// As the paper writes it, from the parameters one after another.
std::map<unsigned, double> distribution(const AdaptiveSoftmaxBuilder& softmax, const Vector& rep) {
  const AdaptiveSoftmaxBuilder::Settings& s = softmax.settings();
  naive::Reader reader(softmax.get_parameter_collection());
  const Vector head = softmax_of(reader.linear({rep}, s.bias)[0]);
  const unsigned first = s.cutoffs.empty() ? s.num_classes : s.cutoffs[0];
  CHECK(head.size() == first + s.cutoffs.size());
  std::map<unsigned, double> p;
  for (unsigned w = 0; w < first; ++w) p[w] = head[w];
  unsigned word = first;
  for (std::size_t i = 0; i < s.cutoffs.size(); ++i) {
    const naive::Matrix reduced = reader.linear({rep}, false);
    for (const double q : softmax_of(reader.linear(reduced, false)[0]))
      p[word++] = head[first + i] * q;
    CHECK(word == (i + 1 < s.cutoffs.size() ? s.cutoffs[i + 1] : s.num_classes));
  }
  CHECK(reader.done());
  return p;
}

}  // namespace

TEST_CASE("adaptive softmax: the probabilities of its definition") {
  for (const bool bias : {true, false})
    for (const std::vector<unsigned>& cutoffs : {std::vector<unsigned>{}, {3}, {1, 2, 6}, {8}}) {
      CAPTURE(bias, cutoffs);
      ParameterCollection model;
      AdaptiveSoftmaxBuilder softmax(model, {kRep, 9, cutoffs, 2, bias});
      naive::spread(model);
      naive::check_softmax(
          softmax, [&](const Vector& rep) { return distribution(softmax, rep); }, 9);
    }
}

TEST_CASE("adaptive softmax: without clusters it is the standard one, bit for bit") {
  ParameterCollection model, standard_model;
  AdaptiveSoftmaxBuilder softmax(model, {kRep, 7, {}});
  StandardSoftmaxBuilder standard(kRep, 7, standard_model);
  naive::spread(model);
  naive::spread(standard_model);
  ComputationGraph cg;
  cg.set_seed(3);
  softmax.new_graph(cg);
  standard.new_graph(cg);
  const Expression rep = input(cg, Dim({kRep}, 2), numbers(2 * kRep, 4));
  const auto same = [](const Expression& a, const Expression& b) {
    return as_vector(a.value()) == as_vector(b.value());
  };
  CHECK(same(softmax.full_log_distribution(rep), standard.full_log_distribution(rep)));
  CHECK(same(softmax.full_logits(rep), standard.full_logits(rep)));
  CHECK(same(softmax.neg_log_softmax(rep, {6, 0}), standard.neg_log_softmax(rep, {6, 0})));
}

TEST_CASE("adaptive softmax: a loss computes what its words need") {
  ParameterCollection model;
  AdaptiveSoftmaxBuilder softmax(model, {16, 100, {10, 40}});
  const auto sizes = [](const Parameter& p) { return std::pair(p.dim().rows(), p.dim().cols()); };
  const auto p = model.parameters_list();
  REQUIRE(p.size() == 6);
  CHECK(sizes(p[0]) == std::pair(12u, 16u));
  CHECK(sizes(p[2]) == std::pair(4u, 16u));
  CHECK(sizes(p[3]) == std::pair(30u, 4u));
  CHECK(sizes(p[4]) == std::pair(1u, 16u));
  CHECK(sizes(p[5]) == std::pair(60u, 1u));
  const auto outputs = [&](const std::vector<unsigned>& words) {
    ComputationGraph cg;
    softmax.new_graph(cg);
    const Expression rep = input(cg, Dim({16}, 3), numbers(48, 1));
    const std::size_t from = cg.size();
    softmax.neg_log_softmax(rep, words);
    std::size_t largest = 0;  // of scores, over the batch
    for (std::size_t k = from; k < cg.size(); ++k) {
      const Dim d = cg.nodes[k]->dim;
      if (d.rows() > 12) largest += d.size();
    }
    return largest;
  };
  CHECK(outputs({0, 9, 5}) == 0);
  CHECK(outputs({0, 10, 5}) >= 30);
  CHECK(outputs({0, 10, 5}) < 60);
  CHECK(outputs({99, 10, 5}) >= 90);
  CHECK(outputs({99, 10, 5}) < 150);
  ComputationGraph cg;
  softmax.new_graph(cg);
  const Expression rep = input(cg, Dim({16}, 4), numbers(64, 1));
  check_slopes(sum_batches(softmax.neg_log_softmax(rep, {3, 70, 20, 99})), 6);
}

TEST_CASE("adaptive softmax: settings, and what is wrong") {
  ParameterCollection model;
  using Settings = AdaptiveSoftmaxBuilder::Settings;
  const auto refused = [&](const Settings& s, const std::string& why) {
    CHECK_THROWS_WITH(AdaptiveSoftmaxBuilder(model, s), Catch::Contains(why));
  };
  refused({0, 4}, "got 0 and 4");
  refused({4, 0}, "got 4 and 0");
  refused({4, 9, {0}}, "got 0 behind 0");
  refused({4, 9, {3, 3}}, "got 3 behind 3");
  refused({4, 9, {3, 9}}, "got 9 behind 3 for 9 classes");
  refused({4, 9, {3}, 0.5f}, "at least one");
  refused({4, 9, {3}, INFINITY}, "finite");
  CHECK(model.parameters_list().empty());
  CHECK(AdaptiveSoftmaxBuilder(model, {4, 9, {3}, 1}).settings().shrink == 1);
  AdaptiveSoftmaxBuilder softmax(model, {4, 9, {3}});
  ComputationGraph cg;
  const Expression rep = input(cg, {4}, numbers(4, 1));
  naive::check_without_graph(softmax, rep);
  softmax.new_graph(cg);
  CHECK_THROWS_WITH(softmax.neg_log_softmax(rep, 9), Catch::Contains("no word 9 among 9"));
  CHECK_THROWS_AS(softmax.neg_log_softmax(rep, std::vector<unsigned>{}), ArgumentError);
  CHECK_THROWS_AS(softmax.neg_log_softmax(input(cg, {3}, {1, 2, 3}), 1), ShapeError);
}

}  // namespace adaptive_softmax_test
