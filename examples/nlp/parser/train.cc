#include "examples/nlp/parser/train.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/parser/model_file.h"

namespace parser {

using namespace nlp;

namespace {

// Purposes of random numbers: each has a sequence of its own.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kHiding = 3, kDropout = 4 };

std::uint64_t mark_of(const Treebank& sentences) {
  Mark mark;
  for (const Sentence& sentence : sentences) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      mark.add(sentence.words[i]);
      mark.add(sentence.tags[i]);
      mark.add(std::to_string(sentence.tree.heads[i]));
      mark.add(sentence.tree.labels[i]);
    }
    mark.add("");
  }
  return mark.value();
}

/// One training run over fixed data.
class Run : public Training {
 public:
  Run(Checkpoint& now, const Treebank& train_sentences, const Treebank& dev_sentences,
      const TrainFiles& files)
      : now_(now),
        model_(*now_.model),
        settings_(now_.settings),
        dev_(dev_sentences),
        files_(files) {
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Sentence& sentence : train_sentences) {
      examples_.push_back({model_.encode(sentence), model_.moves(sentence)});
      for (const unsigned word : examples_.back().sentence.words) ++counts[word];
    }
    for (const std::size_t count : counts) {
      const double unknown = static_cast<double>(settings_.unknown);
      hide_.push_back(unknown > 0 ? unknown / (unknown + static_cast<double>(count)) : 0);
    }
  }

  std::string unit() const override { return "words"; }

  std::vector<std::size_t> begin_epoch(unsigned epoch) override {
    order_.resize(examples_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Random(derived_seed(settings_.seed, kOrder, epoch)).shuffle(order_);
    std::vector<std::size_t> sizes((order_.size() + settings_.batch - 1) / settings_.batch, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      sizes[i / settings_.batch] += examples_[order_[i]].sentence.size();
    }
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
      const Example& example = examples_[order_[i]];
      seen_ = example.sentence;
      for (unsigned& word : seen_.words) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      losses_.push_back(model_.loss(graph_, seen_, example.moves));
    }
    const dynet::Expression loss = sum(losses_);
    const double value = static_cast<double>(as_scalar(graph_.forward(loss)));
    require_finite(value);
    graph_.backward(loss);
    now_.trainer->learning_rate =
        settings_.learning_rate *
        static_cast<float>(std::pow(static_cast<double>(settings_.decay), epochs_done));
    now_.trainer->update();
    return value;
  }

  bool has_dev() const override { return !dev_.empty(); }

  DevScore score_dev() override {
    const Parsed parsed = parse_all(model_, dev_, kTogether, "dev");
    const Report report = score(model_, dev_, parsed.trees, "dev");
    return {report.model.arcs.value(), "dev UAS " + percent(report.model.heads.value()) + ", LAS " +
                                           percent(report.model.arcs.value())};
  }

  void save_model() override { parser::save_model(files_.model, model_); }
  void save_checkpoint() override { parser::save_checkpoint(files_.checkpoint, now_); }

 private:
  struct Example {
    Encoded sentence;
    std::vector<Move> moves;
  };

  Checkpoint& now_;
  Model& model_;
  const TrainSettings& settings_;
  const Treebank& dev_;
  const TrainFiles& files_;
  std::vector<Example> examples_;
  std::vector<double> hide_;        ///< probabilities, by word
  std::vector<std::size_t> order_;  ///< of the examples in this epoch
  // Kept from update to update for their memory.
  dynet::ComputationGraph graph_;
  std::vector<dynet::Expression> losses_;
  Encoded seen_;
};

void describe_run(const Model& model, const Treebank& train_sentences,
                  const Treebank& dev_sentences, std::ostream& out) {
  const auto line = [&](const char* name, const Treebank& sentences) {
    const auto crossed = std::count_if(sentences.begin(), sentences.end(), [](const Sentence& s) {
      return !is_projective(s.tree.heads);
    });
    out << name << ": " << with_commas(sentences.size()) << " sentences, "
        << with_commas(static_cast<std::size_t>(crossed)) << " not projective, "
        << with_commas(count_words(sentences)) << " words\n";
  };
  line("train", train_sentences);
  if (!dev_sentences.empty()) line("dev", dev_sentences);
  const Description& description = model.description();
  const ModelSettings& settings = description.settings;
  out << "model: " << with_commas(description.words.size()) << " words of " << settings.word << ", "
      << description.tags.size() << " tags of " << settings.tag << ", " << description.labels.size()
      << " labels, " << settings.layers << (settings.layers == 1 ? " layer" : " layers")
      << " of 2 x " << settings.hidden << ", " << with_commas(model.parameters().parameter_count())
      << " weights" << std::endl;
}

/// The settings that a resumed run keeps, under the names of their options.
OptionValues kept_settings(const ModelSettings& model, const TrainSettings& settings) {
  const auto text = [](float value) { return option_text(static_cast<double>(value)); };
  return {{"--word", std::to_string(model.word)},
          {"--tag", std::to_string(model.tag)},
          {"--hidden", std::to_string(model.hidden)},
          {"--layers", std::to_string(model.layers)},
          {"--mlp", std::to_string(model.mlp)},
          {"--dropout", text(model.dropout)},
          {"--unknown", text(settings.unknown)},
          {"--batch", std::to_string(settings.batch)},
          {"--learning-rate", text(settings.learning_rate)},
          {"--decay", text(settings.decay)},
          {"--clip", text(settings.clip)},
          {"--seed", std::to_string(settings.seed)}};
}

}  // namespace

void train(const TrainRequest& request, const Treebank& train_sentences,
           const Treebank& dev_sentences, std::ostream& out) {
  require_writable(request.files.model);
  const std::uint64_t data_mark = mark_of(train_sentences);
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
    now.model = std::make_unique<Model>(describe(request.model, train_sentences),
                                        derived_seed(now.settings.seed, kWeights));
    now.trainer =
        std::make_unique<dynet::AdamTrainer>(now.model->parameters(), now.settings.learning_rate);
    now.trainer->clipping_enabled = now.settings.clip > 0;
    now.trainer->clip_threshold = now.settings.clip;
  }
  describe_run(*now.model, train_sentences, dev_sentences, out);
  if (request.resume) out << resume_text(now.state) << std::endl;
  Run run(now, train_sentences, dev_sentences, request.files);
  run_epochs(run, now.state, request.limits, out);
}

}  // namespace parser
