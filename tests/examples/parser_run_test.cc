// The parser as its user meets it: the program itself, in processes of its own.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "tests/examples/helpers.h"
#include "tests/examples/program.h"
#include "tests/support/catch.h"

namespace parser_run_test {

namespace {

const Program kParser{"parser", PARSER_BINARY};

Result run(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
           const std::string& input = "") {
  return kParser.run(folder, arguments, input);
}

void check_refused(const Result& result, const std::string& message) {
  kParser.check_refused(result, message);
}

/// Sentences of a small language. Tags do not tell all: what "of" brings belongs to the noun before
/// it, what "with" brings to the verb.
class Language : Dice {
 public:
  explicit Language(unsigned seed) : Dice(seed) {}

  std::string sentences(unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) text += sentence();
    return text;
  }

 private:
  struct Word {
    std::string form, tag, label;
    std::size_t head = 0;
  };

  std::size_t add(const std::string& form, const std::string& tag, const std::string& label) {
    words_.push_back({form, tag, label, 0});
    return words_.size();
  }
  void hang(std::size_t word, std::size_t head) { words_[word - 1].head = head; }

  /// Returns its noun.
  std::size_t noun_phrase(const std::string& label, unsigned depth) {
    const std::size_t first = words_.size() + 1;
    add(one_of<std::string>({"the", "a"}), "DET", "det");
    if (below(3) == 0) add(one_of<std::string>({"big", "old", "red"}), "ADJ", "amod");
    const std::size_t noun = add(one_of<std::string>({"cat", "dog", "king", "hat"}), "NOUN", label);
    for (std::size_t word = first; word < noun; ++word) hang(word, noun);
    if (depth > 0 && below(3) == 0) {
      const std::size_t of = add("of", "ADP", "case");
      const std::size_t owner = noun_phrase("nmod", depth - 1);
      hang(of, owner);
      hang(owner, noun);
    }
    return noun;
  }

  std::string sentence() {
    words_.clear();
    const std::size_t subject = noun_phrase("nsubj", 1);
    const std::size_t verb = add(one_of<std::string>({"sees", "likes", "hits"}), "VERB", "root");
    hang(subject, verb);
    hang(noun_phrase("obj", 2), verb);
    if (below(2) == 0) {
      const std::size_t with = add("with", "ADP", "case");
      const std::size_t tool = noun_phrase("obl", 1);
      hang(with, tool);
      hang(tool, verb);
    }
    hang(add(".", "PUNCT", "punct"), verb);
    std::string text;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const Word& word = words_[i];
      text += std::to_string(i + 1) + "\t" + word.form + "\t_\t" + word.tag + "\t_\t_\t" +
              std::to_string(word.head) + "\t" + word.label + "\t_\t_\n";
    }
    return text + "\n";
  }

  std::vector<Word> words_;
};

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.conllu", Language(1).sentences(200));
  std::string dev = folder.write("dev.conllu", Language(2).sentences(50));
  std::string test = folder.write("test.conllu", Language(3).sentences(50));

  std::vector<std::string> train_command(const std::string& model,
                                         const std::string& epochs) const {
    return {"train",
            "--train",
            train,
            "--dev",
            dev,
            "--model",
            folder.path(model),
            "--word",
            "12",
            "--hidden",
            "16",
            "--layers",
            "1",
            "--dropout",
            "0.1",
            "--learning-rate",
            "0.01",
            "--batch",
            "4",
            "--epochs",
            epochs};
  }
};

/// The lines without HEAD and DEPREL.
std::string without_trees(const std::string& text) {
  std::string result;
  for (const std::string& line : nlp::split_fields(text, '\n')) {
    std::vector<std::string> fields = nlp::split_fields(line, '\t');
    if (fields.size() == 10) fields[6] = fields[7] = "_";
    result += nlp::join(fields, "\t") + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("Parser: --graph finds the best tree of all, and says how probable arcs are") {
  const Workshop shop;
  for (const std::string crossing : {"", "--crossing"}) {
    const std::string model = shop.folder.path("graph" + crossing);
    std::vector<std::string> command =
        with(shop.train_command("graph" + crossing, "8"),
             {"--test", shop.test, "--graph", "--arc", "16", "--label", "8"});
    if (!crossing.empty()) command = with(command, {crossing, "--char", "8"});
    const Result trained = run(shop.folder, command);
    INFO(trained.out + trained.err);
    REQUIRE(trained.code == 0);
    CHECK(contains(trained.out, crossing.empty() ? ", projective trees, " : ", all trees, "));
    CHECK(contains(trained.out, " characters for 8, ") == !crossing.empty());
    const std::string scores = line_with(from(trained.out, "\ntest:"), "  parser");
    CHECK(std::stod(scores.substr(scores.find_first_of("0123456789"))) > 97);
    const Result parsed =
        run(shop.folder, {"parse", "--model", model, "--probabilities"}, read_file(shop.test));
    REQUIRE(parsed.code == 0);
    CHECK(contains(parsed.out, "Prob="));
    const Result evaluated =
        run(shop.folder, {"eval", "--model", model, "--data", shop.test, "--compare"});
    CHECK(contains(evaluated.out, "sentences with another tree when parsed alone: 0\n"));
  }
  check_refused(run(shop.folder, with(shop.train_command("no", "1"), {"--crossing"})),
                "--crossing needs --graph");
}

TEST_CASE("Parser: train, score in a fresh process, parse") {
  const Workshop shop;
  const std::string model = shop.folder.path("model");
  const Result trained =
      run(shop.folder, with(shop.train_command("model", "8"), {"--test", shop.test}));
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 200 sentences, 0 not projective, "));
  CHECK(
      contains(trained.out, "model: 16 words of 12, 7 tags of 25, 9 labels, 1 layer of 2 x 16, "));
  CHECK(contains(trained.out, "epoch 1: loss "));
  CHECK(contains(trained.err, "words/s"));

  const Result scored =
      run(shop.folder, {"eval", "--model", model, "--data", shop.test, "--compare", "--show", "2"});
  REQUIRE(scored.code == 0);
  INFO(scored.out);
  const std::string wanted = line_with(from(trained.out, "\ntest:"), "  parser");
  CHECK(line_with(scored.out, "  parser") == wanted);
  const std::vector<double> good = numbers_of(wanted);
  const std::vector<double> trivial = numbers_of(line_with(scored.out, "  by tag alone"));
  REQUIRE(good.size() == 4);
  REQUIRE(trivial.size() == 4);
  for (const double score : good) CHECK(score > 97);
  for (const double score : trivial) CHECK(score < 80);
  CHECK(contains(scored.out, "\nsentences with another tree when parsed alone: 0\n"));
  CHECK(contains(scored.out, "sees: root of the root"));
  // Fewer batches do the work of many, on nearly as many nodes.
  const auto batches_of = [&](const std::string& label) {
    const std::string line = line_with(scored.out, label);
    return std::strtod(line.c_str() + line.find("sentences/s, ") + 13, nullptr);
  };
  CHECK(10 * batches_of("32 together: ") < batches_of("one at a time: "));

  // Trees of the input are ignored and replaced; its other columns are copied.
  const std::string text = "# sent_id = 1\n" + read_file(shop.test);
  const std::string bare = without_trees(text);
  const Result parsed = run(shop.folder, {"parse", "--model", model}, bare);
  REQUIRE(parsed.code == 0);
  CHECK((without_trees(parsed.out) == bare));
  CHECK((parsed.out != bare));
  const std::string in = shop.folder.write("in.conllu", text);
  const std::string out = shop.folder.path("out.conllu");
  CHECK(run(shop.folder, {"parse", "-m", model, "-i", in, "-o", out, "--together", "1"}).code == 0);
  CHECK((read_file(out) == parsed.out));
  // The trees it writes are those that it was scored for.
  const Result again = run(shop.folder, {"eval", "-m", model, "-d", out});
  CHECK(contains(again.out, "  parser         100.00 %   100.00 %   100.00 %   100.00 %\n"));
}

TEST_CASE("Parser: answers come while there is more to be read, and before an error") {
  const Workshop shop;
  const auto sh = [&](const std::string& command) {
    const std::string program = Program::shell_word(PARSER_BINARY);
    return std::system(("cd " + Program::shell_word(shop.folder.path("")) + " && p() { " + program +
                        " \"$@\"; } && " + command)
                           .c_str());
  };
  for (const std::string graph : {"", "--graph"}) {
    std::vector<std::string> command = shop.train_command("model" + graph, "1");
    if (!graph.empty()) command = with(command, {graph, "--arc", "8", "--label", "8"});
    REQUIRE(run(shop.folder, command).code == 0);
    const std::string model = "model" + graph;
    const std::string sentence = "1\tking\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n";
    shop.folder.write("one", sentence);
    // The second sentence comes when the first one has been answered, or after ten seconds.
    const std::string second =
        "rm -f answer late; (cat one; for i in $(seq 200); do test -s answer && break; sleep 0.05; "
        "done; test -s answer || touch late; cat one) | ";
    for (const std::string options : {"", " --threads 2", " --json", " -i /dev/stdin"}) {
      CHECK(sh(second + "p parse -m " + model + options + " > answer; ! test -e late") == 0);
    }
    // Each sentence gets the tree that it gets in other company.
    REQUIRE(sh("p parse -m " + model + " --together 1 -i test.conllu > wanted") == 0);
    CHECK(sh("p parse -m " + model + " --together 3 < test.conllu | cmp - wanted") == 0);
    CHECK(sh("p parse -m " + model + " --threads 3 < test.conllu | cmp - wanted") == 0);
    CHECK(sh("cat test.conllu | p parse -m " + model + " | cmp - wanted") == 0);
    // One sentence of the test data, its tree, then a line that is none.
    const Result broken = run(shop.folder, {"parse", "-m", shop.folder.path(model)},
                              sentence + sentence + "1\tx\n\n");
    shop.folder.write("answered", broken.out);
    check_refused(broken, "standard input:5: expected the 10 tab-separated columns");
    CHECK(broken.out ==
          "1\tking\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
          "1\tking\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n");
    // A word without a known tag waits for one with it; too many of them are refused.
    const std::string odd = "1\tking\t_\tQ\t_\t_\t_\t_\t_\t_\n\n";
    const Result known = run(shop.folder, {"parse", "-m", shop.folder.path(model)}, odd + sentence);
    CHECK(known.code == 0);
    CHECK(contains(known.err, "warning: standard input:1: the model does not know the tag 'Q'"));
    std::string many;
    for (int i = 0; i < 1200; ++i) many += odd;
    for (const std::string& text : {odd, many + "never read"}) {
      const Result refused = run(shop.folder, {"parse", "-m", shop.folder.path(model)}, text);
      check_refused(refused, "the model knows none of the tags (column 4, UPOS), such as 'Q'");
      CHECK(refused.out.empty());
    }
  }
}

TEST_CASE("Parser: the same options give the same run, others another one") {
  const Workshop shop;
  const auto losses = [&](const std::string& model, const std::vector<std::string>& more) {
    return losses_of(run(shop.folder, with({"train", "--train", shop.dev, "--model",
                                            shop.folder.path(model), "--epochs", "2"},
                                           more)),
                     2);
  };
  const std::string plain = losses("a", {});
  CHECK(losses("b", {"--seed", "1"}) == plain);
  CHECK((read_file(shop.folder.path("a")) == read_file(shop.folder.path("b"))));
  const std::vector<std::vector<std::string>> others = {
      {"--seed", "2"},      {"--word", "80"},   {"--tag", "10"},      {"--hidden", "80"},
      {"--layers", "1"},    {"--mlp", "50"},    {"--batch", "7"},     {"--clip", "0.01"},
      {"--dropout", "0.4"}, {"--decay", "0.5"}, {"--unknown", "100"}, {"--learning-rate", "0.001"}};
  for (const std::vector<std::string>& other : others) {
    INFO(other[0]);
    CHECK(losses("c", with(other, {"--force"})) != plain);
  }
}

TEST_CASE("Parser: a resumed run ends where an unbroken one does") {
  const Workshop shop;
  REQUIRE(run(shop.folder, shop.train_command("whole", "3")).code == 0);
  const auto same_file = [&](const std::string& a, const std::string& b) {
    return read_file(shop.folder.path(a)) == read_file(shop.folder.path(b));
  };
  const Result stopped =
      run(shop.folder, with(shop.train_command("parts", "1"), {"--max-seconds", "1e-6"}));
  REQUIRE(stopped.code == 0);
  CHECK(contains(stopped.out, "as --max-seconds asks"));
  // Options that are left out come from the checkpoint.
  const std::vector<std::string> go_on = {
      "train",    "--train", shop.train, "--dev", shop.dev, "--model", shop.folder.path("parts"),
      "--epochs", "3",       "--resume"};
  const Result resumed = run(shop.folder, go_on);
  INFO(resumed.out + resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(contains(resumed.out, "resuming after epoch 0 and 1 updates\n"));
  const auto scores = [&](const std::string& model) {
    const Result result = run(shop.folder, {"eval", "-m", shop.folder.path(model), "-d", shop.dev});
    return line_with(result.out, "  parser");
  };
  CHECK(scores("parts") == scores("whole"));

  REQUIRE(run(shop.folder, shop.train_command("more", "1")).code == 0);
  CHECK_FALSE(same_file("more.checkpoint", "whole.checkpoint"));
  REQUIRE(run(shop.folder, with(shop.train_command("more", "3"), {"--resume"})).code == 0);
  CHECK(same_file("more", "whole"));
  CHECK(same_file("more.checkpoint", "whole.checkpoint"));

  check_refused(run(shop.folder, with(go_on, {"--hidden", "17"})),
                "began with --hidden 16: it cannot go on with 17");
  std::vector<std::string> other = go_on;
  other[2] = shop.dev;
  check_refused(run(shop.folder, other), "began with other training data");
}

TEST_CASE("Parser: mistakes give one sentence and a non-zero exit") {
  const Workshop shop;
  const TemporaryFolder& folder = shop.folder;
  const auto train_on = [&](const std::string& file) {
    return run(folder, {"train", "--train", file, "--model", folder.path("never")});
  };
  check_refused(train_on("/nowhere.conllu"),
                "cannot open /nowhere.conllu: No such file or directory");
  check_refused(train_on(folder.write("empty", "")), "empty holds no sentence");
  const std::string bare = folder.write("bare", without_trees(read_file(shop.dev)));
  check_refused(train_on(bare), "bare:1: expected a word number from 0 to ");
  check_refused(
      run(folder, {"train", "--train", shop.train, "--dev", bare, "--model", folder.path("never")}),
      "bare:1: expected a word number");
  CHECK_FALSE(std::ifstream(folder.path("never")).good());

  check_refused(run(folder, {}), "no command: expected train, eval, parse or score");
  check_refused(run(folder, {"train", "--train", shop.train}), "--model");
  const std::vector<std::string> plain = {"train",          "--train",  shop.dev, "--model",
                                          folder.path("m"), "--epochs", "1"};
  for (const char* option : {"--dropout", "--hidden", "--layers", "--batch", "--mlp", "--device"}) {
    for (const char* wrong : {"nan", "-1", "1e9", "", "0.5x"}) {
      check_refused(run(folder, with(plain, {option, wrong})), option);
    }
  }
  check_refused(run(folder, with(shop.train_command("m", "1"), {"--resume"})), "m.checkpoint");

  REQUIRE(run(folder, shop.train_command("good", "1")).code == 0);
  const std::string good = folder.path("good");
  check_broken_models(kParser, folder, good, [&](const std::string& model) {
    return run(folder, {"eval", "-m", model, "-d", shop.test});
  });
  check_refused(run(folder, {"eval", "-m", good, "-d", bare}), "bare:1: ");
  check_refused(run(folder, {"eval", "-m", good, "-d", shop.test, "--together", "0"}),
                "--together");
  check_refused(run(folder, {"parse", "-m", good}, "1\tword\n"),
                "standard input:1: expected the 10 tab-separated columns");
  check_refused(run(folder, {"parse", "-m", good, "-i", shop.test, "-o", "/nowhere/out"}),
                "cannot save /nowhere/out");
  if (std::ifstream("/dev/full").good()) {
    check_refused(run(folder, {"parse", "-m", good, "-i", shop.test, "-o", "/dev/full"}),
                  "cannot write /dev/full");
  }
}

TEST_CASE("Parser: one epoch of English-EWT reaches what greedy parsers do (slow)") {
  const char* const data = std::getenv("DYNET_DATA");
  if (data == nullptr) {
    skip("DYNET_DATA names no folder with ud-ewt");
    return;
  }
  const TemporaryFolder folder;
  const std::string ewt = std::string(data) + "/ud-ewt/";
  const Result trained = run(folder, {"train", "--train", ewt + "train.conllu", "--model",
                                      folder.path("model"), "--epochs", "1"});
  INFO(trained.out + trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "train: 12,544 sentences, 288 not projective, 204,577 words\n"));
  const Result scored =
      run(folder, {"eval", "-m", folder.path("model"), "-d", ewt + "test.conllu", "--compare"});
  INFO(scored.out);
  const std::vector<double> scores = numbers_of(line_with(scored.out, "  parser"));
  REQUIRE(scores.size() == 4);
  CHECK(scores[0] > 80);
  CHECK(scores[1] > 75);
  CHECK(contains(scored.out, "\nsentences with another tree when parsed alone: 0\n"));
}

}  // namespace parser_run_test
