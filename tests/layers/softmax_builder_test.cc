#include <fstream>

#include "tests/io/folder.h"
#include "tests/layers/cells.h"
#include "tests/layers/softmax_check.h"

namespace softmax_builder_test {

using namespace dynet;
using naive::check_softmax;
using naive::numbers;
using naive::Vector;

namespace {

using naive::kRep;

const char kClasses[] =
    "A the 10\n"
    "B cat\n"
    "\n"
    "A a 7\n"
    "C lonely\n"
    "B dog 3\n"
    "  B  mouse 1 \n";
// A word beside nodes, a node with one child, paths of four lengths.
const char kPaths[] =
    "0 0 the\n"
    "0 1 x cat\n"
    "1 lonely\n"
    "0 1 y a\n"
    "0 0 dog\n"
    "mouse2 mouse\n"
    "0 1 y deep bird\n";

/// The probability of each word as the definition has it, from the parameters by node.
struct Tree {
  std::vector<std::vector<int>> choices;
  std::map<int, std::pair<Vector, Vector>> weights;  // W column-major, b

  std::map<unsigned, double> distribution(const Vector& rep) const {
    std::map<unsigned, double> all;
    walk(0, 1, rep, all);
    return all;
  }
  void walk(int node, double p, const Vector& rep, std::map<unsigned, double>& all) const {
    const auto& c = choices[node];
    Vector scores(c.size(), 0.0);
    if (c.size() > 1) {
      const auto& [w, b] = weights.at(node);
      for (std::size_t i = 0; i < c.size(); ++i) {
        scores[i] = b.empty() ? 0 : b[i];
        for (unsigned j = 0; j < kRep; ++j) scores[i] += w[j * c.size() + i] * rep[j];
      }
    }
    const Vector q = naive::softmax_of(scores);
    for (std::size_t i = 0; i < c.size(); ++i)
      if (c[i] < 0)
        walk(-c[i], p * q[i], rep, all);
      else
        all[static_cast<unsigned>(c[i])] = p * q[i];
  }
};

Tree tree_of(const TreeSoftmaxBuilder& softmax) {
  Tree t{softmax.settings().choices, {}};
  const auto p = softmax.get_parameter_collection().parameters_list();
  std::size_t k = 0;
  for (std::size_t node = 0; node < t.choices.size(); ++node)
    if (t.choices[node].size() > 1) {
      auto& [w, b] = t.weights[static_cast<int>(node)];
      w = naive::values(p.at(k++));
      if (softmax.settings().bias) b = naive::values(p.at(k++));
    }
  CHECK(k == p.size());
  return t;
}

std::string write(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder / "clusters";
  std::ofstream(path) << text;
  return path;
}

template <class Builder>
void check_files(const std::string& name) {
  const TemporaryFolder folder;
  ParameterCollection pc;
  const auto problem = [&](const std::string& path, Dict& dict) {
    try {
      Builder(kRep, path, dict, pc);
    } catch (const FileError& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  Dict dict;
  const std::string path = folder / "clusters";
  CHECK(problem(folder / "none", dict) == name + ": cannot open " + (folder / "none"));
  CHECK_THAT(problem(write(folder, "A the\n\nA\n"), dict), Catch::Contains(path + ":3: needs "));
  CHECK_THAT(problem(write(folder, "A the\nB dog\nC the\n"), dict),
             Catch::Contains(path + ":3: the word the comes twice"));
  CHECK(problem(write(folder, "\n \n"), dict) == name + ": " + path + " has no words");
  CHECK(pc.size() == 0);
  // A frozen dictionary decides which words there are.
  Dict frozen;
  frozen.convert("dog");
  frozen.convert("unused");
  frozen.convert("the");
  frozen.freeze();
  Builder some(kRep, write(folder, "A the\nB dog\nB bird\nC fish\n"), frozen, pc);
  CHECK(frozen.size() == 3);
  ComputationGraph g;
  const Expression rep = input(g, {kRep}, numbers(kRep, 1));
  naive::check_without_graph(some, rep);
  some.new_graph(g);
  const auto logs = as_vector(some.full_log_distribution(rep).value());
  CHECK(std::exp(logs[0]) + std::exp(logs[2]) == Approx(1));
  CHECK(std::isinf(logs[1]));
  CHECK_THROWS_AS(some.neg_log_softmax(rep, 1u), ArgumentError);
  CHECK_THROWS_WITH(some.neg_log_softmax(rep, 1u), Catch::Contains("word 1 is in no cluster"));
  // One word in all is certain.
  Dict single;
  Builder certain(kRep, write(folder, "A the\n"), single, pc);
  certain.new_graph(g);
  CHECK(as_scalar(certain.neg_log_softmax(rep, 0u).value()) == 0);
  CHECK(certain.sample(rep) == 0);
  CHECK(as_vector(certain.full_log_distribution(rep).value()) == std::vector<float>{0});
}

}  // namespace

TEST_CASE("a standard softmax gives the probabilities of its definition") {
  for (const bool bias : {true, false}) {
    ParameterCollection pc;
    StandardSoftmaxBuilder softmax(kRep, 4, pc, bias);
    naive::spread(pc);
    CHECK(pc.size() == (bias ? 2 : 1));
    const auto p = pc.parameters_list();
    Tree t{{{0, 1, 2, 3}}, {}};
    t.weights[0] = {naive::values(p[0]), bias ? naive::values(p[1]) : Vector()};
    check_softmax(
        softmax, [&](const Vector& rep) { return t.distribution(rep); }, 4);
    // Over the same parameters.
    StandardSoftmaxBuilder shared =
        bias ? StandardSoftmaxBuilder(p[0], p[1]) : StandardSoftmaxBuilder(p[0]);
    check_softmax(
        shared, [&](const Vector& rep) { return t.distribution(rep); }, 4);
    CHECK(shared.get_parameter_collection().size() == 0);
    CHECK(shared.settings().num_classes == 4);
    CHECK(shared.settings().rep_dim == kRep);
    CHECK(shared.settings().bias == bias);
  }
  ParameterCollection pc;
  auto W = pc.add_parameters({3, 2}), b = pc.add_parameters({2});
  CHECK_THROWS_AS(StandardSoftmaxBuilder(W, b), ShapeError);
  CHECK_THROWS_AS(StandardSoftmaxBuilder(b), ShapeError);
}

TEST_CASE("a class-factored softmax gives the probabilities of its definition") {
  const TemporaryFolder folder;
  for (const bool bias : {true, false}) {
    ParameterCollection pc;
    Dict dict;
    dict.convert("unclustered");
    ClassFactoredSoftmaxBuilder softmax(kRep, write(folder, kClasses), dict, pc, bias);
    naive::spread(pc);
    REQUIRE(dict.size() == 7);
    const Tree t = tree_of(softmax);
    CHECK(t.choices.size() == 4);
    check_softmax(
        softmax, [&](const Vector& rep) { return t.distribution(rep); }, 7);

    ComputationGraph g;
    softmax.new_graph(g);
    const auto values = numbers(kRep, 3);
    const Expression rep = input(g, {kRep}, values);
    const auto p = t.distribution(naive::to_double(values));
    const auto classes = as_vector(softmax.class_log_distribution(rep).value());
    REQUIRE(classes.size() == 3);
    CHECK(std::exp(classes[2]) ==
          Approx(p.at(static_cast<unsigned>(dict.convert("lonely")))).epsilon(1e-5));
    const auto dog = static_cast<unsigned>(dict.convert("dog"));
    const auto b = as_vector(softmax.subclass_log_distribution(rep, 1).value());
    REQUIRE(b.size() == 3);  // cat, dog, mouse
    CHECK(std::exp(classes[1] + b[1]) == Approx(p.at(dog)).epsilon(1e-5));
    CHECK(softmax.class_logits(rep).dim() == Dim({3}));
    CHECK(softmax.subclass_logits(rep, 0).dim() == Dim({2}));
    CHECK(as_vector(softmax.subclass_log_distribution(rep, 2).value()) == std::vector<float>{0});
    CHECK_THROWS_AS(softmax.subclass_logits(rep, 3), ArgumentError);
    // Made again without the file.
    ParameterCollection other;
    auto wrong = softmax.settings();
    for (const auto& choices :
         std::vector<std::vector<std::vector<int>>>{{}, {{-1}, {-1}}, {{7}}, {{-1}, {}}}) {
      wrong.choices = choices;
      CHECK_THROWS_AS(ClassFactoredSoftmaxBuilder(other, wrong), ArgumentError);
    }
  }
}

TEST_CASE("a hierarchical softmax gives the probabilities of its definition") {
  const TemporaryFolder folder;
  ParameterCollection pc;
  Dict dict;
  HierarchicalSoftmaxBuilder softmax(kRep, write(folder, kPaths), dict, pc);
  naive::spread(pc);
  REQUIRE(dict.size() == 7);
  const Tree t = tree_of(softmax);
  check_softmax(
      softmax, [&](const Vector& rep) { return t.distribution(rep); }, 7);
}

TEST_CASE("cluster files with mistakes are refused, and a frozen dictionary chooses") {
  check_files<ClassFactoredSoftmaxBuilder>("ClassFactoredSoftmaxBuilder");
  check_files<HierarchicalSoftmaxBuilder>("HierarchicalSoftmaxBuilder");
  const TemporaryFolder folder;
  ParameterCollection pc;
  Dict dict;
  CHECK_THROWS_AS(ClassFactoredSoftmaxBuilder(kRep, write(folder, "A the 1 more\n"), dict, pc),
                  FileError);
}

}  // namespace softmax_builder_test
