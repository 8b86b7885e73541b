#include "train.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/text.h"
#include "model_file.h"

namespace tagger {

using namespace nlp;

namespace {

// Purposes of random numbers: each has a sequence of its own.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kHiding = 3, kDropout = 4 };

std::uint64_t mark_of(const Corpus& corpus) {
  Mark mark;
  for (const Sentence& sentence : corpus) {
    for (const std::string& word : sentence.words) mark.add(word);
    for (const std::string& tag : sentence.tags) mark.add(tag);
    mark.add("");
  }
  return mark.value();
}

/// One training run over fixed data.
class Run : public Training {
 public:
  Run(Checkpoint& now, const Corpus& train_corpus, const Corpus& dev_corpus,
      const TrainFiles& files)
      : now_(now), model_(*now_.model), settings_(now_.settings), dev_(dev_corpus), files_(files) {
    std::unordered_map<std::string, unsigned> counts;
    for (const Sentence& sentence : train_corpus) {
      for (const std::string& word : sentence.words) ++counts[word];
    }
    for (const Sentence& sentence : train_corpus) {
      Example example;
      example.sentence = model_.encode(sentence);
      for (const std::string& word : sentence.words) {
        const float count = static_cast<float>(counts[word]);
        example.hide.push_back(settings_.unknown / (settings_.unknown + count));
      }
      examples_.push_back(std::move(example));
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
      const Example& example = examples_[order_[i]];
      Random random(derived_seed(derived_seed(settings_.seed, kHiding), epoch, i));
      hide_.assign(example.hide.size(), false);
      for (std::size_t w = 0; w < hide_.size(); ++w) {
        hide_[w] = random.uniform() < static_cast<double>(example.hide[w]);
      }
      losses_.push_back(model_.loss(graph_, example.sentence, hide_));
    }
    const dynet::Expression loss = losses_.size() == 1 ? losses_[0] : sum(losses_);
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
    const Report report = evaluate(model_, dev_, "dev");
    std::string text = "dev accuracy " + percent(report.model.all.value());
    std::string trivial = percent(report.baseline.all.value());
    if (report.model.kind == TagKind::kSpans) {
      text += ", span F1 " + percent(report.model.spans.f1());
      trivial += ", " + percent(report.baseline.spans.f1());
    }
    return {report.model.decisive(), text + " (trivial: " + trivial + ")"};
  }

  void save_model() override { tagger::save_model(files_.model, model_); }
  void save_checkpoint() override { tagger::save_checkpoint(files_.checkpoint, now_); }

 private:
  struct Example {
    Encoded sentence;
    std::vector<float> hide;  ///< probabilities, by word
  };

  Checkpoint& now_;
  Model& model_;
  const TrainSettings& settings_;
  const Corpus& dev_;
  const TrainFiles& files_;
  std::vector<Example> examples_;
  std::vector<std::size_t> order_;  ///< of the examples in this epoch
  // Kept from update to update for their memory.
  dynet::ComputationGraph graph_;
  std::vector<dynet::Expression> losses_;
  std::vector<bool> hide_;
};

void describe_run(Model& model, const Corpus& train_corpus, const Corpus& dev_corpus,
                  std::ostream& out) {
  const Description& description = model.description();
  out << "train: " << with_commas(train_corpus.size()) << " sentences, "
      << with_commas(count_words(train_corpus)) << " words, " << description.tags.size()
      << " tags\n";
  if (!dev_corpus.empty()) {
    out << "dev: " << with_commas(dev_corpus.size()) << " sentences, "
        << with_commas(count_words(dev_corpus)) << " words\n";
  }
  const ModelSettings& settings = description.settings;
  out << "model: " << features_text(settings.features) << ", " << settings.layers
      << (settings.layers == 1 ? " layer" : " layers") << " of 2 x " << settings.hidden << ", "
      << with_commas(model.parameters().parameter_count()) << " weights" << std::endl;
}

/// The settings that a resumed run keeps, under the names of their options.
OptionValues kept_settings(const ModelSettings& model, const TrainSettings& settings) {
  const auto text = [](float value) { return option_text(static_cast<double>(value)); };
  return {{"--features", features_text(model.features)},
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

void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out) {
  require_writable(request.files.model);
  const std::uint64_t data_mark = mark_of(train_corpus);
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
    now.model = std::make_unique<Model>(describe(request.data, request.model, train_corpus),
                                        derived_seed(now.settings.seed, kWeights));
    now.trainer =
        std::make_unique<dynet::AdamTrainer>(now.model->parameters(), now.settings.learning_rate);
    now.trainer->clipping_enabled = now.settings.clip > 0;
    now.trainer->clip_threshold = now.settings.clip;
  }
  describe_run(*now.model, train_corpus, dev_corpus, out);
  if (request.resume) out << resume_text(now.state) << std::endl;
  Run run(now, train_corpus, dev_corpus, request.files);
  run_epochs(run, now.state, request.limits, out);
}

}  // namespace tagger
