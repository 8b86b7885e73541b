// Numbers as values of options: 1e3 is as good as 1000, and 1.5 is no whole number.

#include <string>

#include "examples/nlp/common/options.h"
#include "tests/examples/programs.h"
#include "tests/support/catch.h"

namespace numbers_run_test {

namespace {

/// Text that the command reads in place of `text`, or its error.
std::string read_as(const nlp::InRange& range, std::string text) {
  const std::string problem = range(text);
  return problem.empty() ? text : problem;
}

}  // namespace

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
    const std::string settings = desk.read("report");
    for (const std::string setting : {"\"batch\":10,", "\"seed\":10,", "\"max-seconds\":1000.0}"}) {
      INFO(settings);
      CHECK(contains(settings, setting));
    }
    desk.must("EPOCHS=2e0 train --model model --resume");
    const auto refused = [&](const std::string& option, const std::string& message) {
      desk.refuses("train --model new " + option, kWrongUsage, message);
    };
    refused("--batch 1.5", "--batch: '1.5' is no whole number from 1 to 100000");
    refused("--hidden 1e9", "--hidden: '1e9' is no whole number from 1 to 4096");
    refused("--seed=-1", "--seed: '-1' is no whole number from 0 to 1e+19");
    refused("--max-seconds many", "--max-seconds: 'many' is no number from 0 to 1e+09");
    desk.refuses("EPOCHS=0.5 train --model new", kWrongUsage,
                 "--epochs: '0.5' is no whole number from 1 to 1e+06");
  });
  const Desk tagger(all_programs()[0]);
  tagger.must("train --model model; p eval -m model -d data --show 1e0");
  tagger.refuses("p eval -m model -d data --show 0.1", kWrongUsage,
                 "--show: '0.1' is no whole number from 0 to 1e+06");
}

}  // namespace numbers_run_test
