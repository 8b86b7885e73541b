#include "examples/nlp/parser/train.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace parser {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Treebank& sentences) {
  Fingerprint fingerprint;
  for (const Sentence& sentence : sentences) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      fingerprint.add(sentence.words[i]);
      fingerprint.add(sentence.tags[i]);
      fingerprint.add(std::to_string(sentence.tree.heads[i]));
      fingerprint.add(sentence.tree.labels[i]);
    }
    fingerprint.add("");
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Treebank, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Treebank>& data)
      : ModelTraining(command, data, fingerprint_of,
                      [&] { return describe(command.description.settings, data.train); }) {
    if (!data.dev.empty()) report_unknown(model_, data.dev, command.dev);
    const std::vector<std::string>& tags = model_.description().tags;
    warn_if_single("tag", {tags.begin() + 1, tags.end()}, command.train);  // except unknown
    warn_if_single("label", model_.description().labels, command.train);
    warn_of_unknown("words", 0, [&](const Sentence& s) { return model_.encode(s).words; });
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Sentence& sentence : data.train) {
      add_sample(sentence.size());
      examples_.push_back({model_.encode(sentence), model_.target(sentence)});
      for (const unsigned word : examples_.back().sentence.words) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(settings_.unknown, count));
  }

 private:
  /// Learns from a few sentences, all in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (const std::size_t sentence : update.samples) {
      Random random = draws(update, losses.size());
      Encoded seen = examples_[sentence].sentence;
      for (unsigned& word : seen.words) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      losses.push_back(model.loss(seen, examples_[sentence].target));
    }
    return learn_from(graph, losses, update);
  }

  std::string unit() const override { return "words"; }

  double decisive(const Report& report) const override { return report.model.arcs.value(); }

  std::vector<std::string> labels() const override { return model_.description().labels; }

  std::string dev_text(const Report& report) const override {
    return "dev UAS " + percent(report.model.heads.value()) + ", LAS " +
           percent(report.model.arcs.value());
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Treebank& sentences) {
      const auto crossed = std::count_if(sentences.begin(), sentences.end(), [](const Sentence& s) {
        return !is_projective(s.tree.heads);
      });
      out << name << ": " << with_commas(sentences.size()) << " sentences, "
          << with_commas(static_cast<std::size_t>(crossed)) << " not projective, "
          << with_commas(count_words(sentences)) << " words\n";
    };
    line("train", data_.train);
    if (has_dev()) line("dev", data_.dev);
    const Description& description = model_.description();
    const ModelSettings& settings = description.settings;
    out << "model: " << with_commas(description.words.size()) << " words of " << settings.word
        << ", " << description.tags.size() << " tags of " << settings.tag << ", ";
    if (settings.character > 0)
      out << description.characters.size() << " characters for " << settings.character << ", ";
    out << description.labels.size() << " labels, " << settings.layers
        << (settings.layers == 1 ? " layer" : " layers") << " of 2 x " << settings.hidden << ", "
        << (!settings.graph     ? ""
            : settings.crossing ? "all trees, "
                                : "projective trees, ")
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  struct Example {
    Encoded sentence;
    Target target;
  };
  std::vector<Example> examples_;
  std::vector<double> hide_;  ///< probability per word
};

}  // namespace

TrainCommand::TrainCommand() : nlp::TrainCommand("CoNLL-U sentences to learn from", "Sentences") {
  settings.batch = 8;
  settings.clip = 1;
}

void TrainCommand::add_settings(Options& options) {
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add("--word", m.word, "Size of the words' vectors", InRange(1, 4096));
  options.add("--tag", m.tag, "Size of the tags' vectors", InRange(1, 4096));
  options.add("--char", m.character, "Size of a vector made of a word's characters, 0 for none",
              InRange(0, 4096));
  options.add("--hidden", m.hidden, "LSTM size in each direction", InRange(1, 4096));
  options.add("--layers", m.layers, "LSTM layers", InRange(1, 16));
  options.add("--mlp", m.mlp, "Size of the tanh layer before the moves", InRange(1, 4096));
  options.add_flag("--graph", m.graph,
                   "Score all arcs of a sentence and find the best tree, instead of making moves");
  options.add_flag("--crossing", m.crossing, "With --graph: trees whose arcs cross, too");
  options.add("--arc", m.arc, "With --graph: size of what decides about an arc", InRange(1, 4096));
  options.add("--label", m.label, "With --graph: size of what decides about its label",
              InRange(1, 4096));
  options.add("--dropout", m.dropout, "Dropout of what goes into each layer and comes out",
              InRange(0.0, 0.95));
  add_unknown(options, settings);
  add_updates(options, settings, "Sentences");
}

void TrainCommand::run() {
  if (description.settings.crossing && !description.settings.graph)
    throw UserError("--crossing needs --graph: moves make no arcs that cross");
  prepare_run(*this, Model::kProgram);
  std::vector<std::string> known;  // labels of the initial model, required of the training data
  if (!init.empty()) known = load_model<Model>(init)->description().labels;
  const auto read = [&](const TextSource& file) {
    return read_conllu(file, Trees::kRead, std::exchange(known, {}));
  };
  parser::train(*this, read_parts(*this, Split(), read), std::cout);
}

void train(const TrainCommand& command, const Parts<Treebank>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace parser
