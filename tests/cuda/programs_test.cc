// DyNet's programs on a device: nothing changes but the command line.

#include "dynet/dynet.h"
#include "dynet/expr.h"
#include "dynet/training.h"
#include "tests/cuda/device.h"
#include "tests/examples/program.h"

using namespace dynet;
using namespace dynet::test;

namespace {

using Words = std::vector<std::string>;

/// As before, whatever a test does.
struct CleanUp {
  ~CleanUp() { cleanup(); }
};

void initialize_with(Words words) {
  words.insert(words.begin(), {"program", "--dynet-seed=3"});
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  int argc = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  char** argv = pointers.data();
  initialize(argc, argv);
  CHECK(argc == 1);
}

/// The same words; numbers may differ a little.
void check_alike(const std::string& a, const std::string& b) {
  INFO(a << "\nand\n" << b);
  std::istringstream in_a(a), in_b(b);
  std::string x, y;
  while (in_a >> x) {
    REQUIRE(in_b >> y);
    char *end_x = nullptr, *end_y = nullptr;
    const double number = std::strtod(x.c_str(), &end_x), other = std::strtod(y.c_str(), &end_y);
    if (*end_x == 0 && *end_y == 0)
      CHECK(std::abs(number - other) <= 1e-3 + 0.02 * std::abs(number));
    else
      CHECK(x == y);
  }
  CHECK_FALSE(in_b >> y);
}

/// One of tests/compat/programs: where it was built, or where the environment says.
Program program(const std::string& name) {
  const char* const folder = std::getenv("DYNET_COMPAT_PROGRAMS");
  return {name, std::string(folder ? folder : COMPAT_PROGRAMS) + "/" + name};
}

}  // namespace

TEST_CASE("a DyNet program runs on the device that its command line names", "[cuda]") {
  const TemporaryFolder folder;
  for (const std::string name : {"rnnlm_batch", "textcat", "vae", "xor", "xor_batch"}) {
    const Program there_and_here = program(name);
#ifdef DYNET_TEST_GPU
    if (!std::filesystem::exists(there_and_here.binary)) {
      skip(there_and_here.binary + " was not brought here");
      continue;
    }
#endif
    const Result here = there_and_here.run(folder, {"--dynet-seed=5"});
    const Result there = there_and_here.run(folder, {"--dynet-seed=5", "--dynet-devices", "GPU:0"});
    INFO(name << here.err << there.err);
    REQUIRE(here.code == 0);
    REQUIRE(there.code == 0);
    check_alike(here.out, there.out);
#ifndef DYNET_TEST_GPU
    CHECK(contains(here.err, "kernels: 0\n"));
    CHECK(!contains(there.err, "kernels: 0\n"));
#endif
  }
}

TEST_CASE("a DyNet program has its layers on two devices", "[cuda]") {
  const TemporaryFolder folder;
  const Result result = program("xor_multidevice").run(folder, {"--dynet-seed=5"});
  INFO(result.out << result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "device GPU:0\n"));
  CHECK_FALSE(contains(result.out, "no GPU"));
  const std::size_t at = result.out.find("E = ");
  REQUIRE(at != std::string::npos);
  CHECK(std::strtod(result.out.c_str() + at + 4, nullptr) < 0.01);
#ifndef DYNET_TEST_GPU
  CHECK_FALSE(contains(result.err, "kernels: 0\n"));
#endif
}

TEST_CASE("DyNet's flags choose where graphs are made", "[cuda]") {
  const CleanUp clean;
  // Only there does a number have to be fetched.
  const auto where = [] {
    ComputationGraph cg;
    const Expression x = input(cg, {2}, {1, 2});
    const float* const v = x.value().v;
    return x.value().v == v ? &kCpu : gpu();
  };
  const auto check = [&](const Words& words, Device* device) {
    initialize_with(words);
    CHECK(default_device == device);
    CHECK(get_device_manager()->get_global_device("") == device);
    CHECK(where() == device);
  };
  CHECK(where() == &kCpu);
  check({}, &kCpu);
  check({"--dynet-gpus", "1"}, gpu());
  check({}, &kCpu);
  check({"--dynet-devices", "GPU:0"}, gpu());
  check({"--dynet-devices", "CPU,GPU:0"}, &kCpu);
  check({"--dynet-devices=GPU:0,CPU"}, gpu());
  check({"--dynet-gpus=0"}, &kCpu);
  check({"--dynet-gpus=1"}, gpu());
  release_graph_memory();
  CHECK(where() == gpu());
  {  // unless told otherwise
    ComputationGraph cg;
    cg.set_device(&kCpu);
    const Expression x = input(cg, {2}, {1, 2});
    const float* const v = x.value().v;
    CHECK(values(x) == Floats{1, 2});
    CHECK(x.value().v == v);
  }
  for (const Words& words : {Words{"--dynet-gpus=99"}, Words{"--dynet-devices=CPU,GPU:99"}}) try {
      initialize_with(words);
      FAIL("nothing was thrown");
    } catch (const ArgumentError& e) {
      CHECK_THAT(e.what(), Catch::Contains("initialize: there is no device GPU:98, ") ||
                               Catch::Contains("initialize: there is no device GPU:99, "));
      CHECK_THAT(e.what(), Catch::Contains("there is: CPU, GPU:0"));
      CHECK(where() == gpu());  // as before
    }
  cleanup();
  CHECK(where() == &kCpu);
}
