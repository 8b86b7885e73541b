// Standard output that cannot be written: every command notices, says why, and fails.

#include <string>
#include <vector>

#include "tests/examples/programs.h"
#include "tests/support/catch.h"

namespace standard_output_run_test {

namespace {

/// All that the program can be asked for that prints something.
std::vector<std::string> commands_of(const AnyProgram& each) {
  std::vector<std::string> commands = {
      // Without a model.
      "p --help", "p train --help", "p eval --help", "p " + each.command + " --help",
      // With one, and of training.
      "p eval -m model -d data", "apply -i in", "apply < in", "apply -i in -o /dev/stdout",
      "train --model new", "train --model model --force", "EPOCHS=2 train --model model --resume"};
  if (each.program.name == "rnnlm")
    for (const char* more : {"--help", "-m model -n 100", "-m model -n 1000000000"})
      commands.push_back(std::string("p sample ") + more);
  if (each.program.name == "parser") commands.push_back("p eval -m model -d data --compare");
  if (each.program.name != "rnnlm") commands.push_back("p eval -m model -d data --show 3");
  return commands;
}

}  // namespace

TEST_CASE("Standard output: a full disk and a full quota are noticed") {
  on_desks(2000, "train --model model", [](const AnyProgram& each, const Desk& desk) {
    for (const std::string& command : commands_of(each)) {
      const Result full = desk.sh(command + " 2> log > /dev/full");
      const std::string log = desk.read("log");
      INFO(each.program.name << ": " << command << "\n" << log);
      CHECK(full.code == kFailed);
      CHECK(contains(
          log, each.program.name + ": cannot write standard output: No space left on device\n"));
      const Result closed = desk.sh(command + " 2> log >&-");
      CHECK(closed.code == kFailed);
      CHECK(contains(desk.read("log"),
                     each.program.name + ": cannot write standard output: Bad file descriptor\n"));
    }
    // Nothing was trained, only to be lost.
    CHECK_FALSE(contains(desk.sh("ls").out, "new"));
    const Result result = desk.sh("ulimit -f 1; apply -i in 2>&1 > part | tail -n 1; cat part");
    INFO(result.out);
    CHECK(contains(result.out,
                   each.program.name + ": cannot write standard output: File too large\n"));
    CHECK(desk.read("part").size() == 512);
  });
}

TEST_CASE("Standard output: who reads no further ends a program in silence") {
  on_desks(20000, "", [](const AnyProgram& each, const Desk& desk) {
    desk.must("head -n 1000 data > few; DATA=few train --model model");
    const std::string first = desk.must("head -n 1 in | apply | head -n 1");
    const auto quiet = [&](const std::string& command) {
      const Result result = desk.sh(
          "{ " + command + "; echo $? > status; } 2> log | head -n 1; grep -v '^parse' log");
      INFO(each.program.name << ": " << command << "\n" << result.out << result.err);
      CHECK(desk.read("status") == std::to_string(kBrokenPipe) + "\n");
      return result.out;
    };
    if (each.program.name == "parser") {
      quiet("apply -i few -o /dev/stdout; apply -i few");
    } else {
      CHECK(quiet("apply -i in") == first);
      CHECK(quiet("apply < in") == first);
      CHECK(quiet("apply -i in -o /dev/stdout") == first);
    }
    if (each.program.name == "rnnlm") quiet("p sample -m model -n 1000000");
    desk.must("mkfifo pipe");
    CHECK(desk.sh("head -n 1 pipe > got & apply -i in -o pipe").code == kBrokenPipe);
    // Standard error is no result.
    desk.must("{ train --model new 2>&1 >&3 | true; } 3> log");
    CHECK(contains(desk.read("log"), "saved in new"));
  });
}

}  // namespace standard_output_run_test
