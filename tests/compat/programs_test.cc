// The programs in programs/ do what they would with DyNet.

#include <cmath>
#include <cstdlib>

#include "tests/examples/program.h"

namespace programs_test {

namespace {

Program program(const std::string& name) {
  return {name, std::string(COMPAT_PROGRAMS) + "/" + name};
}

/// The number behind `start`, such as "E = ".
double number_behind(const Result& result, const std::string& start) {
  const std::string text = from(result.out, start);
  INFO(text << result.err);
  REQUIRE(text.size() > start.size());
  REQUIRE(text.compare(0, start.size(), start) == 0);
  return std::stod(text.substr(start.size()));
}

/// Runs a program that must succeed.
Result run(const TemporaryFolder& folder, const std::string& name,
           std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), "--dynet-seed=5");
  const Result result = program(name).run(folder, arguments);
  INFO(result.out << result.err);
  REQUIRE(result.code == 0);
  return result;
}

/// Runs it in a folder of its own.
Result run(const std::string& name) { return run(TemporaryFolder(), name); }

// The second word decides the third, the first one the last.
std::string corpus() {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += i % 3 == 0   ? "the dog barks at night\n"
            : i % 3 == 1 ? "the cat sleeps at noon\n"
                         : "a bird sings at dawn\n";
  return text;
}

}  // namespace

TEST_CASE("exclusive or, with what DyNet prints") {
  const TemporaryFolder folder;
  const Result result = run(folder, "xor", {"--dynet-mem", "512", "60"});
  CHECK(number_behind(result, "E = ") < 0.01);
  CHECK(contains(result.err, "digraph"));
  CHECK(contains(result.err, "[lr=0.1 clips=0 updates=4] E = "));
}

TEST_CASE("a program is profiled without a change to it") {
  const TemporaryFolder folder;
  setenv("DYNET_PROFILE", folder.path("table").c_str(), 1);
  setenv("DYNET_TRACE", folder.path("trace").c_str(), 1);
  run(folder, "xor");
  unsetenv("DYNET_PROFILE");
  unsetenv("DYNET_TRACE");
  CHECK(contains(read_file(folder.path("table")), "20 updates after the first 5: "));
  CHECK(contains(read_file(folder.path("trace")), "squared_distance gradient"));
}

TEST_CASE("a seed on the command line gives the same numbers again, another gives others") {
  const TemporaryFolder folder;
  const auto err = [&](const std::vector<std::string>& flags) {
    return program("xor").run(folder, flags).err;
  };
  CHECK(err({"--dynet-seed", "5", "3"}) == err({"--dynet_seed=5", "3"}));
  CHECK(err({"--dynet-seed", "5", "3"}) != err({"--dynet-seed", "6", "3"}));
  CHECK(err({"3"}) != err({"3"}));
}

TEST_CASE("a wrong flag ends the program with a message") {
  const TemporaryFolder folder;
  const Result result = program("xor").run(folder, {"--dynet-sead", "5"});
  CHECK(result.code != 0);
  CHECK(contains(result.err, "--dynet-sead: is no flag of DyNet's"));
}

TEST_CASE("exclusive or in a batch") {
  const TemporaryFolder folder;
  const Result result = run(folder, "xor_batch", {"--dynet-autobatch", "1"});
  CHECK(number_behind(result, "E = ") < 0.01);
  CHECK(contains(result.err, "x_dim={2X4}, y_dim={1X4}, 4 samples of 2"));
}

TEST_CASE("exclusive or on two devices falls back to one") {
  const TemporaryFolder folder;
  const Result result = run(folder, "xor_multidevice", {"--dynet-devices", "CPU"});
  CHECK(contains(result.out, "device CPU\nfell back to CPU\nno GPU\n"));
  CHECK(contains(result.err, "there is no device \"GPU:0\""));
  CHECK(number_behind(result, "E = ") < 0.01);
  const Result refused = program("xor_multidevice").run(folder, {"--dynet-devices", "CPU,GPU:99"});
  CHECK(refused.code != 0);
  CHECK(contains(refused.err, "there is no device GPU:99, there is: CPU"));
}

TEST_CASE("a language model") {
  const TemporaryFolder folder;
  const std::string text = folder.write("corpus.txt", corpus());
  for (const std::string kind : {"lstm", "rnn", "gru"}) {
    const Result result = run(folder, "rnnlm", {text, kind});
    INFO(kind << '\n' << result.out);
    CHECK(contains(result.out, "60 lines, 14 types"));
    // A sentence has six words, of which only the first is a draw of three.
    CHECK(number_behind(result, "E = ") < std::log(3.0) / 6 * 1.3);
    CHECK(contains(result.err, "[completed in "));
  }
}

TEST_CASE("a language model in minibatches") {
  CHECK(number_behind(run("rnnlm_batch"), "E = ") < 0.2);
}

TEST_CASE("language models with a class-factored and a hierarchical softmax") {
  const TemporaryFolder folder;
  const std::string text = folder.write("corpus.txt", corpus());
  const std::string words[] = {"<s> </s> the a at", "dog cat bird", "barks sleeps sings",
                               "night noon dawn"};
  std::string classes, paths;
  for (int c = 0; c < 4; ++c) {
    std::istringstream in(words[c]);
    for (std::string w; in >> w;) {
      classes += "c" + std::to_string(c) + " " + w + "\n";
      paths += (c / 2 ? "r " : "l ") + std::to_string(c) + " " + w + "\n";
    }
  }
  for (const std::string kind : {"class", "tree"}) {
    const std::string file = folder.write("clusters.txt", kind == "class" ? classes : paths);
    const Result result = run(folder, "rnnlm_cfsm", {text, file, kind});
    INFO(kind << '\n' << result.out);
    CHECK(number_behind(result, "E = ") < std::log(3.0) / 6 * 1.4);
    CHECK(number_behind(result, "probabilities sum to ") == Approx(1).epsilon(1e-4));
  }
}

TEST_CASE("a tagger over words and their characters") {
  const Result result = run("tagger");
  CHECK(number_behind(result, "accuracy = ") > 0.9);
  CHECK(number_behind(result, "E = ") < 0.4);
}

TEST_CASE("an encoder and a decoder with attention") {
  const Result result = run("encdec_attention");
  CHECK(number_behind(result, "right = ") > 60);
  CHECK(number_behind(result, "E = ") < 0.2);
}

TEST_CASE("a tree-LSTM over s-expressions") {
  const Result result = run("treelstm");
  CHECK(contains(result.out, "refused: the tree ends early"));
  CHECK(number_behind(result, "accuracy = ") > 0.95);
}

TEST_CASE("a variational autoencoder") {
  const Result result = run("vae");
  CHECK(number_behind(result, "E = ") < 0.2 * number_behind(result, "first = "));
  CHECK(number_behind(result, "reconstruction = ") < 0.2);
}

TEST_CASE("a class with builders is written and read back") {
  const TemporaryFolder folder;
  const Result result = run(folder, "read_write", {folder.path("model")});
  CHECK(contains(result.out, "different 1, same 1, same by key 1"));
  CHECK(contains(result.out, "refused: " + folder.path("model") + ": holds "));
}

TEST_CASE("training through mp.h") {
  const Result result = run("multiprocess");
  CHECK(number_behind(result, "E = ") < 0.01);
  CHECK(number_behind(result, "saved ") > 5);
  CHECK(contains(result.err, "dev: "));
  CHECK(contains(result.err, "train: "));
}

TEST_CASE("a program compiled as C++17, whose loss does no more than DyNet asks for") {
  const Result result = run("cxx17");
  CHECK(contains(result.out, "cxx17: saved "));
  CHECK(contains(result.out, ", argmax 1, "));
  CHECK(number_behind(result, "E = ") < 0.01);
}

TEST_CASE("a classifier of sentences by convolution") {
  const Result result = run("textcat");
  CHECK(contains(result.out, "gradients right"));
  CHECK(number_behind(result, "right = ") > 180);
}

TEST_CASE("a parser that computes with the parameters of its stack LSTM") {
  const Result result = run("stack_lstm");
  const double right = number_behind(result, "right = ");
  CHECK(right >= 0.9 * number_behind(result, " of "));
}

TEST_CASE("a C interface with copies of everything") {
  const Result result = run("c_wrapper");
  CHECK(contains(result.out, "W = 2 -1 0.5 3\n"));
  CHECK(number_behind(result, "loss = ") < 1e-4);
}

TEST_CASE("a toolkit with its own declarations, dictionary and gradients") {
  const TemporaryFolder folder;
  const Result result = run(folder, "toolkit", {folder.path("model.txt")});
  CHECK(number_behind(result, "loss = ") < 0.1);
}

TEST_CASE("a reinforcement learner that copies weights from net to net") {
  const Result result = run("reinforce");
  CHECK(contains(result.out, "right right right right right"));
  CHECK(number_behind(result, "value = ") == Approx(1).margin(0.1));
}

TEST_CASE("fixtures that write storages, and what they expect to be thrown") {
  const Result result = run("fixture");
  CHECK(contains(result.out, "0 failures"));
}

}  // namespace programs_test
