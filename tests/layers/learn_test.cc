// Whole trainings, small and from a fixed seed.

#include <fstream>

#include "tests/support/prelude.h"

namespace learn_test {

namespace {

// The lines between the two marks are those of the opening comment of dynet.h.
// clang-format off
template <class Check>
void run_first_program(Check check) {
  // begin
  dynet::ParameterCollection model;
  dynet::AdamTrainer trainer(model, 0.05f);
  dynet::Parameter W = model.add_parameters({8, 2}), b = model.add_parameters({8});
  dynet::Parameter V = model.add_parameters({1, 8}), a = model.add_parameters({1});
  for (int i = 0; i < 4000; ++i) {
    dynet::ComputationGraph cg;  // a new graph for each sample
    const float x1 = i % 2, x2 = i / 2 % 2;
    dynet::Expression x = dynet::input(cg, {2}, {x1, x2});
    dynet::Expression h = dynet::tanh(dynet::parameter(cg, W) * x + dynet::parameter(cg, b));
    dynet::Expression y = dynet::parameter(cg, V) * h + dynet::parameter(cg, a);
    cg.backward(dynet::squared_distance(y, dynet::input(cg, x1 != x2)));
    trainer.update();
  }
  // end
  check(W, b, V, a);
}
// clang-format on

std::string first_line_from(const std::string& line, std::size_t indent) {
  return line.size() > indent ? line.substr(indent) : "";
}

}  // namespace

using namespace dynet;

TEST_CASE("the first program learns exclusive or") {
  run_first_program([](Parameter& W, Parameter& b, Parameter& V, Parameter& a) {
    for (const float x1 : {0.0f, 1.0f})
      for (const float x2 : {0.0f, 1.0f}) {
        ComputationGraph g;
        const Expression h = tanh(parameter(g, W) * input(g, {2}, {x1, x2}) + parameter(g, b));
        const float y = as_scalar((parameter(g, V) * h + parameter(g, a)).value());
        CHECK(std::abs(y - (x1 != x2 ? 1.0f : 0.0f)) < 0.1f);
      }
  });
}

TEST_CASE("the first program is the one in the opening comment of dynet.h") {
  const std::string here = __FILE__;
  const std::string tests = "tests/layers/learn_test.cc";
  REQUIRE(here.size() > tests.size());
  const std::string root = here.substr(0, here.size() - tests.size());
  std::ifstream header(root + "dynet-like/dynet.h"), source(here);
  if (!header || !source) {
    skip("the sources are not where they were compiled");
    return;
  }
  std::vector<std::string> shown, run;
  std::string line;
  while (std::getline(header, line))
    if (line.rfind("///     ", 0) == 0) shown.push_back(first_line_from(line, 8));
  bool inside = false;
  while (std::getline(source, line)) {
    if (line == "  // end") break;
    if (inside) run.push_back(first_line_from(line, 2));
    inside = inside || line == "  // begin";
  }
  CHECK(shown.size() > 10);
  CHECK(shown == run);
}

namespace {

const char kText[] =
    "in the beginning was the word and the word was with the reader and the word was good ";

struct LanguageModel {
  ParameterCollection pc;
  LookupParameter letters;
  Parameter w, b;
  VanillaLSTMBuilder lstm;

  LanguageModel() : lstm(make()) {}
  VanillaLSTMBuilder make() {
    pc.set_seed(11);
    letters = pc.add_lookup_parameters(27, {12});
    w = pc.add_parameters({27, 24});
    b = pc.add_parameters({27});
    return VanillaLSTMBuilder(1, 12, 24, pc);
  }
  static unsigned letter(std::size_t i) {
    const char c = kText[i % (sizeof kText - 1)];
    return c == ' ' ? 26u : static_cast<unsigned>(c - 'a');
  }
  /// The mean loss of a letter in texts of `length` letters from each place, in one batch.
  Expression loss(ComputationGraph& g, const std::vector<std::size_t>& from, std::size_t length) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    const Expression W = parameter(g, w), B = parameter(g, b);
    std::vector<Expression> losses;
    for (std::size_t t = 0; t < length; ++t) {
      std::vector<unsigned> now, next;
      for (std::size_t start : from) {
        now.push_back(letter(start + t));
        next.push_back(letter(start + t + 1));
      }
      const Expression h = lstm.add_input(lookup(g, letters, now));
      losses.push_back(pickneglogsoftmax(affine_transform({B, W, h}), next));
    }
    return sum_batches(average(losses)) / static_cast<float>(from.size());
  }
};

}  // namespace

TEST_CASE("an LSTM language model learns its text, the same way every time") {
  std::vector<float> curves[2];
  for (auto& curve : curves) {
    LanguageModel m;
    AdamTrainer trainer(m.pc, 0.01f);
    for (std::size_t step = 0; step < 200; ++step) {
      ComputationGraph g;
      const Expression loss = m.loss(g, {step * 7, step * 13 + 5, step * 3 + 40}, 20);
      curve.push_back(as_scalar(loss.value()));
      g.backward(loss);
      trainer.update();
    }
  }
  CHECK(curves[0].front() == Approx(std::log(27.0)).margin(0.4));
  CHECK(curves[0].back() < 0.7f);
  CHECK(curves[0] == curves[1]);
}

}  // namespace learn_test
