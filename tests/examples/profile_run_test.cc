// --profile FILE and DYNET_TRACE: where the time of a program goes.

#include "tests/examples/programs.h"

TEST_CASE("Profile: every program writes a table and a timeline of its updates") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("DYNET_TRACE=trace.json EPOCHS=1 train --model model --profile table");
    const std::string table = desk.read("table");
    INFO(each.program.name << '\n' << table);
    CHECK(contains(table, " updates"));
    CHECK(contains(table, " samples; "));
    CHECK(contains(table, "backward"));
    CHECK(contains(table, "Not batched:"));
    const auto trace = nlohmann::json::parse(desk.read("trace.json"));
    unsigned updates = 0, forward = 0;
    for (const auto& e : trace["traceEvents"]) {
      updates += e["name"] == "update";
      forward += e["name"] == "forward";
    }
    CHECK(updates > 0);
    CHECK(forward >= updates);
  });
}

TEST_CASE("Profile: a file that cannot be written fails the program") {
  const AnyProgram& tagger = any_program("tagger");
  const Desk desk(tagger, 40, "train --model model");
  desk.must("p eval --model model --data data --profile table");
  CHECK(contains(desk.read("table"), " graph"));
  desk.refuses("p eval --model model --data data --profile missing/table", kFailed,
               "missing/table");
}
