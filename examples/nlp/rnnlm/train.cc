#include "train.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "evaluate.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"
#include "model_file.h"

namespace rnnlm {

using namespace nlp;

namespace {

std::uint64_t mark_of(const Corpus& corpus) {
  Mark mark;
  for (const Sentence& sentence : corpus) {
    for (const std::string& token : sentence.tokens) mark.add(token);
    mark.add("");
  }
  return mark.value();
}

/// One training run over fixed data.
class Run : public Training {
 public:
  Run(Checkpoint& now, const Corpus& train_corpus, const Corpus& dev_corpus,
      const RunOptions& options)
      : now_(now),
        model_(*now.model),
        settings_(now.settings),
        dev_(dev_corpus),
        options_(options) {
    for (const Sentence& sentence : train_corpus) {
      sentences_.push_back(model_.vocabulary().encode(sentence));
    }
  }

  std::string unit() const override { return "tokens"; }

  std::vector<std::size_t> begin_epoch(unsigned epoch) override {
    std::vector<std::size_t> order(sentences_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(derived_seed(settings_.seed, kOrder, epoch));
    random.shuffle(order);
    batches_ = batches_of(sentences_, order, {settings_.batch, settings_.tokens});
    random.shuffle(batches_);
    std::vector<std::size_t> sizes;
    for (const auto& places : batches_) sizes.push_back(minibatch(places).tokens());
    return sizes;
  }

  double update(unsigned epoch, std::size_t number, double epochs_done) override {
    const Minibatch batch = minibatch(batches_[number]);
    Random random(derived_seed(derived_seed(settings_.seed, kDraws), epoch, number));
    const std::uint64_t dropout =
        derived_seed(derived_seed(settings_.seed, kDropout), epoch, number);
    double value = 0;
    Memory memory;
    for (std::size_t begin = 0; begin < batch.steps(); begin += settings_.truncate) {
      const std::size_t end = std::min(batch.steps(), begin + settings_.truncate);
      graph_.clear();
      graph_.set_seed(derived_seed(dropout, begin));
      model_.begin_graph(graph_, true);
      model_.begin_sentences(memory);
      const dynet::Expression sum = sum_batches(model_.losses(batch, begin, end, &random));
      // The gradient of a sentence's mean loss, so that learning rates fit any size of batch.
      const dynet::Expression loss = sum / static_cast<float>(batch.size());
      graph_.forward(loss);
      value += static_cast<double>(as_scalar(sum.value()));
      require_finite(value);
      graph_.backward(loss);
      if (end < batch.steps()) memory = model_.memory();
    }
    now_.trainer->learning_rate =
        decayed_rate(settings_.learning_rate, settings_.decay, epochs_done);
    now_.trainer->update();
    return value;
  }

  std::string loss_text(double mean) const override {
    const bool sampled = model_.description().settings.loss == Loss::kSampled;
    return sampled ? "sampled loss " + fixed(mean, 4) : "perplexity " + fixed(std::exp(mean), 2);
  }

  bool has_dev() const override { return !dev_.empty(); }

  DevScore score_dev() override {
    const Report report = evaluate(model_, dev_, "dev");
    std::string text = "dev perplexity " + fixed(report.perplexity(), 2);
    if (report.ngram > 0) {
      text += " (" + std::to_string(report.ngram) +
              "-gram: " + fixed(report.ngram_perplexity(), 2) + ")";
    }
    return {-report.perplexity(), text};
  }

  void save_model() override { rnnlm::save_model(options_.model, model_); }
  void save_checkpoint(const dynet::SaveOptions& how) override {
    rnnlm::save_checkpoint(options_.checkpoint(), now_, how);
  }

 private:
  Minibatch minibatch(const std::vector<std::size_t>& places) const {
    std::vector<const Ids*> sentences;
    for (std::size_t place : places) sentences.push_back(&sentences_[place]);
    return Minibatch(std::move(sentences));
  }

  Checkpoint& now_;
  Model& model_;
  const TrainSettings& settings_;
  const Corpus& dev_;
  const RunOptions& options_;
  std::vector<Ids> sentences_;
  std::vector<std::vector<std::size_t>> batches_;  ///< of this epoch
  dynet::ComputationGraph graph_;                  ///< kept from update to update for its memory
};

void describe_run(Model& model, const Corpus& train_corpus, const Corpus& dev_corpus,
                  std::ostream& out) {
  const ModelSettings& settings = model.description().settings;
  const auto line = [&](const char* name, const Corpus& corpus) {
    out << name << ": " << with_commas(corpus.size()) << " sentences, "
        << with_commas(count_words(corpus)) << " words";
  };
  line("train", train_corpus);
  out << ", vocabulary " << with_commas(model.vocabulary().size()) << "\n";
  if (!dev_corpus.empty()) {
    line("dev", dev_corpus);
    out << "\n";
  }
  out << "model: vectors of " << settings.word << ", " << settings.layers
      << (settings.layers == 1 ? " layer of " : " layers of ") << settings.hidden << ", "
      << loss_name(settings.loss) << " softmax, "
      << with_commas(model.parameters().parameter_count()) << " weights" << std::endl;
}

/// The settings that a resumed run keeps, under the names of their options.
OptionValues kept_settings(const DataSettings& data, const ModelSettings& model,
                           const TrainSettings& settings) {
  return with(update_options(settings), {{"--level", level_name(data.read.level)},
                                         {"--min-count", std::to_string(data.min_count)},
                                         {"--ngram", std::to_string(data.ngram)},
                                         {"--word", std::to_string(model.word)},
                                         {"--hidden", std::to_string(model.hidden)},
                                         {"--layers", std::to_string(model.layers)},
                                         {"--dropout", option_text(model.dropout)},
                                         {"--loss", loss_name(model.loss)},
                                         {"--samples", std::to_string(model.samples)},
                                         {"--optimizer", optimizer_name(settings.optimizer)},
                                         {"--batch-tokens", std::to_string(settings.tokens)},
                                         {"--truncate", std::to_string(settings.truncate)}});
}

}  // namespace

const char* optimizer_name(Optimizer optimizer) {
  return optimizer == Optimizer::kAdam ? "adam" : "sgd";
}

Optimizer optimizer_from_name(const std::string& name) {
  if (name == "adam") return Optimizer::kAdam;
  if (name == "sgd") return Optimizer::kSgd;
  throw UserError("unknown optimizer " + nlp::quoted(name) + ": expected adam or sgd");
}

void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out) {
  Checkpoint now = begin_run<Checkpoint>(
      request, mark_of(train_corpus),
      kept_settings(request.data, request.model_settings, request.settings), load_checkpoint,
      [](const Checkpoint& c) {
        const Description& d = c.model->description();
        return kept_settings(d.data, d.settings, c.settings);
      },
      [&](Checkpoint& c) {
        c.model =
            std::make_unique<Model>(describe(request.data, request.model_settings, train_corpus),
                                    derived_seed(c.settings.seed, kWeights));
        c.trainer = make_trainer(c.settings, c.model->parameters());
      });
  describe_run(*now.model, train_corpus, dev_corpus, out);
  Run run(now, train_corpus, dev_corpus, request);
  run_epochs(run, now.state, request, out);
}

}  // namespace rnnlm
