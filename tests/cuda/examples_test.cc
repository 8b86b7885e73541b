// The example programs train on the device as on the CPU: their own code, from reading the
// request to the saved model.

#include "examples/nlp/classifier/train.h"
#include "examples/nlp/common/model_file.h"
#include "examples/nlp/parser/train.h"
#include "examples/nlp/rnnlm/train.h"
#include "examples/nlp/tagger/train.h"
#include "examples/nlp/treelstm/train.h"
#include "tests/cuda/check_equal.h"
#include "tests/examples/helpers.h"

namespace {

constexpr unsigned kUpdates = 8;

/// Printed losses of all updates of a run, and its saved parameters.
struct Outcome {
  std::vector<double> losses;
  Floats parameters;
};

/// The first number of each line "epoch 3: loss 0.8213, ...".
std::vector<double> losses_in(const std::string& printed) {
  std::vector<double> losses;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("epoch ")) continue;
    const std::size_t at = line.find_first_of("0123456789", line.find(':'));
    REQUIRE(at != std::string::npos);
    losses.push_back(std::strtod(line.c_str() + at, nullptr));
  }
  return losses;
}

/// Trains and loads with a request that says where. An epoch is one update here, so that each
/// update's loss is printed and everything that follows an epoch happens in between.
template <class Model, class Request, class Data, class Train>
Outcome run(Request request, const Data& data, dynet::Device* device, Train train) {
  const TemporaryFolder folder;
  request.model = folder.path("model");
  request.limits = {kUpdates, 0, 0};
  request.settings.batch = static_cast<unsigned>(data.size());
  request.device = device;
  std::ostringstream out;
  train(request, {data, {}, {}}, out);
  const auto model = nlp::load_model<Model>(request.model, device);
  return {losses_in(out.str()), dynet::test::all_values(model->parameters())};
}

/// Runs on both are alike; what is printed has four digits behind the point, perplexities two.
template <class Model, class Request, class Data, class Train>
void check_alike(const char* name, const Request& request, const Data& data, Train train,
                 double tolerance = 1.5e-4) {
  const auto on = [&](dynet::Device* d) { return run<Model>(request, data, d, train); };
  const Outcome here = on(&dynet::kCpu);
#ifndef DYNET_TEST_GPU
  const std::size_t before = dynet::emulation::counts().launches;
#endif
  const Outcome there = on(dynet::test::gpu()), again = on(dynet::test::gpu());
#ifndef DYNET_TEST_GPU
  CHECK(dynet::emulation::counts().launches > before + 100);
#endif
  CAPTURE(name);
  REQUIRE(here.losses.size() == kUpdates);
  CHECK(there.losses != std::vector<double>(kUpdates, there.losses[0]));
  REQUIRE(there.losses.size() == kUpdates);
  for (unsigned i = 0; i < kUpdates; ++i)
    CHECK(std::abs(here.losses[i] - there.losses[i]) <= tolerance);
  dynet::test::check_near(here.parameters, there.parameters, 2e-3);
  CHECK(again.losses == there.losses);
  CHECK(again.parameters == there.parameters);
}

std::vector<std::string> words(unsigned count, unsigned seed) {
  static const std::vector<std::string> all = {"the", "a", "cat", "dog", "sees", "hears", "Anna"};
  Dice dice(seed);
  std::vector<std::string> some;
  for (unsigned i = 0; i < count; ++i) some.push_back(dice.one_of(all));
  return some;
}

}  // namespace

TEST_CASE("the tagger trains on the device as on the CPU", "[cuda]") {
  tagger::Corpus corpus;
  for (unsigned s = 0; s < 4; ++s) {
    tagger::Sentence sentence{words(2 + s, s), {}, ""};
    for (const std::string& w : sentence.words) sentence.tags.push_back(w.size() < 4 ? "D" : "V");
    corpus.push_back(sentence);
  }
  for (const unsigned mlp : {0u, 6u}) {
    tagger::TrainCommand request;
    request.description.settings = {
        {{"word", 8}, {"suffix2", 5}}, 8, mlp == 0 ? 2u : 1u, mlp, 0.3f};
    request.settings.learning_rate = 0.02f;
    check_alike<tagger::Model>("tagger", request, corpus, tagger::train);
  }
}

TEST_CASE("the language model trains on the device as on the CPU", "[cuda]") {
  rnnlm::Corpus corpus;
  for (unsigned s = 0; s < 4; ++s) corpus.push_back({words(2 + s, s), 3 + s, 10});
  for (const rnnlm::Loss loss : {rnnlm::Loss::kFull, rnnlm::Loss::kSampled})
    for (const rnnlm::Optimizer optimizer : {rnnlm::Optimizer::kAdam, rnnlm::Optimizer::kSgd}) {
      rnnlm::TrainCommand request;
      request.description.data.min_count = 1;
      request.description.settings = {6, 8, 2, 0.2f, loss, 5, rnnlm::Network::kLstm, {}};
      request.settings.optimizer = optimizer;
      request.settings.learning_rate = optimizer == rnnlm::Optimizer::kAdam ? 0.02f : 0.5f;
      request.settings.decay = 1;
      request.settings.truncate = 3;  // so that memory goes from graph to graph
      check_alike<rnnlm::Model>(loss == rnnlm::Loss::kFull ? "rnnlm" : "rnnlm, sampled", request,
                                corpus, rnnlm::train, 0.011);
    }
}

TEST_CASE("the parser trains on the device as on the CPU", "[cuda]") {
  parser::Treebank treebank;
  for (unsigned s = 0; s < 3; ++s) {
    parser::Sentence sentence;
    sentence.words = words(3 + s, s + 5);
    for (unsigned i = 0; i < sentence.words.size(); ++i) {
      sentence.tags.push_back(i % 2 == 0 ? "N" : "V");
      sentence.tree.heads.push_back(i == 1 ? 0 : i == 0 ? 2 : i);
      sentence.tree.labels.push_back(i == 1 ? "root" : i % 3 == 0 ? "nsubj" : "obj");
    }
    treebank.push_back(sentence);
  }
  parser::TrainCommand request;
  request.description.settings = {6, 4, 6, 2, 6, 0.2f};
  request.settings.learning_rate = 0.02f;
  check_alike<parser::Model>("parser", request, treebank, parser::train);
}

TEST_CASE("the tree-LSTM trains on the device as on the CPU", "[cuda]") {
  treelstm::Treebank trees;
  for (const char* text : {"(3 (2 a) (4 (4 good) (2 film)))", "(1 (2 the) (0 (0 bad) (2 film)))",
                           "(4 good)", "(2 (3 (2 not) (1 bad)) (1 (2 a) (2 (2 long) (2 film))))"})
    trees.push_back(treelstm::parse_tree(text, "test", 1));
  treelstm::TrainCommand request;
  request.description.labels = treelstm::Labels::of_sentiment();
  request.description.settings.word = 6;
  request.description.settings.hidden = 8;
  request.description.settings.dropout = 0.2f;
  request.settings.learning_rate = 0.02f;
  request.settings.weight_decay = 0.01f;
  check_alike<treelstm::Model>("treelstm", request, trees, treelstm::train);
}

TEST_CASE("the classifier trains on the device as on the CPU", "[cuda]") {
  classifier::Corpus corpus;
  for (unsigned s = 0; s < 4; ++s) corpus.push_back({s % 2 == 0 ? "even" : "odd", words(2 + s, s)});
  for (const auto& [encoder, name] : classifier::kEncoders) {
    classifier::TrainCommand request;
    request.description.settings = {encoder, 6, 4, 3, 0.2f, false};
    request.settings.learning_rate = 0.02f;
    check_alike<classifier::Model>(name, request, corpus, classifier::train);
  }
}
