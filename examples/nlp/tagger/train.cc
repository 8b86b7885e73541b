#include "train.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model_file.h"
#include "progress.h"
#include "text.h"

namespace tagger {
namespace {

// Purposes of random numbers: each has a sequence of its own.
enum : std::uint64_t { kWeights = 1, kOrder = 2, kHiding = 3, kDropout = 4 };

std::uint64_t mark_of(const Corpus& corpus) {
  std::uint64_t mark = dynet::mix_bits(corpus.size());
  const auto add = [&](const std::string& text) {
    for (char c : text) mark = (mark ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
    mark = dynet::mix_bits(mark);
  };
  for (const Sentence& sentence : corpus) {
    for (const std::string& word : sentence.words) add(word);
    for (const std::string& tag : sentence.tags) add(tag);
  }
  return mark;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

/// One training run over fixed data.
class Run {
 public:
  Run(Checkpoint start, const Corpus& train_corpus, const Corpus& dev_corpus,
      const TrainFiles& files, std::ostream& out)
      : now_(std::move(start)),
        model_(*now_.model),
        settings_(now_.settings),
        state_(now_.state),
        trainer_(*now_.trainer),
        dev_(dev_corpus),
        files_(files),
        out_(out),
        progress_output_(standard_error_output()) {
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
      words_ += sentence.words.size();
      examples_.push_back(std::move(example));
    }
  }

  void go() {
    started_ = progress_output_.clock();
    bool in_time = true;
    while (in_time && state_.epoch < settings_.epochs && !out_of_patience()) {
      const bool whole = epoch();
      in_time = whole && (!out_of_time() || state_.epoch == settings_.epochs);
    }
    if (!in_time) {
      out_ << "stopped after " << duration(seconds()) << ", as --max-seconds asks\n";
    } else if (out_of_patience()) {
      out_ << "stopped: no better dev score in " << settings_.patience << " epochs\n";
    }
    out_.flush();
  }

 private:
  struct Example {
    Encoded sentence;
    std::vector<float> hide;  ///< probabilities, by word
  };

  double seconds() const { return progress_output_.clock() - started_; }
  bool out_of_time() const {
    return settings_.max_seconds > 0 && seconds() >= settings_.max_seconds;
  }
  bool out_of_patience() const {
    return settings_.patience > 0 && !dev_.empty() &&
           state_.epoch >= state_.best_epoch + settings_.patience;
  }

  /// Trains until the epoch or the time ends, scores, and saves. False if it was the time.
  bool epoch() {
    const double epoch_started = seconds();
    const std::uint64_t number_of_epoch = state_.epoch + 1;
    std::vector<std::size_t> order(examples_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(derived_seed(settings_.seed, kOrder, number_of_epoch)).shuffle(order);

    std::size_t words = 0;
    for (std::size_t i = 0; i < state_.position; ++i) words += examples_[order[i]].sentence.size();
    const std::size_t words_before = words;
    bool whole = true;
    {
      Progress progress(progress_output_, "epoch " + std::to_string(number_of_epoch), "words",
                        words_, words);
      while (state_.position < order.size()) {
        words += update(order);
        progress.update(words, "loss " + number(state_.loss / static_cast<double>(words)));
        if (out_of_time() && state_.position < order.size()) {
          whole = false;
          break;
        }
      }
    }
    const double train_seconds = seconds() - epoch_started;
    score(number_of_epoch, words, static_cast<double>(words - words_before) / train_seconds);
    if (whole) {
      ++state_.epoch;
      state_.position = 0;
      state_.loss = 0;
    }
    save_checkpoint(files_.checkpoint, now_);
    return whole;
  }

  /// One update from the next sentences; returns how many words they have.
  std::size_t update(const std::vector<std::size_t>& order) {
    const std::uint64_t number_of_epoch = state_.epoch + 1;
    graph_.clear();
    graph_.set_seed(
        derived_seed(derived_seed(settings_.seed, kDropout), number_of_epoch, state_.position));
    model_.begin_graph(graph_, true);
    const std::size_t end = std::min<std::size_t>(order.size(), state_.position + settings_.batch);
    std::size_t words = 0;
    losses_.clear();
    for (std::size_t i = state_.position; i < end; ++i) {
      const Example& example = examples_[order[i]];
      Random random(derived_seed(derived_seed(settings_.seed, kHiding), number_of_epoch, i));
      hide_.assign(example.hide.size(), false);
      for (std::size_t w = 0; w < hide_.size(); ++w) {
        hide_[w] = random.uniform() < static_cast<double>(example.hide[w]);
      }
      losses_.push_back(model_.loss(graph_, example.sentence, hide_));
      words += example.sentence.size();
    }
    const dynet::Expression loss = losses_.size() == 1 ? losses_[0] : sum(losses_);
    state_.loss += static_cast<double>(as_scalar(graph_.forward(loss)));
    if (!std::isfinite(state_.loss)) {
      throw UserError(
          "training broke off: the loss is no longer a number; try a smaller "
          "--learning-rate");
    }
    graph_.backward(loss);
    const double epochs = static_cast<double>(state_.epoch) +
                          static_cast<double>(state_.position) / static_cast<double>(order.size());
    trainer_.learning_rate =
        settings_.learning_rate *
        static_cast<float>(std::pow(static_cast<double>(settings_.decay), epochs));
    trainer_.update();
    state_.position = end;
    return words;
  }

  /// Scores the dev data, keeps the model if it is the best, prints the line of the epoch.
  void score(std::uint64_t number_of_epoch, std::size_t words, double words_per_second) {
    const bool whole = state_.position == examples_.size();
    std::string line = "epoch " + std::to_string(number_of_epoch);
    if (!whole) {
      line += " (" + percent(static_cast<double>(words) / static_cast<double>(words_)) + " of it)";
    }
    line += ": loss " + number(state_.loss / static_cast<double>(words));
    bool better = true;
    if (!dev_.empty()) {
      const Report report = evaluate(model_, dev_, "dev");
      line += ", dev accuracy " + percent(report.model.all.value());
      if (report.model.kind == TagKind::kSpans) {
        line += ", span F1 " + percent(report.model.spans.f1());
        line += " (trivial: " + percent(report.baseline.all.value()) + ", " +
                percent(report.baseline.spans.f1()) + ")";
      } else {
        line += " (trivial: " + percent(report.baseline.all.value()) + ")";
      }
      better = report.model.decisive() > state_.best_score;
      if (better) state_.best_score = report.model.decisive();
    }
    if (better) {
      state_.best_epoch = static_cast<unsigned>(number_of_epoch);
      save_model(files_.model, model_);
    }
    line += ", " + with_commas(static_cast<std::size_t>(words_per_second)) + " words/s, " +
            duration(seconds());
    if (better && !dev_.empty()) line += ", best so far";
    out_ << line << std::endl;
  }

  Checkpoint now_;
  Model& model_;
  const TrainSettings& settings_;
  TrainState& state_;
  dynet::AdamTrainer& trainer_;
  const Corpus& dev_;
  const TrainFiles files_;
  std::ostream& out_;
  Progress::Output progress_output_;
  double started_ = 0;
  std::size_t words_ = 0;
  std::vector<Example> examples_;
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
std::vector<std::pair<std::string, std::string>> kept_settings(const ModelSettings& model,
                                                               const TrainSettings& settings) {
  const auto text = [](double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", value);
    return std::string(digits);
  };
  return {{"--features", features_text(model.features)},
          {"--hidden", std::to_string(model.hidden)},
          {"--layers", std::to_string(model.layers)},
          {"--mlp", std::to_string(model.mlp)},
          {"--dropout", text(static_cast<double>(model.dropout))},
          {"--unknown", text(static_cast<double>(settings.unknown))},
          {"--batch", std::to_string(settings.batch)},
          {"--learning-rate", text(static_cast<double>(settings.learning_rate))},
          {"--decay", text(static_cast<double>(settings.decay))},
          {"--clip", text(static_cast<double>(settings.clip))},
          {"--seed", std::to_string(settings.seed)}};
}

void require_same(const TrainRequest& request, const ModelSettings& begun_model,
                  const TrainSettings& begun) {
  const auto wanted = kept_settings(request.model, request.settings);
  const auto found = kept_settings(begun_model, begun);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [name, value] = wanted[i];
    const bool given =
        std::find(request.given.begin(), request.given.end(), name) != request.given.end();
    if (given && value != found[i].second) {
      throw UserError("the run in " + request.files.checkpoint + " began with " + name + " " +
                      found[i].second + ": it cannot go on with " + value);
    }
  }
}

/// Better now than after the first epoch.
void require_writable(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw UserError(file + " is a directory, not a model");
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) != 0) {
    throw UserError("cannot write " + file + ": " + std::generic_category().message(errno));
  }
}

}  // namespace

TrainFiles train_files(const std::string& model) { return {model, model + ".checkpoint"}; }

void train(const TrainRequest& request, const Corpus& train_corpus, const Corpus& dev_corpus,
           std::ostream& out) {
  require_writable(request.files.model);
  const std::uint64_t data_mark = mark_of(train_corpus);
  Checkpoint start;
  if (request.resume) {
    start = load_checkpoint(request.files.checkpoint);
    require_same(request, start.model->description().settings, start.settings);
    if (start.state.data_mark != data_mark) {
      throw UserError("the run in " + request.files.checkpoint + " began with other training data");
    }
    start.settings.epochs = request.settings.epochs;
    start.settings.patience = request.settings.patience;
    start.settings.max_seconds = request.settings.max_seconds;
  } else {
    start.settings = request.settings;
    start.state.data_mark = data_mark;
    start.model = std::make_unique<Model>(describe(request.data, request.model, train_corpus),
                                          derived_seed(start.settings.seed, kWeights));
    start.trainer = std::make_unique<dynet::AdamTrainer>(start.model->parameters(),
                                                         start.settings.learning_rate);
    start.trainer->clipping_enabled = start.settings.clip > 0;
    start.trainer->clip_threshold = start.settings.clip;
  }
  describe_run(*start.model, train_corpus, dev_corpus, out);
  if (request.resume) {
    out << "resuming after epoch " << start.state.epoch;
    if (start.state.position > 0) out << " and " << start.state.position << " sentences";
    out << std::endl;
  }
  Run(std::move(start), train_corpus, dev_corpus, request.files, out).go();
}

}  // namespace tagger
