// The tagger as its user meets it: the program itself, in processes of its own.

#include <fstream>
#include <string>
#include <vector>

#include "dynet-like/io/contents.h"
#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace tagger_run_test {

namespace {

const Program kTagger{"tagger", TAGGER_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kTagger.run(folder, arguments, input);
}

/// "the big dog sees a small cat ." and so on: tags that follow from the words, with one word that
/// needs its neighbours, and words that appear in the test part alone.
std::string sentences(unsigned count, unsigned seed, bool new_words) {
  const std::vector<std::string> adjectives = {"big", "small", "red", "old"};
  const std::vector<std::string> nouns = {"dog", "cat", "house", "tree", "watch"};
  const std::vector<std::string> verbs = {"sees", "likes", "watch", "takes"};
  Dice dice(seed);
  const auto pick = [&](const std::vector<std::string>& words) { return dice.one_of(words); };
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const std::string noun = new_words && i % 4 == 0 ? "zebra" + std::to_string(i) : pick(nouns);
    text += "the|DET " + pick(adjectives) + "|ADJ " + noun + "|NOUN " + pick(verbs) +
            "|VERB a|DET " + pick(adjectives) + "|ADJ " + pick(nouns) + "|NOUN .|PUNCT\n";
  }
  return text;
}

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.txt", sentences(150, 1, false));
  std::string dev = folder.write("dev.txt", sentences(30, 2, true));
  std::string test = folder.write("test.txt", sentences(30, 3, true));

  std::vector<std::string> train_command(const std::string& model) const {
    return {"train",
            "--train",
            train,
            "--dev",
            dev,
            "--model",
            folder.path(model),
            "--features",
            "word:16,suffix3:8",
            "--hidden",
            "16",
            "--epochs",
            "4",
            "--learning-rate",
            "0.01"};
  }
};

void check_refused(const Result& result, const std::string& message) {
  kTagger.check_refused(result, message);
}

}  // namespace

TEST_CASE("Tagger: default features depend on the format") {
  const Workshop shop;
  const auto model_line = [&](const std::string& data, const std::vector<std::string>& more) {
    const Result trained =
        run(shop.folder, with({"train", "--train", data, "--model", shop.folder.path("new"),
                               "--force", "--hidden", "4", "--epochs", "1"},
                              more));
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    return line_with(trained.out, "model: ");
  };
  CHECK(contains(model_line(shop.train, {}), "model: word:128,suffix3:32,shape:16, "));
  CHECK(contains(model_line(shop.train, {"--features", "word"}), "model: word:128, "));
  const std::string text = shop.folder.write("text", "The cat sat on the mat.\nA dog ran.\n");
  CHECK(contains(model_line(text, {"--format", "text"}), "model: word:64, "));
}

TEST_CASE("Tagger: train, score in a fresh process, tag") {
  const Workshop shop;
  const Result trained = run(shop.folder, with(shop.train_command("model"), {"--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 150 sentences, 1,200 words, 5 tags\n"));
  CHECK(contains(trained.out, "epoch 4: loss "));
  CHECK(contains(trained.out, "most frequent tag/word"));
  CHECK(contains(trained.err, "epoch 1: 25 % ("));
  CHECK(contains(trained.err, "words/s"));

  const Result scored =
      run(shop.folder, {"eval", "--model", shop.folder.path("model"), "--data", shop.test});
  REQUIRE(scored.code == 0);
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  tagger");
  CHECK(line_with(scored.out, "  tagger") == wanted);
  CHECK(contains(wanted, "100.00 %"));
  CHECK_FALSE(contains(line_with(scored.out, "most frequent"), "100.00 %"));

  const std::string input = "the old watch watch a red yak .\n\n  a  big tree\n";
  const Result tagged = run(shop.folder, {"tag", "--model", shop.folder.path("model")}, input);
  REQUIRE(tagged.code == 0);
  CHECK(tagged.out ==
        "the|DET old|ADJ watch|NOUN watch|VERB a|DET red|ADJ yak|NOUN .|PUNCT\n\n"
        "a|DET big|ADJ tree|NOUN\n");

  const std::string file = shop.folder.write("in.txt", input);
  const std::string out = shop.folder.path("out.txt");
  CHECK(run(shop.folder, {"tag", "-m", shop.folder.path("model"), "-i", file, "-o", out}).code ==
        0);
  CHECK(read_file(out) == tagged.out);
}

TEST_CASE("Tagger: the same seed gives the same run, another seed another one") {
  const Workshop shop;
  const auto epochs = [&](const std::string& model, const std::string& seed) {
    return losses_of(run(shop.folder, with(shop.train_command(model), {"--seed", seed})), 4);
  };
  const std::string first = epochs("a", "5");
  CHECK(epochs("b", "5") == first);
  CHECK(epochs("c", "6") != first);
  const auto tagged = [&](const std::string& model) {
    return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.test, "--show", "5"})
        .out;
  };
  CHECK(tagged("a") == tagged("b"));
}

TEST_CASE("Tagger: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  REQUIRE(run(shop.folder, with(shop.train_command("whole"), {"--decay", "0.9"})).code == 0);

  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  std::vector<std::string> command = with(shop.train_command("parts"), {"--decay", "0.9"});
  REQUIRE(run(shop.folder, replaced(command, "--epochs", "2")).code == 0);
  const Result resumed = run(shop.folder, with(command, {"--resume"}));
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.out, "resuming after epoch 2\n"));
  CHECK_FALSE(contains(resumed.out, "epoch 2: loss"));
  CHECK(contains(resumed.out, "epoch 3: loss"));
  CHECK(same_file("parts", "whole"));
  CHECK(same_file("parts.checkpoint", "whole.checkpoint"));

  check_refused(run(shop.folder, with(command, {"--resume", "--seed", "9"})),
                "began with --seed 1: it cannot go on with 9");
  std::vector<std::string> other = with(command, {"--resume"});
  other[2] = shop.dev;
  check_refused(run(shop.folder, other), "began with other training data");
}

TEST_CASE("Tagger: a run stopped by the clock goes on where it was") {
  const Workshop shop;
  check_stopped_by_clock(
      [&](const std::string& model, const std::vector<std::string>& more) {
        return run(shop.folder, with(shop.train_command(model), more));
      },
      [&](const std::string& model) {
        return run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev}).out;
      });
}

TEST_CASE("Tagger: training stops when the dev score stays the same") {
  const Workshop shop;
  const Result result =
      run(shop.folder,
          with(replaced(shop.train_command("model"), "--epochs", "100"), {"--patience", "1"}));
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "stopped: no better dev score in 1 epochs"));
}

TEST_CASE("Tagger: names are scored as spans") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += "in\tO\nNew\tB-LOC\nYork\tI-LOC\nlives\tO\nAnn\tB-PER\n\n";
    text += "Bob\tB-PER\nleft\tO\nOld\tB-LOC\nYork\tI-LOC\n\n";
  }
  const std::string data = folder.write("names.conll", text);
  const Result result =
      run(folder, {"train", "--train", data, "--dev", data, "--model", folder.path("model"),
                   "--features", "word:8", "--hidden", "8", "--epochs", "6", "--learning-rate",
                   "0.02", "--patience", "0"});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "span F1 100.00 %"));
  CHECK(contains(result.out, "span precision"));
}

TEST_CASE("Tagger: a CRF keeps to the scheme of the tags") {
  // A kind of span begins with "in" or "by"; its second word may be any.
  Dice dice(11);
  const std::vector<std::string> words = {"rome", "paris", "milk", "bread", "blue"};
  std::string data;
  for (int i = 0; i < 120; ++i) {
    const bool place = dice.one_of<std::string>({"a", "b"}) == "a";
    const std::string kind = place ? "PLACE" : "WAY";
    data += "we|O go|O " + std::string(place ? "in" : "by") + "|B-" + kind + ' ' +
            dice.one_of(words) + "|I-" + kind + ' ' + dice.one_of(words) + "|I-" + kind +
            " now|O\n";
  }
  const Workshop shop;
  const std::string train = shop.folder.write("spans", data);
  const auto train_with = [&](const std::vector<std::string>& more) {
    return run(shop.folder, with({"train", "--train", train, "--split", "80/10/10", "--model",
                                  shop.folder.path("crf"), "--features", "word:8", "--hidden", "8",
                                  "--epochs", "6", "--learning-rate", "0.02"},
                                 more));
  };
  const Result trained = train_with({"--crf"});
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(line_with(trained.out, "model: "), "CRF with constraints"));
  CHECK(contains(line_with(from(trained.out, "\ntest:"), "  tagger"), "100.00 %"));
  const Result tagged =
      run(shop.folder,
          {"tag", "--model", shop.folder.path("crf"), "--format", "json", "--probabilities"},
          "we go by blue milk now\n");
  REQUIRE(tagged.code == 0);
  CHECK(contains(tagged.out, R"("tags":["O","O","B-WAY","I-WAY","I-WAY","O"])"));
  CHECK(contains(tagged.out, R"("probabilities":[)"));
  // Nothing that begins inside a span, whatever the words are.
  const Result strange =
      run(shop.folder, {"tag", "--model", shop.folder.path("crf"), "--format", "columns"},
          "milk bread\nin\n");
  REQUIRE(strange.code == 0);
  CHECK_FALSE(contains(strange.out.substr(0, strange.out.find('\n')), "I-"));
  // Training goes on from such a model.
  const Result more =
      run(shop.folder, {"train", "--train", train, "--init", shop.folder.path("crf"), "--model",
                        shop.folder.path("next"), "--epochs", "1"});
  INFO(more.err);
  CHECK(more.code == 0);
  CHECK(contains(line_with(more.out, "model: "), "CRF with constraints"));
}

TEST_CASE("Tagger: characters tell of words that training did not have") {
  const auto data = [](unsigned seed) {  // verbs have an x somewhere
    Dice dice(seed);
    std::string text;
    for (unsigned i = 0; i < 150; ++i) {
      for (unsigned k = 0; k < 4; ++k) {
        std::string word;
        for (unsigned c = 0; c < 6; ++c) word += static_cast<char>('a' + dice.below(12));
        const bool verb = dice.below(2) == 0;
        if (verb) word[1 + dice.below(4)] = 'x';
        text += word + (verb ? "|VERB " : "|NOUN ");
      }
      text += "\n";
    }
    return text;
  };
  const TemporaryFolder folder;
  const std::string train = folder.write("train", data(1)), test = folder.write("test", data(2));
  for (const std::string feature : {"char:16", "charcnn:16"}) {
    const std::string model = folder.path(feature.substr(0, 5));
    const Result trained = run(folder, {"train", "--train", train, "--test", test, "--model", model,
                                        "--features", feature, "--hidden", "8", "--epochs", "8",
                                        "--learning-rate", "0.02", "--dropout", "0", "--force"});
    INFO(trained.out + trained.err);
    REQUIRE(trained.code == 0);
    CHECK(contains(line_with(trained.out, "model: "),
                   feature == "char:16" ? "charlstm:16, " : "charcnn:16, "));
    CHECK(contains(line_with(from(trained.out, "\ntest:"), "  tagger"), "100.00 %"));
    const Result tagged = run(folder, {"tag", "--model", model}, "\xC3\xA9x\xC3\xA9 q\n");
    INFO(tagged.err);
    CHECK(tagged.code == 0);
  }
}

TEST_CASE("Tagger: vectors from a file tell of words that training did not have") {
  // Words have no meaning but their vectors: the tag is the sign of the first number.
  const TemporaryFolder folder;
  std::string vectors = "300 4\n", train, test;
  Dice dice(5);
  for (unsigned i = 0; i < 300; ++i) {
    const bool positive = dice.below(2) == 0;
    const std::string word = "w" + std::to_string(i);
    vectors += word + (positive ? " 1" : " -1");
    for (unsigned k = 0; k < 3; ++k) vectors += " 0." + std::to_string(dice.below(10));
    vectors += "\n";
    const std::string tagged = (i == 7 ? "W7" : word) + (positive ? "|P" : "|N");
    (i < 200 ? train : test) += tagged + (i % 4 == 3 ? "\n" : " ");
  }
  const std::string file = folder.write("v.vec", vectors);
  const std::vector<std::string> command = {"train",
                                            "--train",
                                            folder.write("train", train),
                                            "--test",
                                            folder.write("test", test),
                                            "--model",
                                            folder.path("model"),
                                            "--hidden",
                                            "8",
                                            "--batch",
                                            "8",
                                            "--learning-rate",
                                            "0.02",
                                            "--dropout",
                                            "0"};
  const Result trained =
      run(folder, with(command, {"--features", "word", "--vectors", file, "--epochs", "40"}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  // "W7" has the vector of its lower case; the unknown word has none.
  CHECK(contains(
      trained.out,
      "vectors: 300 words of 4 numbers, for 100.00 % of the 200 words of the training data"));
  CHECK(contains(line_with(trained.out, "model: "), "word:4, "));
  CHECK(contains(line_with(from(trained.out, "\ntest:"), "  tagger"), "100.00 %"));
  // A resumed run needs the file no more.
  const Result resumed = run(folder, with(command, {"--resume", "--epochs", "41"}));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  // The unknown word is no word of the training data, and a word that comes twice is one.
  const std::string twice = folder.write("twice.vec", "w1 1 2\nw2 3 4\nw1 9 9\n");
  const std::vector<std::string> small = {"train",
                                          "--train",
                                          folder.write("small", "w1|P w2|N\n"),
                                          "--model",
                                          folder.path("small.model"),
                                          "--hidden",
                                          "4",
                                          "--epochs",
                                          "1",
                                          "--force"};
  CHECK(
      contains(run(folder, with(small, {"--features", "word", "--vectors", twice})).out,
               "vectors: 2 words of 2 numbers, for 100.00 % of the 2 words of the training data"));
  CHECK(contains(run(folder, with(small, {"--vectors", folder.write("other.vec", "x 1\n")})).err,
                 "warning: no word of the training data has a vector in that file\n"));
  check_refused(run(folder, with(small, {"--vectors", folder.write("nan.vec", "w1 1\nw2 nan\n")})),
                "nan.vec: line 2: needs a word and 1 numbers; \"nan\" is not a number");
  dynet::NamedTensor numbers, words;
  numbers.name = "vectors";
  numbers.shape = {1, 1};
  numbers.bytes = std::string("\0\0\xc0\x7f", 4);
  words.name = "words";
  words.type = dynet::NamedTensor::Type::U8;
  words.shape = {3};
  words.bytes = "w1\n";
  dynet::write_tensors(folder.path("nan.safetensors"), {numbers, words});
  check_refused(run(folder, with(small, {"--vectors", folder.path("nan.safetensors")})),
                "a number of the word 'w1' is not finite");
  check_refused(run(folder, with(command, {"--force", "--features", "shape", "--vectors", file})),
                "--vectors needs the feature word or lower");
  check_refused(run(folder, with(command, {"--force", "--vectors", folder.path("train")})),
                "train");
  check_refused(run(folder, with(command, {"--force", "--vectors", folder.path("none")})),
                "No such file");
}

TEST_CASE("Tagger: the n best sequences of tags, with probabilities") {
  const Workshop shop;
  const std::string input = "the big dog watch a red watch .\nthe\n\n";
  for (const std::string crf : {"", "--crf"}) {
    const std::string model = "model" + crf;
    std::vector<std::string> command = shop.train_command(model);
    if (!crf.empty()) command.push_back(crf);
    REQUIRE(run(shop.folder, command).code == 0);
    const auto tag = [&](const std::vector<std::string>& more) {
      return run(shop.folder, with({"tag", "--model", shop.folder.path(model)}, more), input);
    };
    const Result best = tag({"--nbest", "3"});
    INFO(best.out + best.err);
    REQUIRE(best.code == 0);
    const std::vector<std::string> lines = nlp::split_fields(best.out, '\n');
    REQUIRE(lines.size() == 10);  // of the last, empty line a blank one too
    CHECK(lines[8].empty());
    CHECK(lines[3].empty());
    CHECK(lines[7].empty());
    double last = 1, sum = 0;
    for (int i = 0; i < 3; ++i) {
      const std::size_t tab = lines[i].find('\t');
      REQUIRE(tab != std::string::npos);
      const double probability = std::stod(lines[i].substr(0, tab));
      CHECK(probability <= last);
      last = probability;
      sum += probability;
      for (int k = 0; k < i; ++k)
        CHECK(lines[k].substr(lines[k].find('\t')) != lines[i].substr(tab));
    }
    CHECK(sum <= 1.0001);
    // The first is what is found without a list.
    CHECK(lines[0].substr(lines[0].find('\t') + 1) == nlp::split_fields(tag({}).out, '\n')[0]);
    // A sentence of one word has as many sequences as tags: all are listed.
    const Result all = tag({"--nbest", "100", "--format", "json"});
    REQUIRE(all.code == 0);
    const std::string word = nlp::split_fields(all.out, '\n')[1];
    double total = 0;
    std::size_t count = 0;
    for (std::size_t at = word.find("probability\":"); at != std::string::npos;
         at = word.find("probability\":", at + 1), ++count)
      total += std::stod(word.substr(at + 13));
    CHECK(count == 5);
    CHECK(total == Approx(1).epsilon(1e-5));
    check_refused(tag({"--nbest", "2", "--format", "columns"}), "has no place for --nbest");
    check_refused(tag({"--nbest", "0"}), "--nbest");
  }
}

TEST_CASE("Tagger: case and punctuation come back") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 1; i <= 200; ++i) {
    const std::string verse = "Ge1:" + std::to_string(i) + " ";
    text += verse + (i % 2 == 0 ? "And God said, Let there be light: and there was light.\n"
                                : "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  }
  const std::string data = folder.write("verses.txt", text);
  const std::string model = folder.path("model");
  const Result result =
      run(folder, {"train", "--train", data, "--split", "80/10/10", "--model", model, "--features",
                   "word:16", "--hidden", "16", "--epochs", "6", "--learning-rate", "0.01"});
  INFO(result.out + result.err);
  REQUIRE(result.code == 0);
  CHECK(contains(result.out, "mark precision"));

  const Result test =
      run(folder, {"eval", "-m", model, "-d", data, "--part", "test", "--show", "3"});
  REQUIRE(test.code == 0);
  CHECK(line_with(test.out, "  tagger") == line_with(from(result.out, "\ntest:"), "  tagger"));
  CHECK(contains(test.out, "  restored: And God said, Let there be light: and there was light.\n"));

  const std::string bare = "but the lord blessed be he spake unto moses and he heard\n";
  CHECK(run(folder, {"tag", "-m", model}, bare).out ==
        "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  const std::string dressed = "but The Lord; blessed? be he spake -- unto moses AND he heard\n";
  CHECK(run(folder, {"tag", "-m", model}, dressed).out ==
        "But the LORD (blessed be he) spake unto Moses; and he heard.\n");
  CHECK(contains(run(folder, {"tag", "-m", model, "--tags"}, bare).out,
                 "but|Title the|lower lord|UPPER blessed|(lower be|lower he|lower)"));
}

TEST_CASE("Tagger: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere.txt"), "cannot open /nowhere.txt: No such file or directory");
  check_refused(train_on(folder.write("empty", "")), "empty holds no sentence");
  check_refused(train_on(folder.write("bad", "a|B c|D\ne\n")), "bad:2: expected word|TAG");
  check_refused(train_on("/"), "is it a directory?");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());

  check_refused(run(folder, {}), "no command: expected train, eval or tag");
  check_refused(run(folder, {"--fly"}), "unknown option '--fly'");
  check_refused(run(folder, {"fly"}), "unknown command 'fly': expected train, eval or tag");
  check_refused(run(folder, {"train", "--train", shop.train, "--model", "m", "--wings", "2"}),
                "--wings");
  check_refused(run(folder, {"train", "--train", shop.train}), "--model");
  check_refused(run(folder, {"train", "--train", shop.train, "--model", "m", "--hidden", "x"}),
                "--hidden");
  for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"}) {
    check_refused(run(folder, with(shop.train_command("m"), {"--dropout", wrong})), "--dropout");
    check_refused(run(folder, with(shop.train_command("m"), {"--patience", wrong})), "--patience");
  }
  check_refused(run(folder, {"train", "--train", shop.train, "--model", folder.path("")}),
                "is a directory, not a model");
  check_refused(run(folder, with(shop.train_command("m"), {"--split", "90/5/5"})),
                "--split cuts --train into three parts");
  check_refused(run(folder, with(shop.train_command("m"), {"--column", "UPOS"})),
                "--column means nothing");
  check_refused(run(folder, with(shop.train_command("m"), {"--resume"})), "m.checkpoint");
  check_refused(
      run(folder, {"train", "--train", shop.train, "--model", folder.path("no/such/folder")}),
      "no/such/folder");

  const std::string data = shop.test;
  check_refused(run(folder, {"eval", "-m", "/nowhere.model", "-d", data}), "/nowhere.model");
  check_refused(run(folder, {"tag", "-m", folder.write("text", "no model\n")}, "a b\n"),
                folder.path("text"));

  REQUIRE(run(folder, shop.train_command("good")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kTagger, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", data});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", data, "--device", "GPU:99"}),
                "--device: there is no device 'GPU:99', there is: CPU");
  CHECK(run(folder, {"eval", "-m", good, "-d", data, "--device", "CPU"}).code == 0);
  check_refused(run(folder, {"eval", "-m", good, "-d", data, "--part", "half"}),
                "unknown part 'half'");
  check_refused(run(folder, {"eval", "-m", good, "-d", data, "--part", "test"}),
                "needs a model trained with --split");
  check_refused(run(folder, {"tag", "-m", good, "-i", "/nowhere.txt"}), "cannot open /nowhere.txt");
  check_refused(run(folder, {"tag", "-m", good, "-o", "/nowhere/out"}, "a\n"),
                "cannot save /nowhere/out");
  if (std::ifstream("/dev/full").good()) {
    check_refused(run(folder, {"tag", "-m", good, "-o", "/dev/full"}, "a\n"),
                  "cannot write /dev/full");
  }
}

TEST_CASE("Tagger: help") {
  const TemporaryFolder folder;
  const Result help = run(folder, {"--help"});
  CHECK(help.code == 0);
  CHECK(contains(help.out, "train"));
  CHECK(contains(run(folder, {"train", "--help"}).out, "--patience"));
}

}  // namespace tagger_run_test
