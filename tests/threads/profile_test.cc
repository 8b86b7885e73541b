// One profiler watches the graphs of several threads.

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "dynet-like/profile/profiler.h"
#include "tests/io/folder.h"
#include "tests/support/prelude.h"

namespace profile_test {

using namespace dynet;

TEST_CASE("a timeline has a row for each thread, also while it is written") {
  Profiler profiler({.skip = 0, .record = 1000});
  const auto work = [&] {
    for (int k = 0; k < 50; ++k) {
      ComputationGraph g;
      profiler.watch(g);
      g.forward(tanh(input(g, float(k))));
    }
  };
  std::thread one(work), two(work);
  for (int k = 0; k < 5; ++k) {
    (void)profiler.table();
    profiler.add_samples(1);
  }
  one.join();
  two.join();
  const TemporaryFolder folder;
  profiler.write_trace(folder / "trace");
  std::ifstream file(folder / "trace");
  const auto trace = nlohmann::json::parse(file);
  std::map<int, int> rows;
  int names = 0;
  for (const auto& e : trace["traceEvents"]) {
    if (e["name"] == "tanh") ++rows[e["tid"]];
    names += e["name"] == "thread_name";
  }
  REQUIRE(rows.size() == 2);
  CHECK(rows.begin()->second == 50);
  CHECK(rows.rbegin()->second == 50);
  CHECK(names == 2);
}

TEST_CASE("updates end in one thread while another one computes, and a graph moves between them") {
  Profiler profiler({.skip = 0, .record = 100000});
  ComputationGraph moved;
  profiler.watch(moved);
  moved.forward(tanh(input(moved, 1.0f)));
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int k = 0; k < 200; ++k) {
      moved.clear();
      moved.forward(tanh(input(moved, float(k))));
    }
    done = true;
  });
  while (!done) profiler.step();
  other.join();
  profiler.stop();
  CHECK(profiler.table().find("tanh") != std::string::npos);
}

}  // namespace profile_test
