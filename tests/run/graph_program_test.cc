// Random programs have the same values in every mode. DYNET_RANDOM_PROGRAMS is the number of
// programs.

#include "tests/support/graph_program.h"

#include <cstdlib>
#include <fstream>

#include "tests/support/prelude.h"

namespace graph_program_test {

using namespace dynet;

namespace {

std::uint64_t programs() {
  const char* const number = std::getenv("DYNET_RANDOM_PROGRAMS");
  return number ? std::strtoull(number, nullptr, 10) : 300;
}

constexpr unsigned kWidths[] = {2, 3, 4, 5, 16};

void compare(const GraphProgram& program, std::uint64_t seed, const GraphMode& base,
             const std::vector<GraphMode>& others, SameBits same) {
  const GraphLog expected = run_program(program, Choices(seed), base);
  for (const GraphMode& mode : others) {
    const std::string difference =
        first_difference(expected, run_program(program, Choices(seed), mode), same);
    INFO("seed " << seed << ", width " << program.width << ", " << base.name << " and "
                 << mode.name);
    CHECK(difference == "");
  }
}

}  // namespace

TEST_CASE("random programs have the same values in every mode") {
  const GraphMode unbatched{.name = "unbatched", .batched = false};
  const GraphMode batched{.name = "batched"};
  // Modes with the same batches have gradients of the same bits.
  const std::vector<GraphMode> same_batches = {
      {.name = "batched again"},
      {.name = "interleaved", .interleaved = true},
      {.name = "checked", .check = true},
      {.name = "numbered gradient buffer", .gradient_buffer = 3},
  };
  const std::vector<GraphMode> other_batches = {
      batched,
      {.name = "immediate", .immediate = true},
      {.name = "unbatched and interleaved", .batched = false, .interleaved = true},
      {.name = "value by value", .asks = true},
  };
  // Node by node all gradients are summed in one order.
  const std::vector<GraphMode> same_order = {
      {.name = "unbatched and immediate", .batched = false, .immediate = true},
      {.name = "unbatched, value by value", .batched = false, .asks = true},
  };
  // Values that are computed again are made of what there is now.
  const std::vector<GraphMode> steady = {
      {.name = "inference", .inference = true},
      {.name = "inference, value by value", .inference = true, .asks = true},
      {.name = "switching", .switching = true},
  };
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    const GraphProgram program{.width = kWidths[seed % 5], .actions = 30, .changes = seed % 2 == 1};
    compare(program, seed, batched, same_batches, SameBits::all);
    compare(program, seed, {.name = "full", .full = true}, {{.name = "full again", .full = true}},
            SameBits::all);
    compare(program, seed, unbatched, other_batches, SameBits::values);
    compare(program, seed, unbatched, same_order, SameBits::all);
    if (!program.changes) compare(program, seed, unbatched, steady, SameBits::values);
  }
}

TEST_CASE("random programs over wide vectors have the same bits in a second run") {
  for (std::uint64_t seed = 0; seed < programs() / 10; ++seed) {
    const GraphProgram program{.width = 80, .actions = 40, .changes = seed % 2 == 1};
    compare(program, 100'000 + seed, {.name = "once"},
            {{.name = "again"}, {.name = "interleaved", .interleaved = true}}, SameBits::all);
    if (!program.changes)
      compare(program, 100'000 + seed, {.name = "once"}, {{.name = "switching", .switching = true}},
              SameBits::values);
  }
}

TEST_CASE("gradients of random graphs are the slopes of the loss") {
  int checked = 0;
  for (std::uint64_t seed = 3000; seed < 3040; ++seed) {
    CAPTURE(seed);
    const unsigned h = kWidths[seed % 4];
    RandomGraph::Model model(h);
    ComputationGraph g;
    g.set_seed(seed);
    RandomGraph random(g, model, h, seed);
    const Expression loss = random.build();
    // nobackprop and const_lookup stop gradients on purpose.
    bool whole = true;
    for (const Node& n : g.store().nodes) {
      const std::string name(n.form->name.value);
      whole = whole && name != "nobackprop" && name != "const_lookup";
    }
    if (!whole) continue;
    ++checked;
    const GradientReport report = check_gradients(loss, {.max_elements = 30});
    INFO(report);
    CHECK(report.ok(2e-5));
  }
  CHECK(checked >= 5);
}

// Output for tools/compare-builds.
TEST_CASE("random programs write their answers to a file") {
  const char* const path = std::getenv("DYNET_ANSWERS");
  if (!path) return skip("DYNET_ANSWERS names no file");
  std::ofstream file(path);
  file << std::hexfloat;
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    const GraphProgram program{.width = kWidths[seed % 5], .actions = 30, .changes = seed % 2 == 1};
    for (const GraphMode& mode :
         {GraphMode{.name = "batched"}, GraphMode{.name = "unbatched", .batched = false},
          GraphMode{.name = "inference", .inference = true},
          GraphMode{.name = "full", .full = true}})
      for (const GraphAnswer& answer : run_program(program, Choices(seed), mode)) {
        file << seed << ", " << mode.name << ": " << answer.what;
        for (const float x : answer.numbers) file << ' ' << x;
        file << '\n';
      }
  }
  CHECK(file.flush());
}

}  // namespace graph_program_test
