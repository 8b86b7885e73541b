#include "examples/nlp/treelstm/train.h"

#include <memory>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/sample_training.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/treelstm/model_file.h"

namespace treelstm {

using namespace nlp;

namespace {

std::uint64_t mark_of(const Treebank& trees) {
  Mark mark;
  std::vector<unsigned> labels;
  for (const Tree& tree : trees) {
    labels.clear();
    for (const Node& node : tree.nodes) labels.push_back(node.label);
    mark.add(tree_text(tree, labels));
  }
  return mark.value();
}

/// One training run over fixed data.
class Run : public SampleTraining {
 public:
  Run(Checkpoint& now, const Treebank& train_trees, const Treebank& dev_trees,
      const RunOptions& options)
      : SampleTraining(*now.trainer, update_settings(now.settings, true)),
        now_(now),
        model_(*now.model),
        train_(train_trees),
        dev_(dev_trees),
        options_(options) {
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Tree& tree : train_) {
      add_sample(1);
      words_.push_back(model_.encode(tree));
      for (const unsigned word : words_.back()) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(now.settings.unknown, count));
    model_.set_weight_decay(now.settings.weight_decay);
  }

  std::string unit() const override { return "trees"; }

  bool has_dev() const override { return !dev_.empty(); }

  DevScore score_dev() override {
    const Report report = evaluate(model_, dev_, "dev");
    return {report.model.root.value(), "dev root " + percent(report.model.root.value()) +
                                           ", all nodes " + percent(report.model.all.value()) +
                                           " (trivial: " + percent(report.majority.root.value()) +
                                           ", " + percent(report.majority.all.value()) + ")"};
  }

  void save_model() override { treelstm::save_model(options_.model, model_); }
  void save_checkpoint(const dynet::SaveOptions& how) override {
    treelstm::save_checkpoint(options_.checkpoint(), now_, how);
  }

 private:
  void begin_graph(dynet::ComputationGraph& graph) override { model_.begin_graph(graph, true); }

  dynet::Expression loss(dynet::ComputationGraph& graph, std::size_t sample,
                         Random& random) override {
    seen_ = words_[sample];
    for (unsigned& word : seen_) {
      if (random.uniform() < hide_[word]) word = 0;
    }
    return model_.loss(graph, train_[sample], seen_);
  }

  Checkpoint& now_;
  Model& model_;
  const Treebank& train_;
  const Treebank& dev_;
  const RunOptions& options_;
  std::vector<std::vector<unsigned>> words_;  ///< by tree
  std::vector<double> hide_;                  ///< probabilities, by word
  std::vector<unsigned> seen_;                ///< of the sample, kept for its memory
};

void describe_run(Model& model, const Treebank& train_trees, const Treebank& dev_trees,
                  std::ostream& out) {
  const auto line = [&](const char* name, const Treebank& trees) {
    out << name << ": " << with_commas(trees.size()) << " trees, "
        << with_commas(count_words(trees)) << " words, " << with_commas(count_nodes(trees))
        << " labelled nodes\n";
  };
  line("train", train_trees);
  if (!dev_trees.empty()) line("dev", dev_trees);
  const ModelSettings& settings = model.description().settings;
  out << "model: " << with_commas(model.description().words.size()) << " words of " << settings.word
      << ", hidden " << settings.hidden << ", " << with_commas(model.parameters().parameter_count())
      << " weights" << std::endl;
}

/// The settings that a resumed run keeps, under the names of their options.
OptionValues kept_settings(const ModelSettings& model, const TrainSettings& settings) {
  return with(update_options(settings), {{"--word", std::to_string(model.word)},
                                         {"--hidden", std::to_string(model.hidden)},
                                         {"--dropout", option_text(model.dropout)},
                                         {"--keep-case", model.keep_case ? "on" : "off"},
                                         {"--unknown", option_text(settings.unknown)},
                                         {"--weight-decay", option_text(settings.weight_decay)}});
}

}  // namespace

void train(const TrainRequest& request, const Treebank& train_trees, const Treebank& dev_trees,
           std::ostream& out) {
  Checkpoint now = begin_run<Checkpoint>(
      request, mark_of(train_trees), kept_settings(request.model_settings, request.settings),
      load_checkpoint,
      [](const Checkpoint& c) {
        return kept_settings(c.model->description().settings, c.settings);
      },
      [&](Checkpoint& c) {
        c.model = std::make_unique<Model>(describe(request.model_settings, train_trees),
                                          derived_seed(c.settings.seed, kWeights));
        c.trainer = make_trainer<dynet::AdamTrainer>(c.model->parameters(), c.settings);
      });
  describe_run(*now.model, train_trees, dev_trees, out);
  Run run(now, train_trees, dev_trees, request);
  run_epochs(run, now.state, request, out);
}

}  // namespace treelstm
