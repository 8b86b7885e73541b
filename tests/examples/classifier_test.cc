// The classifier's parts: what it reads, its network, and its scores beside the trivial ones.

#include "examples/nlp/classifier/model.h"
#include "tests/examples/model_checks.h"

namespace classifier_test {

using namespace classifier;

Corpus read(const std::string& text) {
  std::istringstream in(text);
  return read_samples(in, "data.txt");
}

std::string error_of(const std::string& text) {
  return error_from([&] { read(text); });
}

Corpus some_texts() {
  return read("music\tplay a Song\nweather\tRain\nmusic\tplay some old song for me now\n");
}

ModelSettings small(Encoder encoder, float dropout) { return {encoder, 6, 4, 3, dropout, false}; }

const std::vector<Encoder> kAllEncoders = {Encoder::kLstm, Encoder::kCnn, Encoder::kBoth};

Expression loss_of(Model& model, ComputationGraph& graph, const Corpus& corpus, bool training) {
  model.begin_graph(graph, training);
  std::vector<Expression> losses;
  for (const Sample& sample : corpus) {
    losses.push_back(
        model.loss(graph, model.encode(sample.words), model.label_number(sample.label)));
  }
  return sum(losses);
}

Prediction predict(Model& model, const Strings& words) {
  ComputationGraph graph;
  return model.predict(graph, {&words, 1})[0];
}

TEST_CASE("Labelled texts: a label, a tab, words") {
  const Corpus corpus = read(
      "\xEF\xBB\xBF"
      "a\tx  y\tz \r\n\n \t \n very good \tx\n");
  REQUIRE(corpus.size() == 2);
  CHECK(corpus[0].label == "a");
  CHECK(corpus[0].words == Strings{"x", "y", "z"});
  CHECK(corpus[1].label == "very good");
  CHECK(count_words(corpus) == 4);
}

TEST_CASE("Labelled texts: a line that is none is refused with its place") {
  const std::string expected = "expected a label, a tab and a text, found ";
  CHECK(error_of("a\tx\nb y\n") == "data.txt:2: " + expected + "no tab in 'b y'");
  CHECK(error_of("a\tx\n\n\ty\n") == "data.txt:3: " + expected + "nothing before the tab");
  CHECK(error_of(" \ty\n") == "data.txt:1: " + expected + "nothing before the tab");
  CHECK(error_of("a\t \t\n") == "data.txt:1: " + expected + "nothing behind the tab");
  CHECK(error_of("a\n") == "data.txt:1: " + expected + "no tab in 'a'");
}

TEST_CASE("Classifier: gradients are right, and dropout is for training") {
  const Corpus corpus = some_texts();
  for (const Encoder encoder : kAllEncoders) {
    Model model(describe({}, small(encoder, 0.4f), corpus), 7);
    // Words and two for the labels; three of each LSTM; two of each width.
    const std::size_t lstm = encoder == Encoder::kCnn ? 0 : 2 * 3;
    const std::size_t cnn = encoder == Encoder::kLstm ? 0 : 3 * 2;
    check_training_of(3 + lstm + cnn, [&](auto& graph, bool training) {
      return loss_of(model, graph, corpus, training);
    });
  }
}

TEST_CASE("Classifier: predictions fit the loss, alone and together") {
  const Corpus corpus = some_texts();
  std::vector<Strings> texts;
  for (const Sample& sample : corpus) texts.push_back(sample.words);
  for (const Encoder encoder : kAllEncoders) {
    Model model(describe({}, small(encoder, 0.4f), corpus), 7);
    ComputationGraph graph;
    const std::vector<Prediction> together = model.predict(graph, texts);
    REQUIRE(together.size() == corpus.size());
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      const Prediction alone = predict(model, texts[i]);
      REQUIRE(alone.probabilities.size() == 2);
      CHECK(alone.probabilities[0] + alone.probabilities[1] == Approx(1.0f));
      CHECK(alone.label == (alone.probabilities[1] > alone.probabilities[0] ? 1u : 0u));
      CHECK(together[i].probabilities[0] == Approx(alone.probabilities[0]).epsilon(1e-5));
      graph.clear();
      const float loss = as_scalar(graph.forward(loss_of(model, graph, {corpus[i]}, false)));
      CHECK(std::exp(-loss) ==
            Approx(alone.probabilities[model.label_number(corpus[i].label)]).epsilon(1e-4));
    }
    CHECK(model.predict(graph, {}).empty());
  }
}

TEST_CASE("Classifier: convolutions see the order of neighbours, and any length of text") {
  const Corpus corpus = some_texts();
  Model model(describe({}, small(Encoder::kCnn, 0), corpus), 7);
  const auto probability = [&](const Strings& words) {
    return predict(model, words).probabilities;
  };
  CHECK(probability({"play", "song"}) != probability({"song", "play"}));
  // The largest value of each filter is the same wherever it is found.
  const Strings one = {"now", "play", "song", "now"};
  Strings twice = one;
  twice.insert(twice.end(), one.begin(), one.end());
  Strings thrice = twice;
  thrice.insert(thrice.end(), one.begin(), one.end());
  CHECK(probability(twice)[0] == Approx(probability(thrice)[0]).epsilon(1e-5));
  CHECK(probability({"play"}).size() == 2);
}

TEST_CASE("Classifier: words are known by their letters, unless their case counts") {
  const Corpus corpus = some_texts();
  Model model(describe({}, small(Encoder::kBoth, 0), corpus), 1);
  CHECK(model.description().words.size() == 1 + 9);
  CHECK(model.encode({"PLAY"}) == model.encode({"play"}));
  CHECK(model.encode({"sun"}) == std::vector<unsigned>{0});
  ModelSettings with_case = small(Encoder::kBoth, 0);
  with_case.keep_case = true;
  Model sharp(describe({}, with_case, corpus), 1);
  CHECK(sharp.encode({"PLAY"})[0] == 0);
  CHECK(sharp.encode({"Song"}) != sharp.encode({"song"}));
}

TEST_CASE("Classifier: scores, those of the most frequent label, and labels that are new") {
  const Corpus train = read("b\tx\na\ty\nb\tz\nc\tx\nc\ty\n");
  CHECK(labels_of(train) == Strings{"a", "b", "c"});
  CHECK(most_frequent_label(train) == "b");  // as often as c
  Model model(describe({}, small(Encoder::kBoth, 0), train), 1);
  const std::string guess = model.description().labels[predict(model, {"x"}).label];
  const Report report =
      evaluate(model, {{guess, {"x"}}, {"b", {"x"}}, {"new", {"x"}}, {"new", {"x"}}}, "test");
  CHECK(report.model.right == (guess == "b" ? 2 : 1));
  CHECK(report.model.total == 4);
  CHECK(report.baseline.right == (guess == "b" ? 2 : 1));
  CHECK(report.unknown == 2);
  const Floats p = predict(model, {"x"}).probabilities;
  CHECK(report.sureness ==
        Approx(p[model.label_number(guess)] + p[model.label_number("b")]).epsilon(1e-5));

  // Sureness decides between equal numbers of right ones; one more right one outweighs it.
  const auto decisive = [](std::size_t right, double sureness) {
    return Report{"", {right, 4}, {}, sureness, 0}.decisive();
  };
  CHECK(decisive(3, 2.5) > decisive(3, 2.4));
  CHECK(decisive(3, 2.0) > decisive(2, 3.9));
  CHECK(Report().decisive() == 0);

  std::ostringstream out;
  Report{"test", {3, 4}, {1, 4}, 0, 1}.print(out);
  CHECK(out.str() ==
        "test: 4 texts, 1 with a label that training did not have\n"
        "                        accuracy\n"
        "  classifier             75.00 %\n"
        "  most frequent label    25.00 %\n");
}

}  // namespace classifier_test
