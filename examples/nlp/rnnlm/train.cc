#include "train.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "commands.h"
#include "evaluate.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace rnnlm {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Sentence& sentence : corpus) {
    for (const std::string& token : sentence.tokens) fingerprint.add(token);
    fingerprint.add("");
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          return describe(command.description.data, command.description.settings, data.train);
        }) {
    for (const Sentence& sentence : data.train) {
      sentences_.push_back(model_.vocabulary().encode(sentence));
      add_sample(sentences_.back().size() + 1);
    }
    const DataSettings& d = model_.description().data;
    const bool words = d.read.level == Level::kWord;
    warn_of_unknown(
        words ? "words" : "characters", Vocabulary::kUnknown,
        [&](const Sentence& sentence) { return model_.vocabulary().encode(sentence); },
        too_rare(d.min_count, words ? "--level char" : ""));
  }

 private:
  /// Learns from a minibatch, in one graph per --truncate steps.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    std::vector<const Ids*> sentences;
    for (const std::size_t sentence : update.samples) sentences.push_back(&sentences_[sentence]);
    const Minibatch batch(std::move(sentences));
    const auto seed = [&](std::uint64_t purpose) {
      return derived_seed(derived_seed(settings_.seed, purpose), update.epoch,
                          update.number + (static_cast<std::uint64_t>(update.first) << 32));
    };
    Random random(seed(kDraws));
    const std::size_t units = settings_.mean_loss ? update.units : update.size;
    double value = 0;
    Memory memory;
    const std::size_t most = model.steps_together(settings_.truncate);
    for (std::size_t begin = 0; begin < batch.steps(); begin += most) {
      const std::size_t end = std::min(batch.steps(), begin + most);
      graph.clear();
      graph.set_seed(derived_seed(seed(kDropout), begin));
      model.begin_graph(graph, true);
      model.begin_sentences(memory);
      const dynet::Expression sum = sum_batches(model.losses(batch, begin, end, &random));
      const dynet::Expression loss = sum / static_cast<float>(units);
      graph.forward(loss);
      value += static_cast<double>(as_scalar(sum.value()));
      require_finite(value);
      graph.backward(loss);
      if (end < batch.steps()) memory = model.memory();
    }
    return value;
  }

  /// Minibatches of sentences of similar length.
  std::vector<std::vector<std::size_t>> make_updates(const std::vector<std::size_t>& order,
                                                     Random& random) const override {
    auto updates = batches_of(sentences_, order, {settings_.batch, settings_.tokens});
    random.shuffle(updates);
    return updates;
  }

  float learning_rate(double epochs_done) const override {
    const float rate = ModelTraining::learning_rate(epochs_done);
    return dynet::LearningRateSchedule::warm_up(rate, settings_.warmup)
        .rate(updates_done(epochs_done));
  }

  std::string unit() const override { return "tokens"; }

  std::string loss_text(double mean) const override {
    const bool sampled = model_.description().settings.loss == Loss::kSampled;
    return sampled ? "sampled loss " + fixed(mean, 4) : "perplexity " + fixed(std::exp(mean), 2);
  }

  double decisive(const Report& report) const override { return -report.perplexity(); }

  std::string dev_text(const Report& report) const override {
    return "dev perplexity " + fixed(report.perplexity(), 2);
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Corpus& corpus) -> std::ostream& {
      return out << name << ": " << with_commas(corpus.size()) << " sentences, "
                 << with_commas(count_words(corpus)) << " words";
    };
    line("train", data_.train) << ", vocabulary " << with_commas(model_.vocabulary().size())
                               << "\n";
    if (has_dev()) line("dev", data_.dev) << "\n";
    const ModelSettings& settings = model_.description().settings;
    const bool lstm = settings.network == Network::kLstm;
    out << "model: " << (lstm ? "vectors of " + std::to_string(settings.word) : "transformer")
        << ", " << settings.layers << (settings.layers == 1 ? " layer of " : " layers of ")
        << settings.hidden << ", "
        << (lstm ? "" : std::to_string(settings.transformer.heads) + " heads, ")
        << name_of(kLosses, settings.loss) << " softmax, "
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<Ids> sentences_;
};

/// Share of the learning rate that remains after the default number of epochs.
constexpr double kLastRate = 0.05;
/// Training data with fewer tokens are prone to overfitting.
constexpr double kLittle = 2e5;

/// Throws UserError for invalid settings of a transformer.
void check_transformer(const TrainCommand& command) {
  const ModelSettings& m = command.description.settings;
  const auto refuse = [](const std::string& what, unsigned a, unsigned b) {
    throw UserError(what + ", got " + std::to_string(a) + " and " + std::to_string(b));
  };
  const unsigned heads = m.transformer.heads;
  if (m.word != m.hidden)
    refuse("--word must be as large as --hidden in a transformer", m.word, m.hidden);
  if (m.hidden % heads != 0) refuse("--heads must divide --hidden", heads, m.hidden);
  if (m.transformer.positions == Positions::kRotary && m.hidden / heads % 2 != 0)
    refuse("--positions rotary needs a --hidden of an even number for each of --heads", m.hidden,
           heads);
}

/// Sets the defaults of a transformer for options without a value.
void fill_in_transformer(TrainCommand& command) {
  ModelSettings& m = command.description.settings;
  if (!command.was_given("--word")) m.word = m.hidden;
  if (!command.was_given("--layers")) m.layers = 2;
  if (!command.was_given("--feed-forward")) m.transformer.feed_forward = 4 * m.hidden;
  if (!command.was_given("--dropout")) m.dropout = 0.2f;
  if (!command.was_given("--learning-rate")) command.settings.learning_rate = 0.005f;
  if (!command.was_given("--warmup")) command.settings.warmup = 200;
}

/// Sets the defaults of all models for options without a value.
void fill_in_defaults(TrainCommand& command) {
  if (command.description.data.read.level == Level::kChar) {
    if (!command.was_given("--min-count")) command.description.data.min_count = 1;
    if (!command.was_given("--ngram")) command.description.data.ngram = 5;
    if (!command.was_given("--word")) command.description.settings.word = 32;
    if (!command.was_given("--dropout")) command.description.settings.dropout = 0.1f;
    if (!command.was_given("--learning-rate")) command.settings.learning_rate = 0.02f;
  }
  const bool transformer = command.description.settings.network == Network::kTransformer;
  if (transformer) fill_in_transformer(command);
  if (command.settings.optimizer == Optimizer::kSgd && !command.was_given("--learning-rate")) {
    command.settings.learning_rate = transformer ? 1.0f : 5.0f;
  }
}

/// Sets the defaults that depend on the amount of training data: for little data more epochs, and
/// smaller updates, hence more of them.
void fit_to_data(TrainCommand& command, std::size_t tokens) {
  const auto limited = [](double value, double low, double high) {
    return static_cast<unsigned>(std::lround(std::clamp(value, low, high)));
  };
  const bool characters = command.description.data.read.level == Level::kChar;
  const auto size = static_cast<double>(tokens);
  TrainSettings& settings = command.settings;
  if (!command.was_given("--batch-tokens")) settings.tokens = limited(size / 300, 100, 1500);
  const unsigned epochs = characters ? limited(6e6 / size, 6, 25) : limited(5e5 / size, 6, 12);
  if (!command.was_given("--epochs")) command.limits.epochs = epochs;
  if (!command.was_given("--decay"))
    settings.decay = static_cast<float>(std::pow(kLastRate, 1.0 / epochs));
  ModelSettings& model = command.description.settings;
  if (!command.was_given("--dropout") && model.network == Network::kLstm && size < kLittle)
    model.dropout = characters ? 0.3f : 0.5f;
}

}  // namespace

void TrainSettings::check() const {
  nlp::TrainSettings::check();
  nlp::require_number("number of tokens per update", tokens, 1, 1e9);
  nlp::require_number("number of steps", truncate, 1, 1e6);
  nlp::require_number("warmup", warmup, 0, 1e9);
}

TrainCommand::TrainCommand() : nlp::TrainCommand("Training data", "Data") {
  limits = {6, 3, 0};
  settings.batch = 16;
  settings.learning_rate = 0.005f;
  settings.clip = 2;
}

void TrainCommand::add_options(CLI::App& app) {
  nlp::TrainCommand::add_options(app);
  app.get_option("--learning-rate")
      ->description(
          "At the start; of an LSTM 0.02 for char and 5 for sgd, of a transformer 1 for sgd");
  const auto of_data = [&app](const std::string& name, const std::string& help) {
    app.get_option(name)->default_str("")->description(help);
  };
  of_data("--epochs", "Most epochs; by default 6, and of little data up to 12, for char 25");
  of_data("--decay",
          "What an epoch multiplies the learning rate by; by default such that it falls to a "
          "twentieth over as many epochs as are the default");
  of_data("--batch-tokens",
          "Most tokens per update, with padding; a longer sentence goes alone; by default a 300th "
          "of the training data, from 100 to 1500");
  of_data(
      "--dropout",
      "Dropout of what goes into each layer and comes out of the last; by default 0.3, for char "
      "0.1; with fewer than 200,000 tokens 0.5 and 0.3; for a transformer 0.2");
}

void TrainCommand::add_settings(Options& options) {
  options.add_of_data("--split", split,
                      "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  options.add_of_data("--format", format, kFormatHelp, kFormats);
  DataSettings& data = description.data;
  options.add("--level", data.read.level, "What is predicted: word or char", kLevels, "level");
  options.add_flag_of_data("--lower", data.read.lower, "Lower-case all letters of the data");
  options.add("--min-count", data.min_count,
              "Tokens that training has less often are unknown; for char 1", InRange(1, 1000000));
  options.add("--ngram", data.ngram,
              "Order of the n-gram model to compare with, 0 for none; for char 5", InRange(0, 9));

  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add("--network", m.network, "lstm or transformer", kNetworks, "network");
  options.add("--word", m.word,
              "Size of a token's vector; for char 32, for a transformer as large as --hidden",
              InRange(1, 4096));
  options.add("--hidden", m.hidden, "Size of the network's states", InRange(1, 4096));
  options.add("--layers", m.layers, "Of the network; for a transformer 2", InRange(1, 16));
  options.add("--dropout", m.dropout,
              "Dropout of what goes into each layer and comes out of the last; for char 0.1",
              InRange(0.0, 0.95));
  options.add("--loss", m.loss, "Softmax of training: full, or sampled for large vocabularies",
              kLosses, "loss");
  options.add("--samples", m.samples, "Samples per minibatch of the sampled softmax",
              InRange(1, kMostSamples));
  TransformerShape& t = m.transformer;
  options.add("--heads", t.heads, "Of a transformer's attention", InRange(1, 256));
  options.add("--feed-forward", t.feed_forward,
              "Inner size of a transformer's feed-forward layers; by default four times --hidden",
              InRange(1, 65536));
  options.add("--positions", t.positions, "Of a transformer: sinusoidal, learned or rotary",
              kPositions, "positions");
  options.add("--context", t.context,
              "Tokens that a transformer reads together; a longer sentence is cut",
              InRange(1, 1e5));

  options.begin_group(kTrainingOptions);
  options.add("--optimizer", settings.optimizer, "adam or sgd", kOptimizers, "optimizer");
  options.add("--batch-tokens", settings.tokens,
              "Most tokens per update, with padding; a longer sentence goes alone",
              InRange(1, 1e9));
  options.add("--truncate", settings.truncate, "Steps that gradients of an LSTM go back at most",
              InRange(1, 1000000));
  options.add("--warmup", settings.warmup,
              "Updates in which the learning rate grows; for a transformer 200", InRange(0, 1e9));
  add_updates(options, settings, "Sentences");
}

void TrainCommand::describe_data(Description& saved) const {
  saved.data.read.format = description.data.read.format;
  saved.data.split = description.data.split;
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  DataSettings& data = description.data;
  if (!init.empty()) {
    const Description has = load_model<Model>(init)->description();
    const ReadOptions& read = has.data.read;
    if (was_given("--lower") && !read.lower)
      throw UserError("the model in " + init + " has --lower off: it cannot go on with on");
    data.read.lower = read.lower;
    if (!was_given("--level")) data.read.level = read.level;
    if (!was_given("--network")) description.settings.network = has.settings.network;
  }
  data.read.format = format_from_name(format);
  fill_in_defaults(*this);
  const bool is_new = init.empty() && !resume;
  if (is_new && description.settings.network == Network::kTransformer) check_transformer(*this);
  data.split = parse_split(split, *this);
  // Dev and test have the format of the training data.
  const auto read = [&data](const TextSource& file) { return read_corpus(file, data.read); };
  const auto parts = read_parts(*this, data.split, read);
  format = format_name(data.read.format);
  fit_to_data(*this, count_tokens(parts.train));
  rnnlm::train(*this, parts, std::cout);
}

void train(const TrainCommand& command, const Parts<Corpus>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace rnnlm
