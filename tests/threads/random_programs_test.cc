// Random programs on eight threads at once, over shared parameters, in many modes.

#include <thread>

#include "tests/support/graph_program.h"
#include "tests/support/prelude.h"

namespace random_programs_test {

using namespace dynet;

TEST_CASE("random programs on eight threads give what one thread gives") {
  constexpr unsigned kThreads = 8;
  for (const unsigned width : {4u, 64u}) {
    RandomGraph::Model model(width);
    const GraphProgram program{.width = width, .actions = 12, .shares_model = true};
    std::vector<std::string> differences(kThreads);
    std::vector<std::thread> threads;
    const unsigned rounds = width > 10 ? 2 : 8;
    std::vector<GraphLog> expected;
    for (unsigned t = 0; t < kThreads * rounds; ++t)
      expected.push_back(
          run_program(program, Choices(t), {.name = "alone", .full = t % 2 == 1}, model));
    for (unsigned t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        GraphMode mode{.name = "one of eight"};
        mode.full = t % 2 == 1;
        mode.interleaved = t == 2;
        for (unsigned round = 0; round < rounds; ++round) {
          const unsigned seed = round * kThreads + t;
          if (differences[t].empty())
            differences[t] = first_difference(
                expected[seed], run_program(program, Choices(seed), mode, model), SameBits::all);
        }
      });
    for (std::thread& t : threads) t.join();
    for (unsigned t = 0; t < kThreads; ++t) {
      CAPTURE(width, t);
      CHECK(differences[t] == "");
    }
    model.pc.reset_gradient();
  }
}

}  // namespace random_programs_test
