// Help texts of the programs, errors for options that they do not have, and numbers as values of
// options: 1e3 is as good as 1000, and 1.5 is no whole number.

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include "examples/nlp/common/options.h"
#include "tests/examples/programs.h"
#include "tools/program/help.h"

struct Command {
  const AnyProgram* of;
  std::string name;
};

/// All commands of all programs.
std::vector<Command> all_commands() {
  std::vector<Command> commands;
  for (const AnyProgram& each : all_programs()) {
    for (const std::string name : {"train", "eval", each.command.c_str()})
      commands.push_back({&each, name});
    if (each.program.name == "rnnlm") commands.push_back({&each, "sample"});
  }
  return commands;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(text)) longest = std::max(longest, line.size());
  return longest;
}

/// Output of the program on a terminal of `columns` columns; empty if there are no terminals.
std::string on_terminal(const Desk& desk, const std::string& script, unsigned short columns) {
  int controller = -1, terminal = -1;
  char name[64];
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  if (openpty(&controller, &terminal, name, nullptr, &size) != 0) return "";
  desk.must("(" + script + ") > " + name);
  REQUIRE(fcntl(controller, F_SETFL, O_NONBLOCK) == 0);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(controller, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(terminal);
  ::close(controller);
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

/// Text that the command reads in place of `text`, or its error.
std::string read_as(const nlp::InRange& range, std::string text) {
  const std::string problem = range(text);
  return problem.empty() ? text : problem;
}

TEST_CASE("Help: options in groups, within the columns there are, and two examples with them") {
  for (const Command& each : all_commands()) {
    const std::string program = each.of->program.name, command = each.name;
    INFO(program << ' ' << command);
    const Desk desk(*each.of, 1);
    const std::string help = desk.must("p " + command + " --help");
    const std::string file = command == each.of->command ? " [FILE]" : "";
    CHECK(contains(help, "\nUsage: " + program + " " + command + " [OPTIONS]" + file + "\n"));
    CHECK(longest_line(help) <= 80);
    Strings groups = {"Model", "Help"};
    if (command != "eval") groups.push_back("Output");
    if (command != "sample") groups.push_back("Data");
    if (command == "train") groups.push_back("Training");
    for (const std::string& group : groups) CHECK(contains(help, "\n\n" + group + ":\n  -"));
    CHECK_FALSE(contains(help, "\nOptions:"));
    CHECK(contains(help, "  -h, --help "));
    // Values are files, whole numbers, N, and others, X.
    for (const char* const kind : {" UINT", " INT", " FLOAT"}) CHECK_FALSE(contains(help, kind));
    CHECK(contains(help, "--model FILE "));
    if (command == "train")
      for (const char* const option : {"--train FILE ", "--dev FILE ", "--report FILE ",
                                       "--tensorboard DIR ", "--epochs N ", "--learning-rate X "})
        CHECK(contains(help, option));

    const std::size_t at = help.find("\n\nExamples:\n");
    REQUIRE(at != help.npos);
    const std::string options = help.substr(0, at);
    const Strings examples = lines_of(from(help, "Examples:\n  ").substr(10));
    CHECK(examples.size() == 2);
    for (const std::string& example : examples) {
      CHECK(contains(example, program + " " + command + " --"));
      for (const std::string& word : split_words(example)) {
        if (word.starts_with("--")) CHECK(contains(options, word + " "));
      }
    }
  }
}

TEST_CASE("Help: as wide as the terminal") {
  const Desk desk(all_programs()[0], 1);
  const std::string narrow = on_terminal(desk, "p train --help", 50);
  if (narrow.empty()) return skip("there are no terminals here");
  const std::string wide = on_terminal(desk, "p train --help", 120);
  CHECK(longest_line(narrow.substr(0, narrow.find("Examples:"))) <= 50);
  CHECK(longest_line(wide) > 80);
  CHECK(longest_line(wide) <= 120);
  CHECK(split_words(narrow) == split_words(wide));
  CHECK(split_words(wide) == split_words(desk.must("p train --help")));
}

TEST_CASE("Help: a program prints its help and its version") {
  on_desks(1, "", [](const AnyProgram& each, const Desk& desk) {
    const std::string help = desk.must("p --help");
    CHECK(help == desk.must("p -h"));
    CHECK(contains(help, "\nUsage: " + each.program.name + " [OPTIONS] COMMAND\n"));
    CHECK(contains(help, "\n  " + each.command + " "));
    CHECK(contains(help, "  --version "));
    CHECK(contains(help, "\nExamples:\n  " + each.program.name + " train --train "));
    CHECK(contains(help, "\n  " + each.program.name + " COMMAND --help\n"));
    CHECK(longest_line(help) <= 80);
    CHECK(desk.must("p --version") == each.program.name + " " + dynet::version() +
                                          " (kernels for " + dynet::isa_name() + ")\n");
  });
}

TEST_CASE("Help: words are wrapped, and one that is too long stays whole") {
  using program::wrapped;
  CHECK(wrapped("a bc  def", 80, 0, 0) == "a bc def");
  CHECK(wrapped("a bc def", 4, 0, 0) == "a bc\ndef");
  CHECK(wrapped("a bc def", 5, 2, 3) == "a\n  bc\n  def");
  CHECK(wrapped("abcdefgh i", 4, 1, 0) == "abcdefgh\n i");
  CHECK(wrapped("\xC3\xA9\xC3\xA9 \xC3\xA9", 4, 0, 0) == "\xC3\xA9\xC3\xA9 \xC3\xA9");
  CHECK(wrapped("", 4, 0, 0).empty());
}

TEST_CASE("Arguments: a mistyped option is named before a missing one") {
  for (const Command& each : all_commands()) {
    const std::string program = each.of->program.name, command = each.name;
    INFO(program << ' ' << command);
    const Desk desk(*each.of, 1);
    const auto refused = [&](const std::string& arguments, const std::string& message) {
      desk.refuses("p " + command + " " + arguments, kWrongUsage, message);
    };
    refused("--modle x", "unknown option '--modle': did you mean --model? (" + program + " " +
                             command + " --help lists what there is)");
    refused("--modle=x", "unknown option '--modle': did you mean --model?");
    refused("--mode x --modle y", "unknown option '--mode': did you mean --model?");
    refused("--completely-different", "unknown option '--completely-different' (");
    refused("-m model --modle", "unknown option '--modle'");
    refused("-z", "unknown option '-z' (");
    const bool takes_file = contains(desk.must("p " + command + " --help"), "[FILE]");
    refused(takes_file ? "file stray" : "stray", "unexpected argument 'stray'");
    refused("", command == "train" ? "--train is required" : "--model is required");
    if (command != "train") continue;
    refused("--trian x", "unknown option '--trian': did you mean --train?");
    refused("--trian x --model m", "unknown option '--trian': did you mean --train?");
    refused("--train data --model m --learning 1", "did you mean --learning-rate?");
    refused("--train data --model m --epoch 1", "did you mean --epochs?");
    // Names of the terminal's own making do not get there.
    refused("\"$(printf -- '--\\033[31m')\"", "unknown option '--\\u{1b}[31m'");
  }
  on_desks(1, "", [](const AnyProgram&, const Desk& desk) {
    desk.refuses("p --trian x", kWrongUsage, "unknown option '--trian'");
    desk.refuses("p --versoin", kWrongUsage, "unknown option '--versoin': did you mean --version?");
  });
}

TEST_CASE("Numbers: whole ones in any form, others as they are") {
  const nlp::InRange whole(0, 1e19), any(0.0, 1e9);
  for (const auto& [text, digits] : {std::pair("1000", "1000"),
                                     {"1e3", "1000"},
                                     {"1E+3", "1000"},
                                     {"1000.0", "1000"},
                                     {"0x10", "16"},
                                     {"010", "10"},
                                     {"-0", "0"},
                                     {"1e19", "10000000000000000000"},
                                     {"9007199254740993", "9007199254740993"},
                                     {"1.5", "'1.5' is no whole number from 0 to 1e+19"},
                                     {"1e20", "'1e20' is no whole number from 0 to 1e+19"},
                                     {"-1", "'-1' is no whole number from 0 to 1e+19"},
                                     {"nan", "'nan' is no whole number from 0 to 1e+19"},
                                     {"", "'' is no whole number from 0 to 1e+19"},
                                     {"1e", "'1e' is no whole number from 0 to 1e+19"}}) {
    CHECK(read_as(whole, text) == digits);
  }
  for (const std::string text : {"0.5", "1e-3", "1e3", "7"}) CHECK(read_as(any, text) == text);
  CHECK(read_as(any, "inf") == "'inf' is no number from 0 to 1e+09");
}

TEST_CASE("Numbers: on the command line") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must(
        "train --model model --batch 1e1 --max-seconds 1e3 --seed 010 --report "
        "report; train --model same --batch 10 --seed 10; cmp model same");
    check_fields(Json::parse(line_with(desk.read("report"), "settings")).at("settings"),
                 R"("batch": 10, "seed": 10, "max-seconds": 1000)");
    desk.must("EPOCHS=2e0 train --model model --resume");
  });
}
