// Metadata of model files, and models that are converted to safetensors and back.

#include "dynet-like/io/safetensors.h"
#include "examples/nlp/common/files.h"
#include "tests/examples/programs.h"

namespace about_run_test {

#ifdef TOOL_BINARY

const std::string kTool = "'" TOOL_BINARY "' ";

Json about(const Desk& desk, const std::string& model) {
  return Json::parse(dynet::read_metadata(desk.path(model)));
}

TEST_CASE("About: a model says what it is") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must(
        "cp data dev; cp data test; EPOCHS=2 train --model model --dev dev --seed 7 "
        "--report report");
    const Json says = about(desk, "model");
    INFO(says.dump(2));
    CHECK(says.at("program") == each.program.name);
    CHECK(says.at("version") == dynet::version());
    check_fields(says, R"("date": "1970-01-01T00:00:00Z", "train": "data", "dev": "dev")");
    CHECK(says.count("test") == 0);
    check_fields(says.at("settings"), R"("seed": 7, "hidden": 4)");
    CHECK(says.at("weights") > 0);
    CHECK(says.count("labels") == (each.has_labels() ? 1 : 0));
    // The scores are those of the best epoch, and of the same model at the end.
    const std::string report = desk.read("report");
    const Json scores = Json::parse(report.substr(report.rfind("{\"line\":\"scores\"")));
    CHECK(says.at("scores").at("dev") == scores.at("model"));
    CHECK(says.at("scores").count("test") == 0);
    const std::string shown = desk.must(kTool + "inspect model");
    CHECK(contains(shown, "metadata:\n    {\n      \"program\": \"" + each.program.name + "\",\n"));

    desk.must("EPOCHS=2 train --model tested --dev dev --test test --seed 7");
    const Json tested = about(desk, "tested");
    CHECK(tested.at("test") == "test");
    CHECK(tested.at("scores").at("dev") == says.at("scores").at("dev"));
    CHECK(tested.at("scores").at("test") == says.at("scores").at("dev"));
    CHECK(tested.at("epoch") == says.at("epoch"));
    desk.must("apply -i in -o one; p " + each.command + " -m tested -i in -o two; cmp one two");
    desk.must("export SOURCE_DATE_EPOCH=86400; train --model later");
    CHECK(about(desk, "later").at("date") == "1970-01-02T00:00:00Z");
    desk.must("unset SOURCE_DATE_EPOCH; train --model now");
    CHECK(about(desk, "now").at("date").get<std::string>() > "2025");
  });
}

TEST_CASE("About: equal runs make equal files, which show no folder") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("mkdir -p secret/a secret/b; cp data secret/a/d; cp data secret/b/d");
    for (const std::string f : {"a", "b"}) {
      const std::string in = "secret/" + f + "/";
      desk.must("export SOURCE_DATE_EPOCH=1000000000; DATA=$PWD/" + in +
                "d; EPOCHS=2 train --model " + in + "m --dev ./" + in + "d --test " + in +
                "d --report " + in + "r");
      desk.must("export SOURCE_DATE_EPOCH=1000000000; train --init " + in + "m --model " + in +
                "more; p eval --json -m " + in + "m -d " + in + "d > " + in + "scores");
    }
    for (const char* file : {"m", "m.checkpoint", "more", "more.checkpoint", "scores"})
      desk.must(std::string("cmp secret/a/") + file + " secret/b/" + file);
    CHECK(about(desk, "secret/a/m").at("train") == "d");
    CHECK(about(desk, "secret/a/m").at("date") == "2001-09-09T01:46:40Z");
    CHECK(about(desk, "secret/a/more").at("init") == "m");
    desk.must("! grep -r secret secret");
    for (const std::string wrong : {"x", "-1", "1.5", "99999999999999"}) {
      desk.refuses(
          "export SOURCE_DATE_EPOCH=" + wrong + "; train --model new", 1,
          "SOURCE_DATE_EPOCH must be a whole number from 0 to 253402300799, not '" + wrong + "'");
    }
    desk.must("export SOURCE_DATE_EPOCH=; train --model now");
    CHECK(about(desk, "now").at("date").get<std::string>() > "2025");
  });
}

TEST_CASE("About: files are named without the folders that lead there") {
  using nlp::without_folders;
  const TemporaryFolder folder;
  CHECK(without_folders("/home/me/train.txt") == "train.txt");
  CHECK(without_folders("train.txt") == "train.txt");
  CHECK(without_folders("data/pictures//") == "pictures");
  CHECK(without_folders("a/train.ja,/b/train.en") == "train.ja,train.en");
  CHECK(without_folders("a/images.gz:labels.gz") == "images.gz:labels.gz");
  CHECK(without_folders(folder.write("one,two:three", "")) == "one,two:three");
  for (const char* same : {"", "-"}) CHECK(without_folders(same) == same);
}

TEST_CASE("About: labels of each program") {
  const std::vector<Json> labels = {{"DET", "NOUN", "VERB"},
                                    {},
                                    {"0", "1", "2", "3"},
                                    {"det", "nsubj", "root"},
                                    {"asleep", "awake"}};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Desk desk(all_programs()[i], 40, "train --model model");
    if (i != 1) CHECK(about(desk, "model").at("labels") == labels[i]);
  }
}

TEST_CASE("About: through safetensors and back it is the same model") {
  on_desks("train --model model --dev data", [](const AnyProgram& each, const Desk& desk) {
    desk.must(kTool + "convert model m.safetensors");
    std::map<std::string, std::string> metadata;
    dynet::read_safetensors(desk.path("m.safetensors"), &metadata);
    CHECK(Json::parse(metadata.at("model")) == about(desk, "model"));
    CHECK(contains(desk.must(kTool + "inspect m.safetensors"), "metadata model:\n"));
    desk.must(kTool + "convert m.safetensors back.dynet; cmp model back.dynet");
    desk.must("apply -i in -o one; p " + each.command +
              " -m back.dynet -i in -o two; cmp one two; " + kTool + "diff model m.safetensors");
    // A checkpoint as well.
    desk.must(kTool + "convert model.checkpoint c.safetensors; " + kTool +
              "convert c.safetensors c.dynet; " + "cmp c.dynet model.checkpoint");
  });
}

#endif

}  // namespace about_run_test
