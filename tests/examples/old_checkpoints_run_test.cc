// Checkpoints of version 0.1.0, in golden/: 40 sentences as Desk has them, after two epochs.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/examples/programs.h"
#include "tests/support/catch.h"

namespace old_checkpoints_run_test {

TEST_CASE("Old checkpoints: a run goes on as it began") {
  const std::filesystem::path golden = std::filesystem::path(__FILE__).parent_path() / "golden";
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
    const auto& programs = all_programs();
    const auto each = std::find_if(
        programs.begin(), programs.end(),
        [&](const AnyProgram& program) { return program.program.name == old.program; });
    REQUIRE(each != programs.end());
    const Desk desk(*each);
    desk.write("model.checkpoint", read_file((golden / (old.program + ".checkpoint")).string()));
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

}  // namespace old_checkpoints_run_test
