#include "examples/nlp/classifier/train.h"

#include <algorithm>
#include <iostream>

#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace classifier {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Sample& sample : corpus) {
    fingerprint.add(sample.label);
    for (const std::string& word : sample.words) fingerprint.add(word);
    fingerprint.add("");
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          return describe(command.description.split, command.description.settings, data.train);
        }) {
    model_.report_unknown_labels(data.dev, command.dev);
    warn_of_unknown("words", 0, [&](const Sample& sample) { return model_.encode(sample.words); });
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Sample& sample : data.train) {
      add_sample(1, sample.words.size());
      words_.push_back(model_.encode(sample.words));
      labels_.push_back(model_.label_number(sample.label));
      for (const unsigned word : words_.back()) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(settings_.unknown, count));
  }

 private:
  /// Learns from a few texts, all in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (const std::size_t text : update.samples) {
      Random random = draws(update, losses.size());
      std::vector<unsigned> seen = words_[text];
      for (unsigned& word : seen) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      losses.push_back(model.loss(graph, seen, labels_[text]));
    }
    return learn_from(graph, losses, update);
  }

  std::string unit() const override { return "texts"; }

  double decisive(const Report& report) const override { return report.decisive(); }

  std::vector<std::string> labels() const override { return model_.description().labels; }

  std::string dev_text(const Report& report) const override {
    return "dev accuracy " + percent(report.model.value());
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Corpus& corpus) -> std::ostream& {
      return out << name << ": " << with_commas(corpus.size()) << " texts, "
                 << with_commas(count_words(corpus)) << " words";
    };
    const Description& description = model_.description();
    line("train", data_.train) << ", " << with_commas(description.labels.size()) << " labels\n";
    if (has_dev()) line("dev", data_.dev) << '\n';
    const ModelSettings& m = description.settings;
    out << "model: " << with_commas(description.words.size()) << " words of " << m.word;
    if (m.has_lstm()) out << ", LSTM of 2 x " << m.hidden;
    if (m.has_cnn()) out << ", convolutions of 3 x " << m.filters;
    out << ", " << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<std::vector<unsigned>> words_;  ///< by text
  std::vector<unsigned> labels_;              ///< by text
  std::vector<double> hide_;                  ///< probability per word
};

/// Throws LineError for a label that the model to continue from does not have.
void require_known_labels(const Corpus& corpus, const std::vector<std::string>& labels,
                          const std::string& file) {
  for (const Sample& sample : corpus) {
    if (!std::binary_search(labels.begin(), labels.end(), sample.label))
      throw LineError(file, sample.line, "the model has no label " + in_quotes(sample.label));
  }
}

}  // namespace

TrainCommand::TrainCommand()
    : nlp::TrainCommand("Texts to learn from, a line each: label, tab, text", "Labelled texts") {
  settings.batch = 32;
  settings.learning_rate = 0.002f;
}

void TrainCommand::add_settings(Options& options) {
  options.add_of_data("--split", split,
                      "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add("--encoder", m.encoder,
              "What reads the words: lstm, from both sides; cnn, in windows of 2 to 4; or both",
              kEncoders, "encoder");
  options.add("--word", m.word, "Size of the words' vectors", InRange(1, 4096));
  options.add("--hidden", m.hidden, "LSTM size in each direction", InRange(1, 4096));
  options.add("--filters", m.filters, "Filters of the convolutions, of each width",
              InRange(1, 4096));
  options.add("--dropout", m.dropout, "Dropout of words, and before the labels",
              InRange(0.0, 0.95));
  options.add_flag("--keep-case", m.keep_case, "Tell The from the");
  add_unknown(options, settings);
  add_updates(options, settings, "Texts");
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  description.split = parse_split(split, *this);
  const auto read = [](const TextSource& file) { return read_samples(file); };
  const Parts<Corpus> data = read_parts(*this, description.split, read);
  if (!init.empty())
    require_known_labels(data.train, load_model<Model>(init)->description().labels, train);
  const std::vector<std::string> labels = labels_of(data.train);
  if (labels.size() < 2) {
    throw UserError(this->train + " has no label but " + in_quotes(labels[0]) +
                    ": there is nothing to tell apart");
  }
  classifier::train(*this, data, std::cout);
}

void train(const TrainCommand& command, const Parts<Corpus>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace classifier
