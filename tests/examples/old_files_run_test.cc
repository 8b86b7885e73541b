// Files of version 0.1.0: models that predict what they did, checkpoints that can be resumed.
// They were made of four copies of the sentence of `all_programs`, with sizes of 2 and two epochs.

#include <filesystem>
#include <string>
#include <vector>

#include "tests/examples/programs.h"
#include "tests/support/catch.h"

namespace old_files_run_test {

namespace {

const std::filesystem::path kFolder = std::filesystem::path(__FILE__).parent_path() / "golden";

struct Golden {
  std::string scores;  ///< a line of `eval`
  std::string prediction;
};

const std::vector<Golden>& golden() {
  static const std::vector<Golden> all = {
      {"  tagger                    66.67 %", "the|NOUN cat|NOUN sleeps|VERB\n"},
      {"  rnnlm             4.81         1.5202          0.6043", "-6.2831\t4\t4.81\n"},
      {"  tree-LSTM               0.00 %             0.00 %     0.00 %     0.00 %",
       "0\tvery negative\t0.211 0.198 0.209 0.183 0.199\tgood film\n"},
      {"  parser         100.00 %    66.67 %   100.00 %    66.67 %",
       "1\tthe\t_\tDET\t_\t_\t2\tnsubj\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
       "3\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"}};
  return all;
}

}  // namespace

TEST_CASE("Files of version 0.1.0 load, and their runs go on") {
  for (std::size_t i = 0; i < golden().size(); ++i) {
    const AnyProgram& each = all_programs()[i];
    INFO(each.program.name);
    const Desk desk(each, 4);
    const std::string old = (kFolder / (each.program.name + "-0.1.0.model")).string();
    desk.write("model", read_file(old));
    desk.write("model.checkpoint", read_file(old + ".checkpoint"));
    CHECK(contains(desk.must("p eval -m model -d data"), golden()[i].scores + "\n"));
    CHECK(desk.must("head -n 4 in | apply").rfind(golden()[i].prediction, 0) == 0);
    const std::string resumed =
        desk.must("p train --train data --dev data --model model --resume --epochs 3 --patience 0");
    CHECK(contains(resumed, "resuming after epoch 2\n"));
    CHECK(contains(resumed, "epoch 3: "));
    desk.must("apply -i in");
  }
}

}  // namespace old_files_run_test
