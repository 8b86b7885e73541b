// The tool dynet-like: what it reads stays, and what it cannot print it says.

#include "tests/examples/programs.h"

namespace tool_run_test {

#ifdef TOOL_BINARY

const AnyProgram kTool{{"dynet-like", TOOL_BINARY}, "", "", "", ""};
constexpr int kFailed = 2;

struct ToolDesk : Desk {
  ToolDesk() : Desk(kTool, 0) {
    write("a.model",
          "#Parameter# /W {2} 11 FULL_GRAD\n+1.0 +2.0 \n+3.0 +4.0 \n"
          "#LookupParameter# /E {1,2} 10 ZERO_GRAD\n+5.0 +6.0\n");
    std::string many;
    for (int i = 0; i < 5000; ++i)
      many += "#Parameter# /W" + std::to_string(i) + " {1} 4 ZERO_GRAD\n1.0\n";
    write("many.model", many);
    must("p convert a.model a.dynet && p convert a.model a.safetensors");
    must("ln -s a.model link.model; ln a.model hard.model; ln a.dynet hard.safetensors");
  }
};

TEST_CASE("Tool: help within 80 columns, and mistyped options before missing arguments") {
  const ToolDesk desk;
  for (const std::string command : {"", "inspect ", "diff ", "convert "}) {
    const std::string help = desk.must("p " + command + "--help");
    CHECK(contains(help, "Usage: dynet-like " + command));
    CHECK(
        contains(help, "  dynet-like " + (command.empty() ? "COMMAND " : command)));  // an example
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    desk.refuses("p " + command + "--hlep", kWrongUsage,
                 "unknown option '--hlep': did you mean --help?");
  }
  desk.refuses("p diff a.model", kWrongUsage, "B is required");
  desk.refuses("p inspect a.model a.safetensors", kWrongUsage,
               "unexpected argument 'a.safetensors'");
  desk.refuses("p dif", kWrongUsage, "unknown command 'dif': expected inspect, diff or convert");
  desk.refuses("p", kWrongUsage, "no command: expected inspect, diff or convert");
}

TEST_CASE("Tool: a file is never converted into itself") {
  const ToolDesk desk;
  for (const std::string names :
       {"a.model a.model", "a.model ./a.model", "a.model link.model", "link.model a.model",
        "a.model hard.model", "a.dynet hard.safetensors", "a.safetensors \"$PWD/a.safetensors\""}) {
    desk.refuses("p convert " + names, kWrongUsage, "are the same file");
  }
  for (const std::string command :
       {"inspect a.model", "diff a.model a.safetensors", "diff a.safetensors a.model"})
    desk.refuses("p " + command + " >> a.model", kWrongUsage, "standard output and a.model");
  CHECK(desk.must("p diff a.model a.model").find("0 differ") != std::string::npos);
}

TEST_CASE("Tool: a conversion is there whole or not at all") {
  const ToolDesk desk;
  for (const std::string to : {"dynet", "safetensors", "model"}) {
    desk.write("out." + to, "old\n");
    desk.refuses("ulimit -f 1; p convert many.model out." + to, kFailed, "File too large");
    desk.refuses("p convert none.model out." + to, kFailed, "cannot load none.model");
    desk.refuses("p convert a.model none/out." + to, kFailed, "No such file or directory");
    desk.must("p convert many.model out." + to + " && p diff many.model out." + to);
  }
  desk.must(
      "ln -s out.safetensors link.safetensors; p convert a.model link.safetensors; test -L "
      "link.safetensors");
  desk.must("p diff a.model out.safetensors");
  desk.refuses(
      "ln -s /dev/full full.safetensors; p convert a.model full.safetensors; s=$?; rm "
      "full.safetensors; exit $s",
      kFailed, "it is not a regular file");
}

TEST_CASE("Tool: standard output that cannot be written") {
  const ToolDesk desk;
  for (const std::string command :
       {"--help", "--version", "inspect --help", "inspect a.model", "inspect a.dynet",
        "inspect many.model", "diff a.model a.safetensors", "diff a.model many.model"}) {
    INFO(command);
    desk.refuses("p " + command + " > /dev/full", kFailed,
                 "cannot write standard output: No space left on device");
    desk.refuses("p " + command + " >&-", kFailed,
                 "cannot write standard output: Bad file descriptor");
    if (command == "inspect many.model")
      desk.refuses("trap 'rm part' EXIT; ulimit -f 1; p " + command + " > part", kFailed,
                   "cannot write standard output: File too large");
  }
  const Result quiet = desk.sh("{ p inspect many.model; echo $? > status; } | true");
  CHECK(quiet.err.empty());
  CHECK(desk.read("status") == std::to_string(kBrokenPipe) + "\n");
  desk.must(
      "p convert many.model closed.safetensors >&- 2>&- <&- && p diff many.model "
      "closed.safetensors");
  CHECK(desk.sh("p").code == kWrongUsage);
  CHECK(desk.sh("p convert a.model").code == kWrongUsage);
  CHECK(desk.must("p --version") == std::string("dynet-like ") + dynet::version() +
                                        " (kernels for " + dynet::isa_name() + ")\n");
}

TEST_CASE("Tool: the environment chooses the kernels") {
  const ToolDesk desk;
  desk.refuses("DYNET_ISA=mmx p --version", kFailed,
               "DYNET_ISA=mmx: this library has kernels for ");
  if (std::string(dynet::isa_name()) == "native") skip("the library has one set of kernels");
  CHECK(contains(desk.must("DYNET_ISA=baseline p --version"), "(kernels for baseline)"));
}

#endif

}  // namespace tool_run_test
