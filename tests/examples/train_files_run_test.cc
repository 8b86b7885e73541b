// Output files of training: never an input, nor in place of a file that the user may want to keep.

#include <unistd.h>

#include "dynet-like/io/bytes.h"
#include "dynet-like/io/checksum.h"
#include "tests/examples/programs.h"

TEST_CASE("Train: the model never takes the place of the data") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must(
        "cp data dev; cp data test; ln -s data link; ln dev hard; cp data m.checkpoint; "
        "cp data n; ln -s n n.checkpoint; touch empty m2 m2.checkpoint; ln -s empty "
        "empty.checkpoint");
    const auto refused = [&](const std::string& script, const std::string& which) {
      desk.refuses(script, kWrongUsage, which);
      desk.refuses(script + " --force", kWrongUsage, which);
    };
    refused("train --model data", "--model data and --train data are the same file");
    refused("train --model ./data", "--train data are the same file");
    refused("train --model link", "--train data are the same file");
    refused("DATA=link train --model data", "--train link are the same file");
    refused("DATA=- train --model data < data", "standard input are the same file");
    refused("DATA=/dev/stdin train --model data < data", "are the same file");
    refused("train --dev dev --model dev", "--dev dev are the same file");
    refused("train --dev dev --model hard", "--dev dev are the same file");
    refused("train --dev dev --test test --model test", "--test test are the same file");
    refused("DATA=m.checkpoint train --model m",
            "m.checkpoint and --train m.checkpoint are the same file");
    refused("train --dev m.checkpoint --model m", "m.checkpoint and --dev");
    refused("train --model empty", "empty.checkpoint and --model empty are the same file");
    refused("train --model new >> data", "standard output and --train data are the same file");
    refused("train --model m2 >> m2", "standard output and --model m2 are the same file");
    refused("train --model m2 >> m2.checkpoint", "standard output and m2.checkpoint");
    // None of these has read anything, so data that are wrong change nothing.
    desk.write("broken", std::string("\0\n", 2));
    refused("DATA=broken train --dev dev --model dev", "--dev dev are the same file");
  });
}

TEST_CASE("Models: a file that is none of the program is named by any command, and stays") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    const bool is_tagger = each.program.name == "tagger";
    const Desk other(any_program(is_tagger ? "rnnlm" : "tagger"), 40, "train --model model");
    desk.write("other", other.read("model"));
    desk.write("notes", "what I must not forget\n");
    desk.write("empty", "");
    desk.must("train --model model; cp notes fresh.checkpoint; ln -s notes link");
    const std::string model = desk.read("model");
    desk.write("cut", model.substr(0, model.size() / 2));
    desk.must("cp model swapped.checkpoint; cp model.checkpoint swapped; mkdir folder");
    constexpr std::size_t kVersion = 8, kChecksum = 56;
    std::string newer = model, sum;
    newer[kVersion] = 9;
    dynet::io_detail::append_number(sum, dynet::checksum(newer.substr(0, kChecksum)));
    newer.replace(kChecksum, sum.size(), sum);
    desk.write("newer", newer);

    const std::string name = each.program.name, another = other.program().name;
    for (const std::string more : {"", " --force", " --resume"}) {
      const auto refused = [&](const std::string& file, const std::string& why) {
        desk.refuses("train --model " + file + more, kWrongUsage, why);
      };
      // The sentence says that the file cannot be read, and nothing of what it is.
      const std::string other_than = " of " + name + " is replaced by one: cannot load ";
      refused("notes", "only a model" + other_than + "notes: it is not a model file");
      refused("link", "only a model" + other_than + "link: it is not a model file");
      refused("empty", "only a model" + other_than + "empty: the file is cut short");
      refused("cut", "only a model" + other_than + "cut: the file is cut short");
      refused("fresh", "only a checkpoint" + other_than + "fresh.checkpoint: it is not a model");
      refused("other", "other is no model of " + name);
      refused("model.checkpoint", "model.checkpoint is no model of " + name);
      refused("swapped", "swapped is no model of " + name);
    }
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"missing", "cannot load missing: No such file"},
        {"folder", "cannot load folder: it is not a regular file"},
        {"notes", "cannot load notes: it is not a model file of this library"},
        {"empty", "cannot load empty: the file is cut short"},
        {"cut", "cannot load cut: the file is cut short"},
        {"newer", "cannot load newer: it has format version 9"},
        {"other", "other holds '" + another + " model 1', expected '" + name},
        {"model.checkpoint", "model.checkpoint holds '" + name + " checkpoint 1'"}};
    for (const auto& [file, why] : wrong) {
      desk.refuses("p " + each.command + " -m " + file + " in", kFailed, why);
      desk.refuses("p eval -m " + file + " -d data", kFailed, why);
      desk.refuses("p train --train data -m new --init " + file, kFailed, why);
    }
  });
}

TEST_CASE("Train: a model that is there asks whether to go on or to begin again") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("train --model model; cp model alone; cp model.checkpoint half.checkpoint");
    const auto asks = [&](const std::string& script, const std::string& which) {
      desk.refuses(script, kWrongUsage, which + " exists");
      const std::string message = desk.sh(script).err;
      CHECK(contains(message, "--resume"));
      CHECK(contains(message, "--force"));
    };
    asks("train --model model", "model");
    asks("train --model alone", "alone");
    asks("train --model half", "half.checkpoint");
    desk.refuses("train --model model --resume --force", kWrongUsage, "--force");
    desk.refuses("DATA=missing train --model alone --resume", kFailed, "alone.checkpoint");
    desk.refuses("DATA=missing train --model none --resume", kFailed, "none.checkpoint");

    desk.must("cp model old; EPOCHS=3 train --model model --seed 7 --force");
    CHECK(desk.read("model") != desk.read("old"));
    desk.must("EPOCHS=3 train --model same --seed 7 && cmp same model");
    CHECK(contains(desk.must("EPOCHS=4 train --model model --resume"), "resuming after epoch 3"));
    desk.must("EPOCHS=4 train --model same --seed 7 --force && cmp same model");
    CHECK(contains(desk.must("EPOCHS=2 train --model half --resume"), "resuming after epoch 1"));
    desk.must("train --model new --force");  // where there is nothing, --force changes nothing
    desk.must("cmp new old");
  });
}

TEST_CASE("Train: a model that cannot be saved is refused before training") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("mkdir folder folder2.checkpoint");
    const std::string longest(255, 'm');
    // So many epochs that only a refusal before training ends in time.
    const auto refused = [&](const std::string& model, const std::string& why) {
      for (const std::string data : {"data", "none"}) {
        desk.refuses("DATA=" + data + " EPOCHS=1000000 train --model " + model, kFailed, why);
      }
    };
    refused("none/model", "cannot save none/model: ");
    refused("none/model", "No such file or directory");
    refused("data/model", "Not a directory");
    refused("folder", "folder is a directory, not a model");
    refused("folder/", "folder/ is a directory, not a model");
    refused("folder2", "folder2.checkpoint is a directory, not a checkpoint");
    refused("/dev/null", "it is not a regular file");
    refused("/proc/model", "cannot save /proc/model: ");
    refused(longest.substr(0, 250), "File name too long");
    refused(longest, "File name too long");
    desk.must("ln -s loop loop");
    refused("loop", "cannot save loop: Too many levels of symbolic links");
  });
}

TEST_CASE("Train: permissions are looked at before the work") {
  if (geteuid() == 0) return skip("the user root may write where permissions forbid it");
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("mkdir folder; train --model old; chmod 444 old; chmod 555 folder");
    desk.refuses("EPOCHS=1000000 train --model old --force", kFailed,
                 "it may not be written: Permission denied");
    desk.refuses("EPOCHS=1000000 train --model folder/model", kFailed, "Permission denied");
    desk.must("chmod 755 folder");
  });
}

TEST_CASE("Train: a full quota is found out before the work and loses nothing") {
  on_desks("train --model model", [](const AnyProgram& each, const Desk& desk) {
    const Strings before = desk.contents();
    for (const std::string command :
         {"train --model new", "train --model model --force", "train --model model --resume"}) {
      const Result result = desk.sh("ulimit -f 1; EPOCHS=1000000; " + command + " > /dev/null");
      CHECK(result.code == kFailed);
      each.program.check_refused(result, ".checkpoint: cannot write: File too large");
      CHECK(desk.contents() == before);
    }
  });
}

TEST_CASE("Train: a quota that is full after all breaks a run off and loses nothing") {
  on_desks("train --model model", [](const AnyProgram& each, const Desk& desk) {
    const auto size = [&](const std::string& name) {
      return std::filesystem::file_size(desk.path(name));
    };
    // A checkpoint is larger once there are updates, and a model is smaller than that.
    const std::string command = "train --model new --learning-rate 0.1";
    const std::uintmax_t blocks = (size("model.checkpoint") - 1) / 512;
    REQUIRE(blocks * 512 > size("model"));
    const Result result = desk.sh("ulimit -f " + std::to_string(blocks) + "; " + command);
    INFO(result.out << result.err);
    CHECK(result.code == kFailed);
    CHECK(contains(result.err, "\n" + each.program.name +
                                   ": cannot save new.checkpoint: cannot write: File too large\n"));
    CHECK(desk.names() == Strings{"data", "in", "model", "model.checkpoint", "new"});
    desk.must("p eval -m new -d data && train --model new --force");
  });
}
