#include "examples/nlp/treelstm/train.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/treelstm/model_file.h"

namespace treelstm {

using namespace nlp;

namespace {

// Purposes of random numbers: each has a sequence of its own.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kHiding = 3, kDropout = 4 };

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
class Run : public Training {
 public:
  Run(Checkpoint& now, const Treebank& train_trees, const Treebank& dev_trees,
      const TrainFiles& files)
      : now_(now),
        model_(*now_.model),
        settings_(now_.settings),
        train_(train_trees),
        dev_(dev_trees),
        files_(files) {
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Tree& tree : train_) {
      words_.push_back(model_.encode(tree));
      for (const unsigned word : words_.back()) ++counts[word];
    }
    for (const std::size_t count : counts) {
      const double unknown = static_cast<double>(settings_.unknown);
      hide_.push_back(unknown > 0 ? unknown / (unknown + static_cast<double>(count)) : 0);
    }
    model_.set_weight_decay(settings_.weight_decay);
  }

  std::string unit() const override { return "trees"; }

  std::vector<std::size_t> begin_epoch(unsigned epoch) override {
    order_.resize(train_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Random(derived_seed(settings_.seed, kOrder, epoch)).shuffle(order_);
    std::vector<std::size_t> sizes((order_.size() + settings_.batch - 1) / settings_.batch, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) ++sizes[i / settings_.batch];
    return sizes;
  }

  double update(unsigned epoch, std::size_t number, double epochs_done) override {
    const std::size_t begin = number * settings_.batch;
    const std::size_t end = std::min(order_.size(), begin + settings_.batch);
    graph_.clear();
    graph_.set_seed(derived_seed(derived_seed(settings_.seed, kDropout), epoch, begin));
    model_.begin_graph(graph_, true);
    losses_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      Random random(derived_seed(derived_seed(settings_.seed, kHiding), epoch, i));
      seen_ = words_[order_[i]];
      for (unsigned& word : seen_) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      losses_.push_back(model_.loss(graph_, train_[order_[i]], seen_));
    }
    const dynet::Expression loss = average(losses_);
    const double value = static_cast<double>(as_scalar(graph_.forward(loss)));
    require_finite(value);
    graph_.backward(loss);
    now_.trainer->learning_rate =
        settings_.learning_rate *
        static_cast<float>(std::pow(static_cast<double>(settings_.decay), epochs_done));
    now_.trainer->update();
    return value * static_cast<double>(end - begin);
  }

  bool has_dev() const override { return !dev_.empty(); }

  DevScore score_dev() override {
    const Report report = evaluate(model_, dev_, "dev");
    return {report.model.root.value(), "dev root " + percent(report.model.root.value()) +
                                           ", all nodes " + percent(report.model.all.value()) +
                                           " (trivial: " + percent(report.majority.root.value()) +
                                           ", " + percent(report.majority.all.value()) + ")"};
  }

  void save_model() override { treelstm::save_model(files_.model, model_); }
  void save_checkpoint() override { treelstm::save_checkpoint(files_.checkpoint, now_); }

 private:
  Checkpoint& now_;
  Model& model_;
  const TrainSettings& settings_;
  const Treebank& train_;
  const Treebank& dev_;
  const TrainFiles& files_;
  std::vector<std::vector<unsigned>> words_;  ///< by tree
  std::vector<double> hide_;                  ///< probabilities, by word
  std::vector<std::size_t> order_;            ///< of the trees in this epoch
  // Kept from update to update for their memory.
  dynet::ComputationGraph graph_;
  std::vector<dynet::Expression> losses_;
  std::vector<unsigned> seen_;
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
  const auto text = [](float value) { return option_text(static_cast<double>(value)); };
  return {{"--word", std::to_string(model.word)},
          {"--hidden", std::to_string(model.hidden)},
          {"--dropout", text(model.dropout)},
          {"--keep-case", model.keep_case ? "on" : "off"},
          {"--unknown", text(settings.unknown)},
          {"--batch", std::to_string(settings.batch)},
          {"--learning-rate", text(settings.learning_rate)},
          {"--decay", text(settings.decay)},
          {"--clip", text(settings.clip)},
          {"--weight-decay", text(settings.weight_decay)},
          {"--seed", std::to_string(settings.seed)}};
}

}  // namespace

void train(const TrainRequest& request, const Treebank& train_trees, const Treebank& dev_trees,
           std::ostream& out) {
  require_writable(request.files.model);
  const std::uint64_t data_mark = mark_of(train_trees);
  Checkpoint now;
  if (request.resume) {
    const std::string& file = request.files.checkpoint;
    now = load_checkpoint(file);
    require_same(kept_settings(now.model->description().settings, now.settings),
                 kept_settings(request.model, request.settings), request.given, file);
    require_same_data(now.state.data_mark, data_mark, file);
  } else {
    now.settings = request.settings;
    now.state.data_mark = data_mark;
    now.model = std::make_unique<Model>(describe(request.model, train_trees),
                                        derived_seed(now.settings.seed, kWeights));
    now.trainer =
        std::make_unique<dynet::AdamTrainer>(now.model->parameters(), now.settings.learning_rate);
    now.trainer->clipping_enabled = now.settings.clip > 0;
    now.trainer->clip_threshold = now.settings.clip;
  }
  describe_run(*now.model, train_trees, dev_trees, out);
  if (request.resume) out << resume_text(now.state) << std::endl;
  Run run(now, train_trees, dev_trees, request.files);
  run_epochs(run, now.state, request.limits, out);
}

}  // namespace treelstm
