// Start-up: flags, seeds, what is set for the process.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/globals.h"
#include "dynet/training.h"
#include "tests/io/folder.h"
#include "tests/support/catch.h"

namespace process_test {

using namespace dynet;

namespace {

/// A command line that may be changed.
struct CommandLine {
  explicit CommandLine(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "program");
    for (std::string& w : words_) pointers_.push_back(w.data());
    pointers_.push_back(nullptr);
    argc = static_cast<int>(words_.size());
    argv = pointers_.data();
  }
  std::vector<std::string> left() const { return {argv + 1, argv + argc}; }

  int argc;
  char** argv;

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

using Words = std::vector<std::string>;

DynetParams extract(const Words& words) {
  CommandLine line(words);
  return extract_dynet_params(line.argc, line.argv);
}

/// Puts things back, whatever a test does.
struct CleanUp {
  ~CleanUp() { cleanup(); }
};

std::vector<float> first_parameter() {
  ParameterCollection m;
  return as_vector(m.add_parameters({3, 3}).values());
}

std::vector<float> random_node() {
  ComputationGraph cg;
  return as_vector(random_normal(cg, {5}).value());
}

/// The GPUs that the mask asks for.
std::vector<int> asked(const DynetParams& p) {
  std::vector<int> all;
  for (std::size_t k = 0; k < p.gpu_mask.size(); ++k)
    if (p.gpu_mask[k] != 0) all.push_back(static_cast<int>(k));
  return all;
}

}  // namespace

TEST_CASE("flags are read in all spellings and taken out of the command line") {
  CommandLine line({"--dynet-seed", "7", "file", "--dynet_weight_decay=0.25",
                    "--dynet-mem=10,20,30,40", "-x", "--dynet_autobatch", "1",
                    "--dynet-profiling=2", "--dynet-gpus", "0", "--dynet-devices=CPU,GPU:1",
                    "--other=--dynet-seed"});
  const DynetParams p = extract_dynet_params(line.argc, line.argv, true);
  CHECK(line.left() == Words{"file", "-x", "--other=--dynet-seed"});
  CHECK(line.argv[line.argc] == nullptr);
  CHECK(p.random_seed == 7);
  CHECK(p.weight_decay == 0.25f);
  CHECK(p.mem_descriptor == "10,20,30,40");
  CHECK(p.autobatch == 1);
  CHECK(p.profiling == 2);
  CHECK(p.requested_gpus == 0);
  CHECK(p.ngpus_requested);
  CHECK(p.ids_requested);
  CHECK(p.cpu_requested);
  CHECK(asked(p) == std::vector<int>{1});
  CHECK(p.shared_parameters);
}

TEST_CASE("flags for several processes name what there is instead") {
  for (const char* flag : {"--dynet-distributed", "--dynet_distributed=1", "--dynet-lanes"})
    CHECK_THROWS_WITH(extract({flag, "8"}),
                      std::string(flag).substr(0, std::string(flag).find('=')) +
                          ": programs train in several processes by "
                          "dynet::DistributedTrainer");
}

TEST_CASE("without flags there are DyNet's defaults") {
  const DynetParams p = extract({});
  CHECK(p.random_seed == 0);
  CHECK(p.weight_decay == 0);
  CHECK(p.mem_descriptor == "512");
  CHECK(p.requested_gpus == -1);
  CHECK_FALSE(p.ids_requested);
  CHECK_FALSE(p.cpu_first);
}

TEST_CASE("the first device of the list is the first one") {
  CHECK(extract({"--dynet-devices", "CPU,GPU:0"}).cpu_first);
  CHECK(extract({"--dynet-devices", "CPU"}).cpu_first);
  const DynetParams p = extract({"--dynet-devices=GPU:2,CPU,GPU:0"});
  CHECK_FALSE(p.cpu_first);
  CHECK(asked(p) == std::vector<int>{0, 2});
  CHECK(p.first_gpu == 2);
}

TEST_CASE("the mask of GPUs counts if devices are asked for by number, and only then") {
  const CleanUp clean;
  DynetParams p;
  CHECK(asked(p).empty());
  p.random_seed = 3;
  p.gpu_mask.assign(256, 0);
  initialize(p);  // asks for none
  p.gpu_mask[99] = 1;
  initialize(p);
  CHECK(default_device == get_device_manager()->get_global_device("CPU"));
  p.ids_requested = true;
  CHECK_THROWS_AS(initialize(p), ArgumentError);
  p.gpu_mask[99] = 0;
  initialize(p);
}

TEST_CASE("a program may delete the generator and put another one there") {
  delete rndeng;
  rndeng = new std::mt19937(17);
  CHECK((*rndeng)() == std::mt19937(17)());
  CHECK(rand01() < 1);
  reset_rng(5);
  CHECK((*rndeng)() == std::mt19937(5)());
}

TEST_CASE("a wrong flag is refused and the command line stays") {
  const std::pair<Words, const char*> wrong[] = {
      {{"--dynet-seed"}, "--dynet-seed: needs a whole number"},
      {{"--dynet-seed", "x"}, "got \"x\""},
      {{"--dynet-seed=5x"}, "got \"5x\""},
      {{"--dynet-seed", "-1"}, "--dynet-seed"},
      {{"--dynet-seed=99999999999"}, "--dynet-seed"},
      {{"--dynet-weight-decay", "-0.5"}, "in [0, 1)"},
      {{"--dynet-weight-decay=nan"}, "in [0, 1)"},
      {{"--dynet-mem", "1,2"}, "or four"},
      {{"--dynet-mem", "much"}, "megabytes"},
      {{"--dynet-mem=1,2,3,"}, "megabytes"},
      {{"--dynet-autobatch=-1"}, "--dynet-autobatch"},
      {{"--dynet-profiling="}, "--dynet-profiling"},
      {{"--dynet_gpus", "two"}, "--dynet_gpus"},
      {{"--dynet-devices", "TPU:0"}, "CPU or GPU:0"},
      {{"--dynet-devices=GPU:"}, "number of a GPU"},
      {{"--dynet-memory=5"}, "is no flag"},
      {{"--dynet-"}, "is no flag"},
  };
  for (const auto& [words, message] : wrong) {
    CommandLine line(words);
    INFO(words[0]);
    CHECK_SAYS(ArgumentError, extract_dynet_params(line.argc, line.argv), message);
    CHECK(line.left() == words);
  }
}

TEST_CASE("initialize refuses GPUs and weight decays of one, and changes nothing then") {
  const CleanUp clean;
  DynetParams p;
  p.random_seed = 3;
  initialize(p);
  const unsigned before = std::mt19937(*rndeng)();
  for (const Words& words : {Words{"--dynet-gpus=99"}, Words{"--dynet-devices=GPU:99"},
                             Words{"--dynet-weight-decay=1"}}) {
    CommandLine line(words);
    CHECK_THROWS_AS(initialize(line.argc, line.argv), ArgumentError);
  }
  CHECK(default_device == get_device_manager()->get_global_device("CPU"));
  CHECK(std::mt19937(*rndeng)() == before);
}

TEST_CASE("a seed decides initial values, random nodes and rndeng") {
  const CleanUp clean;
  DynetParams p;
  const auto draw = [&](unsigned seed) {
    p.random_seed = seed;
    initialize(p);
    std::vector<float> all = first_parameter();
    for (const auto& more : {first_parameter(), random_node(), random_node()})
      all.insert(all.end(), more.begin(), more.end());
    all.push_back(rand01());
    return all;
  };
  const std::vector<float> one = draw(1), again = draw(1), two = draw(2);
  CHECK(one == again);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] != two[i]);
  // Two collections, and two graphs, differ.
  CHECK(std::vector<float>(one.begin(), one.begin() + 9) !=
        std::vector<float>(one.begin() + 9, one.begin() + 18));
  reset_rng(1);
  CHECK(first_parameter() == std::vector<float>(one.begin(), one.begin() + 9));
  draw(0);
  const float drawn = rand01();
  draw(0);
  CHECK(drawn != rand01());
}

TEST_CASE("before initialize and after cleanup the library has its own defaults") {
  const std::vector<float> before = first_parameter();
  {
    const CleanUp clean;
    DynetParams p;
    p.random_seed = 9;
    p.weight_decay = 0.5f;
    initialize(p);
    CHECK(first_parameter() != before);
    ParameterCollection m;
    CHECK(m.get_weight_decay_lambda() == 0.5f);
    CHECK(ParameterCollection(0.25f).get_weight_decay_lambda() == 0.25f);
    p.weight_decay = 0.125f;
    initialize(p);
    CHECK(ParameterCollection().get_weight_decay_lambda() == 0.125f);
  }
  CHECK(first_parameter() == before);
  CHECK(ParameterCollection().get_weight_decay_lambda() == 0);
  REQUIRE(rndeng != nullptr);
}

TEST_CASE("draws of rndeng have their distributions") {
  reset_rng(11);
  double uniform = 0, normal = 0, squares = 0;
  std::vector<int> counts(5);
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const float u = rand01(), z = rand_normal();
    CHECK((u >= 0 && u < 1));
    uniform += u / n;
    normal += z / n;
    squares += z * z / n;
    ++counts.at(static_cast<std::size_t>(rand0n(5)));
  }
  CHECK(uniform == Approx(0.5).margin(0.02));
  CHECK(normal == Approx(0).margin(0.04));
  CHECK(squares == Approx(1).margin(0.06));
  for (const int c : counts) CHECK(c == Approx(n / 5).margin(300));
  CHECK_THROWS_AS(rand0n(0), ArgumentError);
  CHECK(&get_rng() == rndeng);
}

TEST_CASE("nodes are found by their place in the graph") {
  ComputationGraph cg;
  ParameterCollection m;
  Parameter p = m.add_parameters({1}, ParameterInitConst(3));
  Expression x = parameter(cg, p), y = x * 2;
  CHECK(x.pg == &cg);
  const Expression same(&cg, y.i);
  CHECK(as_scalar(same.value()) == 6);
  CHECK(as_scalar(cg.forward(y.i)) == 6);
  CHECK(as_scalar(cg.incremental_forward(y.i)) == 6);
  CHECK(as_scalar(cg.get_value(x.i)) == 3);
  CHECK(cg.get_dimension(y.i) == Dim({1}));
  cg.backward(y.i);
  CHECK(as_scalar(cg.get_gradient(x.i)) == 2);
  CHECK(x.get_device_name() == "CPU");
  CHECK(cg.nodes.size() == 2);
  CHECK(cg.nodes[y.i]->dim == Dim({1}));
  CHECK(ComputationGraph().nodes.empty());
  CHECK_THROWS_AS(cg.nodes[2], IndexError);
  CHECK_THROWS_AS(Expression(&cg, 2), IndexError);
  CHECK_THROWS_AS(Expression(nullptr, 0), ArgumentError);
  CHECK_THROWS_AS(cg.get_value(17), IndexError);
}

TEST_CASE("an initializer in DyNet's form") {
  struct Counting : ParameterInit {
    void initialize_params(Tensor& values) const override {
      std::iota(values.v, values.v + values.d.size(), 1.0f);
    }
  };
  ParameterCollection m;
  CHECK(as_vector(m.add_parameters({3}, Counting()).values()) == std::vector<float>{1, 2, 3});
  float v[2];
  Tensor t{Dim({2}), v};
  CHECK_THROWS_AS(ParameterInitNormal().initialize_params(t), ArgumentError);
}

TEST_CASE("the forms that name a device") {
  ComputationGraph cg;
  ParameterCollection m;
  Device* cpu = default_device;
  CHECK(get_device_manager()->get(0) == cpu);
  CHECK(get_device_manager()->get_global_device("") == cpu);
  const std::string name = cpu->name;
  CHECK(name == "CPU");
  CHECK(cpu->device_id == 0);
  const float one = 1;
  const std::vector<float> v = {1, 2};
  CHECK(as_scalar(input(cg, 2.f, cpu).value()) == 2);
  CHECK(as_scalar(input(cg, &one, cpu).value()) == 1);
  CHECK(as_vector(input(cg, {2}, v, cpu).value()) == v);
  CHECK(as_vector(input(cg, {2}, &v, cpu).value()) == v);
  CHECK(as_vector(input(cg, {2}, {1}, {5.f}, 0.f, cpu).value()) == std::vector<float>{0, 5});
  CHECK(as_vector(one_hot(cg, 2, 1, cpu).value()) == std::vector<float>{0, 1});
  CHECK(as_scalar(zeros(cg, {1}, cpu).value()) == 0);
  CHECK(as_scalar(zeroes(cg, {1}, cpu).value()) == 0);
  CHECK(as_scalar(ones(cg, {1}, cpu).value()) == 1);
  CHECK(as_scalar(constant(cg, {1}, 3, cpu).value()) == 3);
  CHECK(as_scalar(random_normal(cg, {1}, 4, 0, cpu).value()) == 4);
  CHECK(as_scalar(random_bernoulli(cg, {1}, 1, 5, cpu).value()) == 5);
  CHECK(as_scalar(random_uniform(cg, {1}, 6, 6, cpu).value()) == 6);
  CHECK(as_scalar(random_gumbel(cg, {1}, 7, 0, cpu).value()) == 7);
  CHECK(m.add_parameters({2}, cpu).dim() == Dim({2}));
  CHECK(m.add_parameters({2}, "b", cpu).get_fullname() == "/b");
  CHECK(m.add_parameters({2}, 0.1, "c", cpu).get_fullname() == "/c");
  CHECK(m.add_parameters({2}, ParameterInitConst(1), "d", cpu).values()->v[0] == 1);
  CHECK(m.add_lookup_parameters(3, {2}, "e", cpu).size() == 3);
  CHECK(m.add_lookup_parameters(3, {2}, ParameterInitConst(1), "f", cpu).row(2).v[1] == 1);
  CHECK(m.add_parameters({2}, 0).dim() == Dim({2}));
  CHECK(as_scalar(input(cg, 2.f, default_device).value()) == 2);
  CHECK(m.add_parameters({2}, default_device).dim() == Dim({2}));
  CHECK(default_device->name == (*default_device).name);
  Device* const either = cg.nodes.empty() ? default_device : cpu;
  CHECK((either == default_device && default_device == cpu));
  Device* none = nullptr;
  CHECK_THROWS_AS(input(cg, 2.f, none), ArgumentError);
  CHECK_THROWS_AS(m.add_parameters({2}, none), ArgumentError);
}

TEST_CASE("lists of numbers are values, whatever else they might be") {
  ComputationGraph cg;
  Device* cpu = default_device;
  const auto values = [](const Expression& e) { return as_vector(e.value()); };
  CHECK(values(input(cg, {2}, {0, 0})) == std::vector<float>{0, 0});
  CHECK(values(input(cg, {2}, {0, 1})) == std::vector<float>{0, 1});
  CHECK(values(input(cg, {2}, {1, 0}, cpu)) == std::vector<float>{1, 0});
  CHECK(values(input(cg, {1}, {0})) == std::vector<float>{0});
  CHECK(values(input(cg, {1}, {0}, cpu)) == std::vector<float>{0});
  CHECK(values(input(cg, 0)) == std::vector<float>{0});
  CHECK(values(input(cg, {3}, {1}, {5})) == std::vector<float>{0, 5, 0});
  CHECK(values(input(cg, {3}, {1}, {5}, 2)) == std::vector<float>{2, 5, 2});
  CHECK(values(one_hot(cg, 2, 0)) == std::vector<float>{1, 0});
}

}  // namespace process_test
