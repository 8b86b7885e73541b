// Nothing to read: what makes lines of lines makes none, what learns or scores says which file.

#include <string>

#include "tests/examples/programs.h"
#include "tests/support/catch.h"

namespace empty_input_run_test {

namespace {

constexpr int kFailed = 1;

}  // namespace

TEST_CASE("Empty input: nothing in, nothing out") {
  for (const AnyProgram& each : all_programs()) {
    INFO(each.program.name);
    const Desk desk(each);
    desk.must("train --model model; touch empty; echo old > out");
    CHECK(desk.must("apply < /dev/null").empty());
    CHECK(desk.must("apply -i empty").empty());
    CHECK(desk.must("apply -i empty -o out; cat out").empty());
    // Blank lines are no sentences either.
    desk.must("printf '\\n\\n' | apply > out");
    if (each.program.name != "rnnlm") CHECK(desk.must("tr -d '\\n' < out").empty());
  }
}

TEST_CASE("Empty input: there is nothing to learn from, or to be scored on") {
  for (const AnyProgram& each : all_programs()) {
    INFO(each.program.name);
    const Desk desk(each);
    desk.must("train --model model; touch empty; printf '\\n \\n' > blank");
    for (const std::string none : {"empty", "blank"}) {
      desk.refuses("DATA=" + none + " train --model new", kFailed, none + " holds no ");
      desk.refuses("train --dev " + none + " --model new", kFailed, none + " holds no ");
      desk.refuses("train --test " + none + " --model new", kFailed, none + " holds no ");
      desk.refuses("p eval -m model -d " + none, kFailed, none + " holds no ");
    }
  }
}

}  // namespace empty_input_run_test
