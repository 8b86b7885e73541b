#include "examples/nlp/translate/train.h"

#include <algorithm>
#include <iostream>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace translate {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Pair& pair : corpus) {
    fingerprint.add(pair.source);
    fingerprint.add(pair.target);
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of,
                      [&] { return describe(command.description, data.train); }) {
    for (const Pair& pair : data.train) {
      source_.push_back(model_.encode_source(pair.source));
      target_.push_back(model_.encode_target(pair.target, source_.back()));
      add_sample(target_.back().size() + 1, pair.source.size() + pair.target.size());
    }
    if (model_.description().network.copy) return;  // copies unknown words
    const TokenSettings& tokens = model_.description().tokens;
    const auto warn_of = [&](const std::string& option, Unit unit, const char* of, auto numbers) {
      const char* const what = unit == Unit::kWord        ? "words"
                               : unit == Unit::kCharacter ? "characters"
                                                          : "pieces";
      warn_of_unknown(std::string(what) + of, 0, numbers,
                      too_rare(tokens.min_count, unit == Unit::kWord ? option + " char" : ""));
    };
    warn_of("--source-unit", tokens.source, " of the texts",
            [&](const Pair& pair) { return model_.encode_source(pair.source).tokens; });
    warn_of("--target-unit", tokens.target, " of the translations",
            [&](const Pair& pair) { return model_.encode_target(pair.target, {}); });
  }

 private:
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    const std::vector<Ids> read = texts_to_read(model, graph, update);
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (std::size_t i = 0; i < update.samples.size(); ++i) {
      const std::size_t pair = update.samples[i];
      losses.push_back(model.loss(source_[pair], target_[pair], settings_.smoothing, read[i]));
    }
    return learn_from(graph, losses, update);
  }

  /// Inputs of the decoder, with some tokens replaced by the model's own predictions (scheduled
  /// sampling, Bengio et al. 2015; in two passes, Mihaylova and Martins 2019).
  std::vector<Ids> texts_to_read(Model& model, dynet::ComputationGraph& graph,
                                 const Update& update) const {
    std::vector<Ids> read;
    for (const std::size_t pair : update.samples) read.push_back(beginnings(target_[pair]));
    if (settings_.own_tokens == 0) return read;
    graph.clear();
    model.begin_graph(graph, false);
    std::vector<dynet::Expression> scores;
    for (const std::size_t pair : update.samples)
      scores.push_back(model.scores(source_[pair], target_[pair]));
    graph.forward(scores.back());  // computes all scores
    for (std::size_t i = 0; i < read.size(); ++i) {
      const std::vector<float> values = as_vector(scores[i].value());
      const auto tokens = static_cast<std::ptrdiff_t>(scores[i].dim().rows());
      Random random = draws(update, i);
      auto column = values.begin();
      for (std::size_t t = 1; t < read[i].size(); ++t, column += tokens)
        if (random.uniform() < static_cast<double>(settings_.own_tokens))
          read[i][t] = static_cast<unsigned>(std::max_element(column, column + tokens) - column);
    }
    return read;
  }

  /// Pairs of similar length, with a limited number of target tokens.
  std::vector<std::vector<std::size_t>> make_updates(const std::vector<std::size_t>& order,
                                                     Random& random) const override {
    std::vector<std::size_t> by_length = order;
    std::stable_sort(by_length.begin(), by_length.end(), [&](std::size_t a, std::size_t b) {
      return target_[a].size() < target_[b].size();
    });
    std::vector<std::vector<std::size_t>> updates;
    std::size_t tokens = 0;
    for (const std::size_t pair : by_length) {
      const std::size_t more = target_[pair].size() + 1;
      if (updates.empty() || tokens + more > settings_.tokens ||
          updates.back().size() == settings_.batch)
        updates.emplace_back(), tokens = 0;
      updates.back().push_back(pair);
      tokens += more;
    }
    random.shuffle(updates);
    return updates;
  }

  /// Linear warm-up, then inverse square root decay (Vaswani et al. 2017, section 5.3).
  float learning_rate(double epochs_done) const override {
    if (settings_.warmup == 0) return ModelTraining::learning_rate(epochs_done);
    return dynet::LearningRateSchedule::inverse_square_root(settings_.learning_rate,
                                                            settings_.warmup)
        .rate(updates_done(epochs_done));
  }

  float average() const override { return settings_.average; }

  std::string unit() const override { return "tokens"; }

  double decisive(const Report& report) const override {
    // BLEU decides for sentences, the share of exact translations for texts without sentences.
    return report.model.bleu() + report.model.exact();
  }

  std::string dev_text(const Report& report) const override {
    return "dev BLEU " + percent(report.model.bleu()) + ", exact " + percent(report.model.exact());
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Corpus& corpus) -> std::ostream& {
      return out << name << ": " << with_commas(corpus.size()) << " pairs, "
                 << with_commas(count_words(corpus)) << " words";
    };
    const Description& d = model_.description();
    line("train", data_.train) << ", vocabularies of " << with_commas(d.source.size()) << " and "
                               << with_commas(d.target.size()) << '\n';
    if (has_dev()) line("dev", data_.dev) << '\n';
    out << "model: " << name_of(kKinds, d.network.kind) << ", " << d.network.layers
        << (d.network.layers == 1 ? " layer of " : " layers of ") << d.network.size << ", "
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<Source> source_;  ///< by pair
  std::vector<Ids> target_;     ///< by pair
};

/// Words, or characters if most texts are single words and most words are unique; prints the
/// choice.
Unit unit_for(const Corpus& train, std::string Pair::*side, const std::string& option,
              const std::string& texts) {
  Ratio single, rare;
  for (const Pair& pair : train) single.count((pair.*side).find(' ') == std::string::npos);
  for (const auto& [word, count] : words_of(train, side)) {
    rare.right += count == 1 ? 1 : 0;
    rare.total += count;
  }
  const bool characters = 2 * single.right > single.total && 2 * rare.right > rare.total;
  const Unit unit = characters ? Unit::kCharacter : Unit::kWord;
  std::cerr << "taking " << option << ' ' << name_of(kUnits, unit) << ": "
            << percent(single.value()) << " of the " << texts << " are one word, and "
            << percent(rare.value()) << " of their words come only once" << std::endl;
  return unit;
}

}  // namespace

void TrainSettings::check() const {
  nlp::TrainSettings::check();
  nlp::require_number("number of tokens per update", tokens, 1, 1e9);
  nlp::require_number("smoothing", static_cast<double>(smoothing), 0, 0.9);
  nlp::require_number("warmup", warmup, 0, 1e9);
  nlp::require_number("average", static_cast<double>(average), 0, 0.999999);
  nlp::require_number("share of own tokens", static_cast<double>(own_tokens), 0, 1);
}

TrainCommand::TrainCommand()
    : nlp::TrainCommand("Pairs to learn from, a line each: text, tab, translation", "Pairs") {
  settings.batch = 16;
  settings.learning_rate = 0.001f;
  settings.decay = 0.9f;
  settings.clip = 1;
  limits = {20, 0, 0};
  description.tokens.source = description.tokens.target = Unit::kByData;
}

void TrainCommand::add_settings(Options& options) {
  options.add_of_data("--split", split,
                      "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  options.add_of_data("--format", format,
                      "tab (a line each: text, tab, translation) or parallel (two files: "
                      "source.txt,target.txt)",
                      kFormats);
  TokenSettings& tokens = description.tokens;
  const auto add_unit = [&](const std::string& name, Unit& unit, const std::string& of) {
    options.add_text(
        name, unit == Unit::kByData ? "" : name_of(kUnits, unit),
        of + ": word, char or piece; by default what fits the training data",
        [&unit](const std::string& unit_name) { unit = value_of(kUnits, unit_name, "unit"); });
  };
  add_unit("--source-unit", tokens.source, "Of texts");
  add_unit("--target-unit", tokens.target, "Of translations");
  options.add("--pieces", tokens.pieces, "Merges of pieces, for each language",
              InRange(0, 1000000));
  options.add("--min-count", tokens.min_count, "Tokens that training has less often are unknown",
              InRange(1, 1000000));
  options.begin_group(kModelOptions);
  NetworkSettings& n = description.network;
  options.add("--network", n.kind, "lstm or transformer", kKinds, "network");
  options.add("--attention", n.attention, "Of an LSTM: dot, general or additive", kAttentions,
              "attention");
  options.add_flag("--copy", n.copy,
                   "An LSTM may copy tokens of the text, known or not; learns without --smoothing");
  options.add("--hidden", n.size, "Of vectors and states", InRange(1, 4096));
  options.add("--layers", n.layers, "Of encoder and decoder each", InRange(1, 64));
  options.add("--heads", n.heads, "Of a transformer's attention", InRange(1, 256));
  options.add("--feed-forward", n.feed_forward, "Size of a transformer's feed-forward layers",
              InRange(1, 65536));
  options.add("--dropout", n.dropout, "Dropout between layers", InRange(0.0, 0.95));
  options.begin_group(kTrainingOptions);
  options.add("--smoothing", settings.smoothing, "Probability that goes to all tokens alike",
              InRange(0.0, 0.9));
  options.add("--warmup", settings.warmup,
              "Updates in which the learning rate grows, to fall with their square root; 0: "
              "--decay counts",
              InRange(0, 1e9));
  options.add(
      "--average", settings.average,
      "What is scored and saved is a mean of the weights, of which the one before an update "
      "keeps this share; 0: the weights",
      InRange(0.0, 0.999999));
  options.add("--own-tokens", settings.own_tokens,
              "Probability that training reads a token that the model would have written instead "
              "of the right one",
              InRange(0.0, 1.0));
  options.add("--batch-tokens", settings.tokens, "Most tokens of an update's translations",
              InRange(1, 1e9));
  add_updates(options, settings, "Pairs");
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  const NetworkSettings& n = description.network;
  if (n.kind == Kind::kTransformer && n.size % n.heads != 0)
    throw UserError("--heads must divide --hidden, got " + std::to_string(n.heads) + " and " +
                    std::to_string(n.size));
  if (n.copy && n.kind == Kind::kTransformer) throw UserError("--copy is for --network lstm");
  description.format = value_of(kFormats, format, "format");
  description.split = parse_split(split, *this);
  const auto read = [&](const TextSource& file) { return read_pairs(file, description.format); };
  const Parts<Corpus> data = read_parts(*this, description.split, read);
  if (init.empty() && !resume) choose_units(data.train);
  translate::train(*this, data, std::cout);
}

void TrainCommand::choose_units(const Corpus& pairs) {
  TokenSettings& tokens = description.tokens;
  if (tokens.source == Unit::kByData)
    tokens.source = unit_for(pairs, &Pair::source, "--source-unit", "texts");
  if (tokens.target == Unit::kByData)
    tokens.target = unit_for(pairs, &Pair::target, "--target-unit", "translations");
}

void train(const TrainCommand& command, const Parts<Corpus>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace translate
