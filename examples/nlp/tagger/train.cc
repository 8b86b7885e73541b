#include "train.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <unordered_map>
#include <utility>

#include "commands.h"
#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace tagger {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Sentence& sentence : corpus) {
    for (const std::string& word : sentence.words) fingerprint.add(word);
    for (const std::string& tag : sentence.tags) fingerprint.add(tag);
    fingerprint.add("");
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          return describe(command.description.data, command.description.settings, data.train,
                          command.vectors);
        }) {
    if (!command.vectors.words.empty()) model_.use(command.vectors, data.train, std::cout);
    model_.report_unknown_tags(data.dev, command.dev);
    warn_if_single("tag", model_.description().tags, command.train);
    const std::vector<Feature>& features = model_.description().settings.features;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (identifies_word(features[f].name))
        warn_of_unknown("words", 0, [&](const Sentence& s) { return model_.encode(s).views[f]; });
    }
    std::unordered_map<std::string, std::size_t> counts;
    for (const Sentence& sentence : data.train) {
      for (const std::string& word : sentence.words) ++counts[word];
    }
    for (const Sentence& sentence : data.train) {
      add_sample(sentence.words.size());
      Example example{model_.encode(sentence), {}};
      for (const std::string& word : sentence.words)
        example.hide.push_back(hiding_probability(settings_.unknown, counts[word]));
      examples_.push_back(std::move(example));
    }
  }

 private:
  /// Learns from a few sentences, all in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (const std::size_t sentence : update.samples) {
      Random random = draws(update, losses.size());
      const Example& example = examples_[sentence];
      std::vector<bool> hide;
      for (const double probability : example.hide) hide.push_back(random.uniform() < probability);
      losses.push_back(model.loss(graph, example.sentence, hide));
    }
    return learn_from(graph, losses, update);
  }

  std::string unit() const override { return "words"; }

  double decisive(const Report& report) const override { return report.model.decisive(); }

  std::vector<std::string> labels() const override { return model_.description().tags; }

  std::string dev_text(const Report& report) const override {
    std::string text = "dev accuracy " + percent(report.model.all.value());
    if (report.model.kind == TagKind::kSpans) text += ", F1 " + percent(report.model.spans.f1());
    return text;
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Corpus& corpus) -> std::ostream& {
      return out << name << ": " << with_commas(corpus.size()) << " sentences, "
                 << with_commas(count_words(corpus)) << " words";
    };
    const Description& description = model_.description();
    line("train", data_.train) << ", " << description.tags.size() << " tags\n";
    if (has_dev()) line("dev", data_.dev) << '\n';
    const ModelSettings& settings = description.settings;
    out << "model: " << features_text(settings.features) << ", " << settings.layers
        << (settings.layers == 1 ? " layer" : " layers") << " of 2 x " << settings.hidden << ", "
        << (settings.crf ? description.allowed.tags > 0 ? "CRF with constraints, " : "CRF, " : "")
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  struct Example {
    Encoded sentence;
    std::vector<double> hide;  ///< probability per word
  };
  std::vector<Example> examples_;
};

/// Sets the defaults of options without a value. Running text has a small vocabulary with frequent
/// words, and no case, so a smaller model with only words and fewer epochs suffice.
void fill_in_defaults(TrainCommand& command) {
  const bool running_text = is_running_text(command.description.data.format);
  ModelSettings& model = command.description.settings;
  if (!command.was_given("--features"))
    model.features = parse_features(running_text ? "word:64" : "word,suffix3,shape");
  if (!running_text) return;
  if (!command.was_given("--hidden")) model.hidden = 64;
  if (!command.was_given("--dropout")) model.dropout = 0.2f;
  if (!command.was_given("--decay")) command.settings.decay = 0.6f;
  if (!command.was_given("--epochs")) command.limits.epochs = 4;
}

/// Reads the vectors, which determine the size of the feature.
void begin_with_vectors(TrainCommand& command) {
  if (!command.init.empty())
    throw UserError("--vectors is for new models, and --init names one that has learned");
  std::vector<Feature>& features = command.description.settings.features;
  const auto feature = std::find_if(features.begin(), features.end(),
                                    [](const Feature& f) { return identifies_word(f.name); });
  if (feature == features.end())
    throw UserError("--vectors needs the feature word or lower, and --features has neither");
  command.vectors = read_vectors(command.vectors_file);
  feature->dim = command.vectors.size;
}

/// Throws LineError for a tag that the model to continue from does not have.
void require_known_tags(const Corpus& corpus, const std::vector<std::string>& tags,
                        const std::string& file) {
  const std::set<std::string> known(tags.begin(), tags.end());
  for (const Sentence& sentence : corpus) {
    for (const std::string& tag : sentence.tags) {
      if (known.count(tag) == 0)
        throw LineError(file, sentence.line, "the model has no tag " + in_quotes(tag));
    }
  }
}

}  // namespace

void TrainCommand::add_options(CLI::App& app) {
  nlp::TrainCommand::add_options(app);
  app.get_option("--decay")->description(
      "What an epoch multiplies the learning rate by; for bible and text 0.6");
  app.get_option("--epochs")->description("Most epochs; for bible and text 4");
}

void TrainCommand::add_settings(Options& options) {
  options.add_of_data("--split", split,
                      "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  options.add_of_data("--format", format, kFormatHelp, kFormats);
  options.add_of_data("--column", column,
                      "Column of the tag: a number from 1, or a CoNLL-U name such as XPOS");
  options.add_file_of_data("--vectors", vectors_file,
                           "A file of word vectors that the feature word, or lower, begins with");
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add_text(
      "--features", features_text(m.features),
      "Views of a word that have vectors, with their sizes: word, lower, shape, "
      "prefixN, suffixN, as in word:128,suffix3:32; default word,suffix3,shape, for bible and text "
      "word:64",
      [&m](const std::string& views) { m.features = parse_features(views); });
  options.add("--hidden", m.hidden, "LSTM size in each direction; for bible and text 64",
              InRange(1, 4096));
  options.add("--layers", m.layers, "LSTM layers", InRange(1, 16));
  options.add("--mlp", m.mlp, "Size of a tanh layer before the tags, 0 for none", InRange(0, 4096));
  options.add_flag("--crf", m.crf,
                   "Score sequences of tags: a CRF, in which tags of spans follow one another as "
                   "they do in the training data");
  options.add("--dropout", m.dropout,
              "Dropout of what goes into and comes out of the LSTMs; for bible and text 0.2",
              InRange(0.0, 0.95));
  add_unknown(options, settings);
  add_updates(options, settings, "Sentences");
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  DataSettings& data = description.data;
  data = {format_from_name(format), column, parse_split(split, *this)};
  const auto parts = read_parts(*this, data.split, [&data](const TextSource& file) {
    ReadResult read = read_corpus(file, {data.format, data.column});
    data.format = read.format;  // dev and test have the format of the training data
    return std::move(read.corpus);
  });
  if (!init.empty())
    require_known_tags(parts.train, load_model<Model>(init)->description().tags, train);
  format = format_name(data.format);
  fill_in_defaults(*this);
  if (!vectors_file.empty() && !resume) begin_with_vectors(*this);
  tagger::train(*this, parts, std::cout);
}

void train(const TrainCommand& command, const Parts<Corpus>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace tagger
