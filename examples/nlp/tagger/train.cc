#include "train.h"

#include <memory>
#include <unordered_map>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/sample_training.h"
#include "examples/nlp/common/text.h"
#include "model_file.h"

namespace tagger {

using namespace nlp;

namespace {

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
class Run : public SampleTraining {
 public:
  Run(Checkpoint& now, const Corpus& train_corpus, const Corpus& dev_corpus,
      const RunOptions& options)
      : SampleTraining(*now.trainer, update_settings(now.settings)),
        now_(now),
        model_(*now.model),
        dev_(dev_corpus),
        options_(options) {
    std::unordered_map<std::string, std::size_t> counts;
    for (const Sentence& sentence : train_corpus) {
      for (const std::string& word : sentence.words) ++counts[word];
    }
    for (const Sentence& sentence : train_corpus) {
      add_sample(sentence.words.size());
      Example example{model_.encode(sentence), {}};
      for (const std::string& word : sentence.words)
        example.hide.push_back(hiding_probability(now.settings.unknown, counts[word]));
      examples_.push_back(std::move(example));
    }
  }

  std::string unit() const override { return "words"; }

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

  void save_model() override { tagger::save_model(options_.model, model_); }
  void save_checkpoint(const dynet::SaveOptions& how) override {
    tagger::save_checkpoint(options_.checkpoint(), now_, how);
  }

 private:
  struct Example {
    Encoded sentence;
    std::vector<double> hide;  ///< probabilities, by word
  };

  void begin_graph(dynet::ComputationGraph& graph) override { model_.begin_graph(graph, true); }

  dynet::Expression loss(dynet::ComputationGraph& graph, std::size_t sample,
                         Random& random) override {
    const Example& example = examples_[sample];
    hide_.clear();
    for (const double probability : example.hide) hide_.push_back(random.uniform() < probability);
    return model_.loss(graph, example.sentence, hide_);
  }

  Checkpoint& now_;
  Model& model_;
  const Corpus& dev_;
  const RunOptions& options_;
  std::vector<Example> examples_;
  std::vector<bool> hide_;  ///< of the sample, kept for its memory
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
  return with(update_options(settings), {{"--features", features_text(model.features)},
                                         {"--hidden", std::to_string(model.hidden)},
                                         {"--layers", std::to_string(model.layers)},
                                         {"--mlp", std::to_string(model.mlp)},
                                         {"--dropout", option_text(model.dropout)},
                                         {"--unknown", option_text(settings.unknown)}});
}

}  // namespace

void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out) {
  Checkpoint now = begin_run<Checkpoint>(
      request, mark_of(train_corpus), kept_settings(request.model_settings, request.settings),
      load_checkpoint,
      [](const Checkpoint& c) {
        return kept_settings(c.model->description().settings, c.settings);
      },
      [&](Checkpoint& c) {
        c.model =
            std::make_unique<Model>(describe(request.data, request.model_settings, train_corpus),
                                    derived_seed(c.settings.seed, kWeights));
        c.trainer = make_trainer<dynet::AdamTrainer>(c.model->parameters(), c.settings);
      });
  describe_run(*now.model, train_corpus, dev_corpus, out);
  Run run(now, train_corpus, dev_corpus, request);
  run_epochs(run, now.state, request, out);
}

}  // namespace tagger
