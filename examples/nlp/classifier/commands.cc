#include "examples/nlp/classifier/commands.h"

#include <algorithm>
#include <iostream>
#include <numeric>

#include "examples/nlp/classifier/model.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"

namespace classifier {

using namespace nlp;

namespace {

/// "weather:0.981 music:0.019"
std::string probabilities(const Prediction& prediction, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return prediction.probabilities[a] > prediction.probabilities[b];
  });
  std::vector<std::string> texts;
  for (const std::size_t label : order) {
    texts.push_back(labels[label] + ":" +
                    fixed(static_cast<double>(prediction.probabilities[label]), 3));
  }
  return join(texts, " ");
}

/// JSON line with the contents of the columns.
Json json_of(const Prediction& prediction, const std::vector<std::string>& labels,
             const std::vector<std::string>& words) {
  Json probable = Json::object();
  for (std::size_t label = 0; label < labels.size(); ++label)
    probable[labels[label]] = static_cast<double>(prediction.probabilities[label]);
  return {{"label", labels[prediction.label]}, {"probabilities", probable}, {"words", words}};
}

/// Shows at most `count` misclassified texts, evenly spaced over the corpus.
void show_mistakes(Model& model, const Corpus& corpus, std::size_t count, std::ostream& out) {
  dynet::ComputationGraph graph;
  Corpus mistakes;
  std::vector<Prediction> predictions;
  const std::vector<std::string>& labels = model.description().labels;
  for (const Sample& sample : corpus) {
    Prediction prediction = model.predict(graph, {&sample.words, 1})[0];
    if (labels[prediction.label] == sample.label) continue;
    mistakes.push_back(sample);
    predictions.push_back(std::move(prediction));
  }
  for (const std::size_t at : some_places(mistakes, count, [](const Sample&) { return true; })) {
    out << '\n'
        << join(mistakes[at].words, " ") << "\n  right:     " << mistakes[at].label
        << "\n  predicted: " << probabilities(predictions[at], labels) << '\n';
  }
  out.flush();
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Labelled texts");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made")
        ->check(named(kParts));
    begin_group(app, kOutputOptions);
    scores_.add_labels(app, "labels");
    app.add_option("--show", show_, "Show so many texts that it takes for something else")
        ->transform(InRange(0, 1000000));
    scores_.add_json(app, {"--show"});
  }

 private:
  void evaluate(Model& model) override {
    const auto read = [](const TextSource& file) { return read_samples(file); };
    const Corpus corpus = read_part(source(), part_, model.description().split, read);
    model.report_unknown_labels(corpus, source().name());
    const Report report = classifier::evaluate(model, corpus, part_ == "all" ? data_ : part_);
    print_scores(report, Model::kProgram, scores_, std::cout);
    if (show_ > 0) show_mistakes(model, corpus, show_, std::cout);
  }

  std::string part_ = "all";
  ScoreOptions scores_;
  std::size_t show_ = 0;
};

class Classify : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Texts, one a line, without labels");
    add_output(app, "Where label, probabilities and text go");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const std::vector<std::string>& labels = model.description().labels;
    InputFile in(source());
    PlainText plain;
    const auto check = [&](const std::string& line) { plain.check(line, in); };
    write_for_lines(model, in, out, check,
                    [&](Model& mine, dynet::ComputationGraph& graph, const std::string& line,
                        std::size_t number) {
                      const std::vector<std::string> words = split_words(line);
                      if (words.empty())
                        return json_ ? json_line({{"words", words}}) : std::string();
                      require_readable(words.size(), number, in.name());
                      const Prediction prediction = mine.predict(graph, {&words, 1})[0];
                      if (json_) return json_line(json_of(prediction, labels, words));
                      return labels[prediction.label] + '\t' + probabilities(prediction, labels) +
                             '\t' + join(words, " ");
                    });
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> classify_command() { return std::make_unique<Classify>(); }

}  // namespace classifier
