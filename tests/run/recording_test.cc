#include "dynet-like/run/recording.h"

#include <vector>

#include "tests/plan/hand_made.h"
#include "tests/support/catch.h"

namespace recording_test {

using namespace hand_made;

namespace {

/// Two chains of squares, batch by batch: 0 1 | 2 3 | 4 5 | ...
struct Recorded {
  explicit Recorded(NodeId pairs) {
    for (NodeId id = 0; id < 2 * pairs; ++id)
      g.add(id < 2 ? input : square, {4}, id < 2 ? std::vector<NodeId>{} : std::vector{id - 2});
  }
  /// Records one run of the pairs [begin, end).
  void run(NodeId begin, NodeId end) {
    const RecordedRun run = r.next_run(g, 2 * begin);
    r.value_marks.push_back({});
    for (NodeId id = 2 * begin; id < 2 * end; ++id) {
      r.value.push_back(&numbers[id]);
      first_arg.push_back(g.nodes[id].first_arg);
      r.order.push_back(id);
    }
    for (NodeId pair = begin; pair < end; ++pair) {
      const Step step{2 * pair, 2};
      BatchPointers<float> m =
          r.list_operands(g, step, r.order.data() + step.first, 0, first_arg.data());
      for (NodeId i = 0; i < 2; ++i) m.outs[i] = r.value[2 * pair + i];
      r.steps.push_back(step);
      r.memory.push_back(m);
      ++r.batches;
    }
    r.runs.push_back(run);
    r.evaluated = 2 * end;
  }
  OpForm input = form("input"), square = form("square");
  Graph g;
  float numbers[100];
  std::vector<std::uint32_t> first_arg;
  Recording<float> r;
};

}  // namespace

TEST_CASE("Recording::truncate keeps the nodes before a position inside a batch") {
  Recorded recorded(5);
  recorded.run(0, 5);
  Recording<float>& r = recorded.r;
  r.truncate(7);
  CHECK(r.evaluated == 7);
  REQUIRE(r.steps.size() == 4);
  REQUIRE(r.memory.size() == 4);
  CHECK(std::vector(r.order.begin(), r.order.end()) == std::vector<NodeId>{0, 1, 2, 3, 4, 5, 6});
  CHECK(r.steps[3].first == 6);
  CHECK(r.steps[3].count == 1);
  CHECK(r.memory[3].outs[0] == &recorded.numbers[6]);
  CHECK(r.memory[3].ins[0] == &recorded.numbers[4]);
  CHECK(r.memory[3].args[0] == 4);
}

TEST_CASE("Recording::rewind keeps earlier runs unchanged") {
  Recorded recorded(5);
  recorded.run(0, 2);
  recorded.run(2, 5);
  Recording<float>& r = recorded.r;
  r.rewind(r.runs.back());
  CHECK(r.steps.size() == 2);
  CHECK(r.memory.size() == 2);
  CHECK(r.order.size() == 4);
  CHECK(r.batches == 2);
  CHECK(r.value_marks.size() == 1);
  r.clear();
  CHECK(r.evaluated == 0);
  CHECK(r.runs.empty());
}

}  // namespace recording_test
