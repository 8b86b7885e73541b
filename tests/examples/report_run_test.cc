// The file of --report: what a run says of itself while it trains.

#include "examples/nlp/common/run_report.h"
#include "tests/examples/programs.h"

namespace report_run_test {

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  for (const std::string& line : ::lines_of(text)) lines.push_back(Json::parse(line));
  return lines;
}

/// Kind of each line, with the number of its epoch or the name of its data.
std::string kinds_of(const std::vector<Json>& lines) {
  std::string kinds;
  for (const Json& line : lines) {
    kinds += line.at("line").get<std::string>();
    if (line.count("epoch") > 0) kinds += " " + line.at("epoch").dump();
    if (line.count("data") > 0) kinds += " " + line.at("data").get<std::string>();
    kinds += "; ";
  }
  return kinds;
}

TEST_CASE("Report: settings, epochs and scores, continued where a run is resumed") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    const std::string files = "--dev data --test data --seed 7 --dropout 0.25 --report ";
    desk.must("EPOCHS=2 train --model model " + files + "report");
    const std::string text = desk.read("report");
    const std::vector<Json> begun = lines_of(text);
    REQUIRE(kinds_of(begun) == "settings; epoch 1; epoch 2; scores dev; scores test; ");
    CHECK(begun[0].at("program") == each.program.name);
    CHECK(begun[0].at("resumed") == false);
    const Json& settings = begun[0].at("settings");
    check_fields(settings, R"("train": "data", "model": "model", "device": "CPU", "epochs": 2,
                              "seed": 7, "hidden": 4, "dropout": 0.25)");
    CHECK(settings.at("learning-rate").is_number());
    for (const std::size_t i : {1, 2}) {
      CHECK(begun[i].at("share") == 1.0);
      CHECK(begun[i].at("loss") > 0.0);
      CHECK(begun[i].at("best").is_boolean());
      CHECK(begun[i].at("per_second") > 0.0);
      CHECK(begun[i].at("seconds") > 0.0);
      CHECK(begun[i].at("dev").size() > 0);
    }
    // The best model is the one whose dev scores the epoch has.
    const Json& best = begun[2].at("best") == true ? begun[2] : begun[1];
    CHECK(begun[3].at("model") == best.at("dev"));
    CHECK(begun[4].at("model") == begun[3].at("model"));
    CHECK(begun[4].at("baseline").size() == begun[4].at("model").size());

    // A run that was killed has left the beginning of a line, and an epoch that it had not saved.
    desk.write("report", text + "{\"line\":\"epoch\",\"epoch\":3}\n{\"line\":\"epo");
    desk.must("EPOCHS=3 train --model model --resume " + files + "report");
    CHECK(desk.read("report").starts_with(text));
    const std::vector<Json> resumed = lines_of(desk.read("report").substr(text.size()));
    REQUIRE(kinds_of(resumed) == "settings; epoch 3; scores dev; scores test; ");
    CHECK(resumed[0].at("resumed") == true);
    desk.must("EPOCHS=3 train --model whole " + files + "unbroken");
    const std::vector<Json> unbroken = lines_of(desk.read("unbroken"));
    REQUIRE(unbroken.size() == 6);
    CHECK(resumed[1].at("loss") == unbroken[3].at("loss"));
    CHECK(resumed[1].at("dev") == unbroken[3].at("dev"));
    CHECK(resumed[3] == unbroken[5]);
    // Options that are left out come from the checkpoint.
    desk.must("p train --train data --model model --resume --epochs 3 --report new");
    CHECK(lines_of(desk.read("new"))[0].at("settings").at("seed") == 7);
  });
}

TEST_CASE("Report: lines are written as they come") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("train --model model --max-seconds 1e-9 --batch 4 --report /dev/stdout >> log");
    const std::string log = desk.read("log");
    const std::size_t settings = log.find("{\"line\":\"settings\""), data = log.find("train: "),
                      line = log.find("epoch 1 ("), epoch = log.find("{\"line\":\"epoch\"");
    CHECK(settings < data);
    CHECK(data < epoch);
    CHECK(epoch < line);
    CHECK(line < log.find("saved in"));
    const Json partial = Json::parse(log.substr(epoch, log.find('\n', epoch) - epoch));
    CHECK(partial.at("share") > 0.0);
    CHECK(partial.at("share") < 1.0);
    CHECK(partial.count("dev") == 0);
  });
}

TEST_CASE("Report: no file of the run, and nothing but a report is replaced") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("cp data dev; mkdir folder; touch empty; train --model old --report report");
    desk.write("notes", "what I must not forget\n");
    desk.write("other", "{\"line\":\"settings\",\"program\":\"another\"}\n");
    const auto refused = [&](const std::string& options, int code, const std::string& why) {
      desk.refuses("train --model new " + options, code, why);
    };
    refused("--report data", kWrongUsage, "--report data and --train data are the same file");
    refused("--dev dev --report ./dev", kWrongUsage, "--dev dev are the same file");
    refused("--report ./new", kWrongUsage, "new are the same file");
    refused("--report new.checkpoint", kWrongUsage, "new.checkpoint are the same file");
    refused("--report empty >> empty", kWrongUsage, "--report empty are the same file");
    refused("--report report", kWrongUsage, "report exists: --resume");
    for (const std::string more : {"", " --force"}) {
      refused("--report notes" + more, kWrongUsage, "notes is no report of " + each.program.name);
      refused("--report other" + more, kWrongUsage, "other is no report of " + each.program.name);
      refused("--report old" + more, kWrongUsage, "old is no report of " + each.program.name);
      refused("--report folder" + more, kFailed, "folder is a directory, not a report");
      refused("--report none/report" + more, kFailed, "cannot save none/report");
    }
    desk.must("train --model new --report report --force; train --model newer --report empty");
    CHECK(lines_of(desk.read("report")).size() == 2);
    CHECK(lines_of(desk.read("empty")).size() == 2);
    const Result full = desk.sh("train --model newest --report /dev/full");
    CHECK(full.code == kFailed);
    CHECK(contains(full.err, each.program.name + ": cannot write /dev/full: No space left"));
  });
}

TEST_CASE("Report: figures that are no numbers, and names that are no text") {
  const TemporaryFolder folder;
  nlp::RunOptions run;
  run.report = folder.path("report");
  run.train = "caf\xE9";
  nlp::RunReport report(run, "p", {{"--flag", "on"}, {"--size", "8"}, {"--name", "8/1/1"}});
  report.scores("dev", {{"accuracy", 0.5, 0.0 / 0.0}});
  const std::vector<Json> lines = lines_of(read_file(run.report));
  const Json& settings = lines.at(0).at("settings");
  CHECK(settings.at("flag") == true);
  CHECK(settings.at("size") == 8);
  CHECK(settings.at("name") == "8/1/1");
  CHECK(settings.at("train") == "caf\xEF\xBF\xBD");
  CHECK(lines.at(1).at("model").at("accuracy") == 0.5);
  CHECK(lines.at(1).at("baseline").at("accuracy").is_null());
  nlp::RunReport none(nlp::RunOptions(), "p", {});  // does nothing
  none.epoch({});
  none.scores("dev", {});
}

TEST_CASE("Report: the share of the updates that were clipped") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    for (const auto& [clip, share] : {std::pair("0", 0.0), {"1e9", 0.0}, {"1e-9", 1.0}}) {
      const std::string out =
          desk.must(std::string("train --model model --force --report report ") + "--clip " + clip);
      const std::string line = line_with(out, "epoch 1: ");
      CHECK(contains(line, ", 100.00 % clipped, ") == (share > 0));
      CHECK(contains(line, "clipped") == (share > 0));
      CHECK(line.size() <= 80);
      CHECK(lines_of(desk.read("report")).at(1).at("clipped") == share);
    }
  });
}

TEST_CASE("Report: the gradient is as large in a small batch as in a large one") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "classifier") return;  // its sentences are of two kinds
    // All sentences are alike, so without dropout each batch asks for the same update, and what
    // clips one clips all.
    const auto clipped = [&](const std::string& batch, const std::string& clip) {
      desk.must("train --model new --force --report report --dropout 0 " +
                std::string(each.has_labels() ? "--unknown 0 " : "") +
                "--learning-rate 1e-9 --batch " + batch + " --clip " + clip);
      return lines_of(desk.read("report")).at(1).at("clipped").get<double>();
    };
    double below = 1e-3, above = 1e3;  // of the norm
    while (above / below > 1.1) {
      const double between = std::sqrt(below * above);
      (clipped("1", std::to_string(between)) > 0 ? below : above) = between;
    }
    CHECK(clipped("20", std::to_string(below)) == 1);
    CHECK(clipped("20", std::to_string(above)) == 0);
  });
}

TEST_CASE("Report: --tensorboard writes a file for each part of a run") {
  const Desk desk(any_program("tagger"));
  desk.must("EPOCHS=1 train --model model --dev data --tensorboard board");
  desk.must("EPOCHS=2 train --model model --dev data --test data --tensorboard board --resume");
  Strings files;
  for (const auto& entry : std::filesystem::directory_iterator(desk.path("board")))
    files.push_back(read_file(entry.path().string()));
  REQUIRE(files.size() == 2);
  for (const std::string& file : files) {
    CHECK(contains(file, "brain.Event:2"));
    CHECK(contains(file, "loss/train"));
    CHECK(contains(file, "/dev"));
    CHECK(contains(file, "lstm"));  // parameters
  }
  CHECK(contains(files[0] + files[1], "/final test"));
}

}  // namespace report_run_test
