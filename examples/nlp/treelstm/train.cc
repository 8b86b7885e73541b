#include "examples/nlp/treelstm/train.h"

#include <iostream>
#include <set>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace treelstm {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Treebank& trees) {
  Fingerprint fingerprint;
  for (const Tree& tree : trees) {
    std::vector<unsigned> labels;
    for (const Node& node : tree.nodes) labels.push_back(node.label);
    fingerprint.add(tree_text(tree, labels));
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Treebank, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Treebank>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          const Description& wanted = command.description;
          return describe(wanted.settings, data.train, wanted.labels);
        }) {
    std::set<std::string> labels;
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Tree& tree : data.train) {
      for (const Node& node : tree.nodes)
        labels.insert(model_.description().labels.name(node.label));
      add_sample(1, tree.nodes.size());
      words_.push_back(model_.encode(tree));
      for (const unsigned word : words_.back()) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(settings_.unknown, count));
    model_.set_weight_decay(settings_.weight_decay);
    warn_if_single("label", {labels.begin(), labels.end()}, command.train);
    warn_of_unknown("words", 0, [&](const Tree& tree) { return model_.encode(tree); });
  }

 private:
  /// Learns from the mean loss of a few trees, all in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (const std::size_t tree : update.samples) {
      Random random = draws(update, losses.size());
      std::vector<unsigned> seen = words_[tree];
      for (unsigned& word : seen) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      losses.push_back(model.loss(graph, data_.train[tree], seen));
    }
    return learn_from(graph, losses, update);
  }

  std::string unit() const override { return "trees"; }

  double decisive(const Report& report) const override {
    return (settings_.select == Select::kRoot ? report.model.root : report.model.all).value();
  }

  std::vector<std::string> labels() const override { return model_.description().labels.names(); }

  std::string dev_text(const Report& report) const override {
    return "dev root " + percent(report.model.root.value()) + ", nodes " +
           percent(report.model.all.value());
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Treebank& trees) {
      out << name << ": " << with_commas(trees.size()) << " trees, "
          << with_commas(count_words(trees)) << " words, " << with_commas(count_nodes(trees))
          << " labelled nodes\n";
    };
    line("train", data_.train);
    if (has_dev()) line("dev", data_.dev);
    const Description& description = model_.description();
    out << "labels: " << join(description.labels.names(), ", ") << '\n';
    out << "model: " << with_commas(description.words.size()) << " words of "
        << description.settings.word << ", hidden " << description.settings.hidden << ", "
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<std::vector<unsigned>> words_;  ///< by tree
  std::vector<double> hide_;                  ///< probability per word
};

}  // namespace

void TrainSettings::check() const {
  nlp::TrainSettings::check();
  nlp::require_number("weight decay", static_cast<double>(weight_decay), 0, 0.5);
  nlp::require_named("score that decides", kSelects, select);
}

TrainCommand::TrainCommand()
    : nlp::TrainCommand("Trees to learn from, as SST writes them", "Trees") {
  limits = {15, 4, 0};
  settings.batch = 16;
  settings.learning_rate = 0.001f;
  settings.decay = 1;
  settings.clip = 20;
}

void TrainCommand::add_settings(Options& options) {
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add("--word", m.word, "Size of the words' vectors", InRange(1, 4096));
  options.add("--hidden", m.hidden, "Size of the tree-LSTM", InRange(1, 4096));
  options.add("--dropout", m.dropout, "Dropout of words, and before the labels",
              InRange(0.0, 0.95));
  options.add_flag("--keep-case", m.keep_case, "Tell The from the");
  options.add_text("--labels", join(description.labels.names(), ","),
                   "Names of the labels, from label 0 on: a list with commas, or a file with one a "
                   "line; else as the data have them, the five of SST by their names",
                   [this](const std::string& names) {
                     description.labels = Labels(read_label_names(names), Writing::kNumbers);
                   });
  options.add("--select", settings.select,
              "Whose accuracy on the dev trees decides which epoch is best: root or nodes",
              kSelects, "choice for --select");
  add_unknown(options, settings);
  options.add("--weight-decay", settings.weight_decay,
              "Every update multiplies the weights of the network, but not of the words, by one "
              "minus this",
              InRange(0.0, 0.5));
  add_updates(options, settings, "Trees");
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  Labels& labels = description.labels;
  bool known = (resume || !init.empty()) && !was_given("--labels");
  if (known && resume) {
    using Run = Checkpoint<Model, TrainSettings>;
    labels = load_checkpoint<Run>(checkpoint()).model->description().labels;
  } else if (known) {
    labels = load_model<Model>(init)->description().labels;
  }
  const auto read = [&](const TextSource& file) {
    if (known) return read_trees(file, labels);
    known = true;  // dev and test use the labels of the training data
    LabelledTrees found = read_trees_and_labels(file, labels.names());
    labels = found.labels;
    return std::move(found.trees);
  };
  treelstm::train(*this, read_parts(*this, Split(), read), std::cout);
}

void train(const TrainCommand& command, const Parts<Treebank>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace treelstm
