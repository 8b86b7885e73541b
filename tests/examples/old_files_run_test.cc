// Files of earlier versions: models that predict what they did, checkpoints that can be resumed.
// They were made of four copies of the sentence of `all_programs`, with sizes of 2 and two epochs,
// and checkpoints alone of 40 copies.

#include "tests/examples/programs.h"

const std::filesystem::path kFolder = std::filesystem::path(__FILE__).parent_path() / "golden";

TEST_CASE("Files of earlier versions load, and their runs go on") {
  struct Old {
    std::string program;
    std::string scores;  ///< a line of `eval`
    std::string prediction;
  };
  const std::vector<Old> models = {
      {"tagger", "  tagger                    66.67 %", "the|NOUN cat|NOUN sleeps|VERB\n"},
      {"rnnlm", "  rnnlm             4.81         1.5202          0.6043", "-6.2831\t4\t4.81\n"},
      {"treelstm", "  tree-LSTM               0.00 %             0.00 %     0.00 %     0.00 %",
       "0\tvery negative\t0.211 0.198 0.209 0.183 0.199\tgood film\n"},
      {"parser", "  parser         100.00 %    66.67 %   100.00 %    66.67 %",
       "1\tthe\t_\tDET\t_\t_\t2\tnsubj\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
       "3\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"}};
  for (const Old& old : models) {
    const Desk desk(any_program(old.program), 4);
    desk.write("model", read_file(kFolder / (old.program + "-0.1.0.model")));
    CHECK(contains(desk.must("p eval -m model -d data"), old.scores + "\n"));
    CHECK(desk.must("head -n 4 in | apply").starts_with(old.prediction));
  }
  // From before there was a transformer.
  const Desk desk(any_program("rnnlm"), 4);
  desk.write("model.checkpoint", read_file(kFolder / "rnnlm-lstm.checkpoint"));
  const std::string resumed =
      desk.must("p train --train data --dev data --model model --resume --epochs 3 --patience 0");
  CHECK(contains(resumed, "resuming after epoch 2\n"));
  CHECK(contains(resumed, "epoch 3: perplexity 4.91, dev perplexity 4.80"));
  CHECK(desk.must("apply -i in").starts_with("-6.2722\t4\t4.80\n"));
}

TEST_CASE("Old checkpoints: a run goes on as it began") {
  struct Old {
    std::string program, name;    ///< and what its figure is called
    std::vector<double> figures;  ///< that version 0.1.0 went on to print of epochs 3 and 4
    std::string settings;         ///< that it began with
  };
  const std::vector<Old> all = {
      {"tagger", "loss", {1.0380, 1.0013}, "\"learning-rate\":0.002,\"decay\":0.8,\"clip\":5,"},
      {"rnnlm", "perplexity", {4.94, 4.91}, "\"learning-rate\":0.005,\"decay\":0.6,\"clip\":5,"},
      {"treelstm", "loss", {4.6704, 4.6469}, "\"learning-rate\":0.001,\"decay\":1,\"clip\":5,"},
      {"parser", "loss", {3.3939, 3.3234}, "\"learning-rate\":0.002,\"decay\":0.8,\"clip\":5,"}};
  for (const Old& old : all) {
    const Desk desk(any_program(old.program));
    desk.write("model.checkpoint", read_file(kFolder / (old.program + ".checkpoint")));
    const std::string out = desk.must("EPOCHS=4 train --model model --resume --report report");
    INFO(out);
    CHECK(contains(out, "resuming after epoch 2\n"));
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string start = "epoch " + std::to_string(3 + i) + ": " + old.name + " ";
      const std::string line = line_with(out, start);
      CHECK(numbers_of(line.substr(start.size(), line.find(',') - start.size())).at(0) ==
            Approx(old.figures[i]).margin(0.0005));
    }
    const std::string settings = desk.read("report");
    INFO(settings);
    CHECK(contains(settings, old.settings));
    // Options that differ from the start of the run are refused.
    desk.refuses("train --model model --resume --clip 1", 1,
                 "model.checkpoint began with --clip 5");
    desk.must("p eval -m model -d data");
  }
}
