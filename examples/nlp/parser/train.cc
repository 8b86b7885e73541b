#include "examples/nlp/parser/train.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/sample_training.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/parser/model_file.h"

namespace parser {

using namespace nlp;

namespace {

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
class Run : public SampleTraining {
 public:
  Run(Checkpoint& now, const Treebank& train_sentences, const Treebank& dev_sentences,
      const RunOptions& options)
      : SampleTraining(*now.trainer, update_settings(now.settings)),
        now_(now),
        model_(*now.model),
        dev_(dev_sentences),
        options_(options) {
    std::vector<std::size_t> counts(model_.description().words.size());
    for (const Sentence& sentence : train_sentences) {
      add_sample(sentence.size());
      examples_.push_back({model_.encode(sentence), model_.moves(sentence)});
      for (const unsigned word : examples_.back().sentence.words) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(now.settings.unknown, count));
  }

  std::string unit() const override { return "words"; }

  bool has_dev() const override { return !dev_.empty(); }

  DevScore score_dev() override {
    const Parsed parsed = parse_all(model_, dev_, kTogether, "dev");
    const Report report = score(model_, dev_, parsed.trees, "dev");
    return {report.model.arcs.value(), "dev UAS " + percent(report.model.heads.value()) + ", LAS " +
                                           percent(report.model.arcs.value())};
  }

  void save_model() override { parser::save_model(options_.model, model_); }
  void save_checkpoint(const dynet::SaveOptions& how) override {
    parser::save_checkpoint(options_.checkpoint(), now_, how);
  }

 private:
  struct Example {
    Encoded sentence;
    std::vector<Move> moves;
  };

  void begin_graph(dynet::ComputationGraph& graph) override { model_.begin_graph(graph, true); }

  dynet::Expression loss(dynet::ComputationGraph& graph, std::size_t sample,
                         Random& random) override {
    const Example& example = examples_[sample];
    seen_ = example.sentence;
    for (unsigned& word : seen_.words) {
      if (random.uniform() < hide_[word]) word = 0;
    }
    return model_.loss(graph, seen_, example.moves);
  }

  Checkpoint& now_;
  Model& model_;
  const Treebank& dev_;
  const RunOptions& options_;
  std::vector<Example> examples_;
  std::vector<double> hide_;  ///< probabilities, by word
  Encoded seen_;              ///< of the sample, kept for its memory
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
  return with(update_options(settings), {{"--word", std::to_string(model.word)},
                                         {"--tag", std::to_string(model.tag)},
                                         {"--hidden", std::to_string(model.hidden)},
                                         {"--layers", std::to_string(model.layers)},
                                         {"--mlp", std::to_string(model.mlp)},
                                         {"--dropout", option_text(model.dropout)},
                                         {"--unknown", option_text(settings.unknown)}});
}

}  // namespace

void train(const TrainRequest& request, const Treebank& train_sentences,
           const Treebank& dev_sentences, std::ostream& out) {
  Checkpoint now = begin_run<Checkpoint>(
      request, mark_of(train_sentences), kept_settings(request.model_settings, request.settings),
      load_checkpoint,
      [](const Checkpoint& c) {
        return kept_settings(c.model->description().settings, c.settings);
      },
      [&](Checkpoint& c) {
        c.model = std::make_unique<Model>(describe(request.model_settings, train_sentences),
                                          derived_seed(c.settings.seed, kWeights));
        c.trainer = make_trainer<dynet::AdamTrainer>(c.model->parameters(), c.settings);
      });
  describe_run(*now.model, train_sentences, dev_sentences, out);
  Run run(now, train_sentences, dev_sentences, request);
  run_epochs(run, now.state, request, out);
}

}  // namespace parser
