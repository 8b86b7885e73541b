// Runs of all programs on varied data: repeated, resumed and refused.
//
// DYNET_WRITE_RUNS=1 writes losses.txt and printed.txt, and adds lines to defaults.txt.

#include <regex>

#include "dynet-like/io/model_file.h"
#include "tests/examples/learners.h"

/// Losses of the epochs of a run, from its report.
std::vector<double> losses_of(const std::string& report) {
  std::vector<double> losses;
  for (const std::string& line : split_fields(report, '\n'))
    if (contains(line, "\"epoch\""))
      losses.push_back(nlohmann::json::parse(line).at("loss").get<double>());
  return losses;
}

/// Options of a command: "--word=100[1,4096]" has this default and these bounds.
std::string options_of(const ProgramFolder& folder, const std::string& command) {
  static const std::regex wrap("\n {3,}"), names("unknown .* 'x': expected (.*)"),
      option("\n  (?:-\\w, )?(--[\\w-]+)(?: ([A-Z]+)(?=\\s))?( [^\n]*)?"),
      fallback("\\[default: (.*?)\\]"),
      range("whole number from (.*) to (.*) \\(|number from (.*) to (.*) \\(");
  const std::string help = std::regex_replace(folder.must("p " + command + " --help"), wrap, " ");
  std::string line;
  for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it) {
    const std::string name = (*it)[1], kind = (*it)[2], about = (*it)[3];
    std::smatch found;
    line += " " + name;
    if (contains(about, "(required)")) line += "!";
    if (std::regex_search(about, found, fallback)) line += "=" + found.str(1);
    if (kind.empty() || kind == "FILE" || kind == "DIR") continue;
    const auto answer = [&](const std::string& value) {
      return folder.sh("p " + command + " " + name + " " + value).err;
    };
    const std::string wrong = answer("x");
    if (std::regex_search(wrong, found, names)) line += "{" + found.str(1) + "}";
    if (!std::regex_search(wrong, found, range)) continue;
    line += "[" + found.str(1) + found.str(3) + "," + found.str(2) + found.str(4) + "]";
    // The message rounds large numbers.
    const std::string most = found.str(2);
    if (most != "1e+06" && most != "1e+09") continue;
    const auto largest = static_cast<std::size_t>(std::strtod(most.c_str(), nullptr));
    CHECK_FALSE(contains(answer(std::to_string(largest)), "is no whole"));
    CHECK(contains(answer(std::to_string(largest + 1)), "is no whole"));
  }
  return line;
}

TEST_CASE("Learning: the same options give the same run, others another one") {
  const std::string file = "\n" + read_file(LOSSES_FILE);
  std::ostringstream found;
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    const std::string train = "p train --train $dev --epochs 2 " + each.plain;
    // They depend on the instruction set in the last digits alone.
    const auto check_losses = [&](const std::string& options) {
      const std::string run = each.name + (options.empty() ? "" : " ") + options + ":";
      INFO(run);
      const std::vector<double> losses = losses_of(shop.read("losses"));
      REQUIRE(losses.size() == 2);
      found << run << ' ' << losses[0] << ' ' << losses[1] << '\n';
      if (std::getenv("DYNET_WRITE_RUNS")) return;
      const std::size_t at = file.find("\n" + run);
      REQUIRE(at != file.npos);
      std::istringstream expected(file.substr(at + 1 + run.size()));
      for (const double loss : losses) {
        double known = 0;
        expected >> known;
        CHECK(loss == Approx(known).epsilon(1e-3));
      }
    };
    shop.must(train + " -m a --report losses && " + train + " -m b --seed 1 && cmp a b");
    check_losses("");
    for (const std::string& other : each.others) {
      INFO(each.name << " " << other);
      shop.must(train + " -m c --report losses --force " + other);
      CHECK_FALSE(shop.same_weights("c", "a"));
      check_losses(other);
    }
  }
  if (std::getenv("DYNET_WRITE_RUNS")) std::ofstream(LOSSES_FILE) << found.str();
}

TEST_CASE("Learning: options of each command, with defaults and bounds") {
  static const std::regex command("\n  ([a-z]+) .*");
  const std::string file = read_file(DEFAULTS_FILE);
  std::string missing;
  for (const Learner& each : learners()) {
    if (each.name != each.program.name) continue;
    const ProgramFolder folder(each.program);
    const std::string all_of_it = folder.must("p --help");
    const std::string help = from(all_of_it.substr(0, all_of_it.find("\n\nHelp:")), "Commands:");
    for (std::sregex_iterator it(help.begin(), help.end(), command), end; it != end; ++it) {
      const std::string line = each.name + " " + it->str(1);
      const std::string all = line + options_of(folder, it->str(1)) + "\n";
      if (!contains(file, "\n" + all)) missing += all;
    }
  }
  if (std::getenv("DYNET_WRITE_RUNS")) std::ofstream(DEFAULTS_FILE, std::ios::app) << missing;
  CHECK(missing == "");
}

TEST_CASE("Learning: text that train and eval print, except for what they measure") {
  static const std::regex measured("[0-9][0-9,]*[.][0-9]+|[0-9][0-9,]*(?=e[-+]|( [a-z]+/s| s)\\b)"),
      spaces(" +"), best("(, # % clipped|, best(?=\n))");
  const std::string file = read_file(PRINTED_FILE);
  std::string printed;
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    const Result trained = shop.done("train --test $test -m model --epochs 2");
    CHECK(contains(trained.err, "epoch 1: "));
    CHECK(contains(trained.err, "/s, "));
    // A fresh process prints the scores that training ended with. The parser adds its speed.
    const std::string as_in_training = each.name == "translate" ? " --beam 1" : "";
    const std::string scored = from(shop.must("p eval -m model -d $test" + as_in_training), " ");
    const std::size_t speed = std::min(scored.find("32 together: "), scored.size());
    std::string text = trained.out + scored.substr(speed);
    const std::size_t test = text.find("\ntest:" + scored.substr(0, speed));
    REQUIRE(test != text.npos);
    text.erase(test, std::string("\ntest:").size() + speed - 1);
    text = std::regex_replace(std::regex_replace(text, measured, "#"), spaces, " ");
    text = "\n== " + each.name + "\n" + std::regex_replace(text, best, "");
    INFO(text);
    CHECK(contains(file + "\n==", text + "\n=="));
    printed += text;
  }
  if (std::getenv("DYNET_WRITE_RUNS")) std::ofstream(PRINTED_FILE) << printed;
}

TEST_CASE("Learning: a resumed run ends where an unbroken one does") {
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    // Options that are left out come from the checkpoint.
    const std::string resume = "p train --train $train --dev $dev -m parts --epochs 4 --resume ";
    for (const std::string& options : each.resumed) {
      INFO(each.name << " " << options);
      shop.must("train -m whole --force --epochs 4 " + options);
      shop.must("train -m parts --force --epochs 2 " + options);
      shop.must("! cmp -s parts.checkpoint whole.checkpoint");
      const std::string resumed = shop.must(resume);
      CHECK(contains(resumed, "resuming after epoch 2\n"));
      CHECK_FALSE(contains(resumed, "epoch 2: "));
      CHECK(contains(resumed, "epoch 3: "));
      shop.must("cmp parts whole && cmp parts.checkpoint whole.checkpoint");
    }
    for (const auto& [option, before, after] : each.fixed)
      shop.refuses(resume + option + " " + after, "began with " + option + " " + before +
                                                      ": it cannot go on with " +
                                                      (after.empty() ? "on" : after));
    for (const std::string& change : each.changes) {
      shop.must("mkdir -p old; cp train* old; cat train* > all; " + change +
                "; cat train* > new; ! cmp -s all new");
      shop.refuses(resume, "began with other training data");
      shop.must("cp old/* .");
    }
  }
}

TEST_CASE("Learning: a run stopped by the clock goes on where it was") {
  for (const Learner& each : learners()) {
    INFO(each.name);
    const Workshop shop(each);
    shop.must("train -m whole --epochs 3");
    const std::string stopped = shop.must("train -m parts --epochs 3 --max-seconds 1e-6");
    CHECK(contains(stopped, "epoch 1 ("));
    CHECK(contains(stopped, "as --max-seconds asks"));
    CHECK(contains(shop.must("train -m parts --epochs 3 --resume"),
                   "resuming after epoch 0 and 1 updates"));
    const auto scores = [&](const std::string& model) {
      return shop.must("p eval -m " + model + " -d $dev | sed 's/[0-9,]* sentences.s//'");
    };
    CHECK(scores("parts") == scores("whole"));
  }
}

TEST_CASE("Learning: one file cut in three, and its parts found again") {
  for (const Learner& each : learners()) {
    INFO(each.name);
    const Workshop shop(each);
    if (!each.splits) {
      shop.refuses("p train --train $train -m m --split 8/1/1", "unknown option '--split'");
      continue;
    }
    const std::string train = "p train --train $train --epochs 1 " + each.plain;
    const std::string trained = shop.must(train + " -m split --split 50/20/30");
    const std::string as_in_training = each.name == "translate" ? " --beam 1" : "";
    const std::string test = shop.must("p eval -m split -d $train --part test" + as_in_training);
    CHECK(contains(test, "test: "));
    CHECK(contains(trained, "\n" + test));
    shop.must("train -m model --epochs 1");
    shop.refuses("p eval -m model -d $train --part test", "needs a model trained with --split");
    shop.refuses("p eval -m split -d $train --part half", "unknown part 'half'");
    shop.refuses("train -m m --split 90/5/5", "--split cuts --train into three parts");
  }
}

TEST_CASE("Learning: commands, files and devices that there are not") {
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    shop.refuses("p", kWrongUsage, "no command: expected " + each.commands);
    shop.refuses("p fly", kWrongUsage, "unknown command 'fly': expected " + each.commands);
    shop.refuses("p train --train $train", "--model is required");
    shop.refuses("p train --train /nowhere -m m",
                 "cannot open /nowhere: No such file or directory");
    shop.refuses("train -m m --device GPU:99",
                 "--device: there is no device 'GPU:99', there is: CPU");
  }
}

TEST_CASE("Learning: options and data that do not fit each other") {
  struct Refusal {
    std::string learner, prepared, script, message;
  };
  const std::string one = "head -n 1 train > one", split = "p train --train one -m m --split ",
                    fresh = "p train --train $dev -m m ",
                    transformer = fresh + "--network transformer --hidden 24 ";
  const std::vector<Refusal> refusals = {
      {"tagger", one, split + "1/1000/1", "one is too short to be split"},
      {"tagger", "", split + "90/10", "expected a split such as 90/5/5 (train/dev/test), found"},
      {"tagger", "", split + "0/5/5", "the train part of --split must not be 0"},
      {"tagger", "", "p train --train $dev -m m --features word:4,word:8",
       "feature 'word' is named twice"},
      {"tagger", "echo 'a X' > c", "p train --train c --format columns --column 0 -m m",
       "--column counts from 1, so 0 names no column"},
      {"tagger", "p train --train $dev --format text --hidden 4 --epochs 1 -m marks",
       "p tag -m marks --input-format conllu < one", "its input is lines, --input-format words"},
      {"tagger", "", "p tag -m marks --format conllu < one", "--format conllu is for sentences"},
      {"tagger", "", "p tag -m model --format text < one", "which this one does not"},
      {"tagger", "", "train -m m --column UPOS", "--column means nothing"},
      {"rnnlm", "", transformer + "--heads 5", "--heads must divide --hidden, got 5 and 24"},
      {"rnnlm", "", transformer + "--word 16",
       "--word must be as large as --hidden in a transformer, got 16 and 24"},
      {"rnnlm", "", transformer + "--positions rotary --heads 8",
       "--positions rotary needs a --hidden of an even number for each of --heads"},
      {"parser", "", "p parse -m model --input-format words < train", "has no tags: --tagger"},
      {"treelstm", "seq 1001 | sed 's/.*/(l& (a x) (b y))/' > many", "p train --train many -m m",
       "at most 1000 different labels"},
      {"treelstm", "printf '(2 fine)\\n(2 bad)\\n' > one", "p train --train one -m m",
       "one has one label only"},
      {"parser", "", "train -m m --crossing", "--crossing needs --graph"},
      {"classifier", "printf 'a\\tx\\na\\ty\\n' > one", "p train --train one -m m",
       "one has no label but 'a': there is nothing to tell apart"},
      {"translate", "", fresh + "--network transformer --hidden 10",
       "--heads must divide --hidden, got 4 and 10"},
      {"translate", "", fresh + "--network transformer --copy", "--copy is for --network lstm"},
      {"translate", "", fresh + "--format both", "unknown format 'both': expected tab or parallel"},
      {"translate", "", fresh + "--format parallel",
       "takes two files, as in source.txt,target.txt"},
      {"emoji", one, split + "1/1000/1", "one is too short to be split"},
      {"emoji", "", fresh + "--split-seed x", "--split-seed"},
      {"emoji", "", "p gather --font /nowhere.ttf --unicode /nowhere -o x",
       "there is no file /nowhere/emoji/emoji-test.txt: the Debian package unicode-data has it"},
      {"digits", "", "p train --train none --format idx -m m", "expected IMAGES:LABELS, two IDX"},
      {"digits", "", "p train --train $train -m m --folds 241",
       "240 pictures, too few for 241 folds"},
      {"digits", "", fresh + "--encoding latin1", "--encoding"},
      {"digits", "echo x > x", "p classify -m model x", "x is no picture in the format "},
      {"digits", "", "p classify -m model", "FILE"},
      {"digits", "", "p classify -m model x -o x", "x"},
      {"digits", "", "p eval -m model -d $test --pictures model", "model"}};
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    shop.must("train -m model --epochs 1");
    for (const auto& [learner, prepared, script, message] : refusals) {
      if (learner != each.name) continue;
      shop.must(prepared);
      shop.refuses(script, message);
    }
  }
}

TEST_CASE("Learning: data from which nothing can be learned are warned of") {
  struct Warning {
    std::string learner, prepared, options, message;
  };
  const std::string same = " is the same as the training data: ",
                    one = ": there is nothing to tell apart\n",
                    saw = R"(echo '{"group": "g", "subgroup": "s", "words": ["saw"]}' > one)",
                    fox = R"(; echo '{"group": "g", "subgroup": "t", "words": ["fox"]}' >> one)";
  const std::vector<Warning> warnings = {
      {"tagger", "echo 'the|DET cat|DET' > one", "one", "one has no tag but 'DET'" + one},
      {"treelstm", "echo '(3 (3 good) (3 film))' > one", "one --labels a,b,c,d",
       "one has no label but 'd'" + one},
      {"parser", "sed 's/\\(DET\\|ADJ\\|NOUN\\|VERB\\|ADP\\|PUNCT\\)/X/' dev > one", "one",
       "one has no tag but 'X'" + one},
      {"parser", "sed '/^[0-9]/s/[a-z]*\\t_\\t_$/dep\\t_\\t_/' dev > one", "one",
       "one has no label but 'dep'" + one},
      {"emoji", saw, "one --dev $dev", "one has no subgroup but 's'" + one},
      {"emoji", saw + fox, "one --dev $dev", "one has no group but 'g'" + one},
      {"emoji", saw + fox, "one --dev $dev --inputs image,table", "one has any of image,table: "},
      {"emoji", "cp dev one", "one --dev $dev", same},
      {"digits", "", "$train --dev $dev --shift 8",
       "--shift 8 moves pictures of 8x8 out of sight\n"},
      {"digits", "", "$train --dev $train", same}};
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    const std::string train = "p train --epochs 1 -m m --force " + each.plain + " --train ";
    CHECK_FALSE(contains(shop.done(train + "$train --dev $dev").err, "warning"));
    for (const auto& [learner, prepared, options, message] : warnings) {
      if (learner != each.name) continue;
      shop.must(prepared);
      const std::string warned = shop.done(train + options).err;
      INFO(warned);
      CHECK(contains(warned, message));
      if (!contains(options, "--dev")) CHECK(occurrences(warned, "warning: ") == 1);
    }
  }
}

TEST_CASE("Learning: a model file that was cut or changed is refused") {
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    shop.must("train -m model --epochs 1 --device CPU");
    const std::string bytes = shop.read("model");
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
      shop.write("cut", bytes.substr(0, size));
      shop.refuses("p eval -m cut -d $test", "cut");
    }
    std::string changed = bytes;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    shop.write("altered", changed);
    shop.refuses("p eval -m altered -d $test", "altered");
    shop.must("cp model swapped.checkpoint");
    shop.refuses("p train --train $train -m swapped --resume",
                 "swapped.checkpoint is no checkpoint of " + each.program.name);
  }
}

TEST_CASE("Learning: weights that are no numbers, and what a model makes of them") {
  for (const Learner& each : learners()) {
    const Workshop shop(each);
    shop.must("train -m model --epochs 1");
    const dynet::ModelFile file(shop.path("model"));
    // In the arrays whose names have `part`.
    const auto refuses_nan_in = [&](const std::string& part, const std::string& options) {
      Strings sections;
      for (const dynet::SavedThing& thing : file.index().things)
        sections.push_back(file.read(thing.data));
      for (const dynet::SavedGroup& group : file.index().groups)
        for (const dynet::SavedTensor& tensor : group.tensors) {
          sections.push_back(file.read(tensor.data));
          for (std::size_t i = 0; contains(tensor.name, part) && i < tensor.count(); ++i)
            sections.back().replace(4 * i, 4, "\0\0\xC0\x7F", 4);
        }
      dynet::write_model_file(shop.path("bad"), file.index(), {sections.begin(), sections.end()});
      const std::string eval = "p eval -d $test -m bad " + options;
      shop.refuses(eval, "has numbers that are not finite");
      if (each.program.name != "rnnlm")  // has a perplexity that is no number
        shop.refuses(eval + " --allow-not-finite",
                     each.name == "translate" ? "bad: beam_search: needs log-probabilities, got nan"
                                              : "bad: the model gives a score of ");
    };
    refuses_nan_in("/", "");
    if (each.name == "annotate") refuses_nan_in("/tagger/", "--from words");
  }
}
