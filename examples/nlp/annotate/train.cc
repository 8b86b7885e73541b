#include "examples/nlp/annotate/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace annotate {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Treebank& treebank) {
  Fingerprint fingerprint;
  for (const conllu::Sentence& rows : treebank.rows) {
    for (const std::string& line : rows.lines()) fingerprint.add(line);
    fingerprint.add("");
  }
  return fingerprint.value();
}

/// Sentences below which a treebank is small: training takes twice as many epochs.
constexpr std::size_t kSmall = 2000;

const Names<Stage> kStages = {{Stage::kAll, "all"},
                              {Stage::kSegmenter, "segmenter"},
                              {Stage::kTagger, "tagger"},
                              {Stage::kParser, "parser"}};

class Training : public ModelTraining<Model, TrainCommand, Treebank, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Treebank>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          Description chosen = command.description;
          if (chosen.treebank.empty())
            chosen.treebank = std::filesystem::path(command.train).filename().string();
          Description now = describe(chosen, data.train, command.vectors);
          if (!command.old) return now;
          return with_stage(command.old->description(), now, command.settings.stage);
        }) {
    if (command.old) model_.copy_except(*command.old, settings_.stage);
    model_.train_only(settings_.stage);
    const Description& description = model_.description();
    warn_if_single("tag", description.classes[kUpos], command.train);
    warn_of_unknown("words", 0, [&](const Sentence& s) { return model_.encode(s.words).words; });
    std::vector<std::size_t> counts(description.words.size());
    for (const Sentence& sentence : data.train.sentences) {
      add_sample(sentence.size());
      examples_.push_back(model_.encode(sentence));
      for (const unsigned word : examples_.back().words) ++counts[word];
    }
    // Other words than those of the training data come last.
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](auto n) { return n > 0; });
    if (!command.vectors.words.empty())
      model_.use(command.vectors, static_cast<std::size_t>(counts.rend() - last), std::cout);
    for (const std::size_t count : counts)
      hide_.push_back(std::max(static_cast<double>(settings_.hide),
                               hiding_probability(settings_.unknown, count)));
  }

 private:
  /// Learns from a few sentences and from their text, all in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (std::size_t i = 0; i < update.samples.size(); ++i) {
      const std::size_t sample = update.samples[i];
      Random random = draws(update, i);
      Encoded seen = examples_[sample];
      for (unsigned& word : seen.words)
        if (random.uniform() < hide_[word]) word = 0;
      losses.push_back(model.loss(seen, settings_.stage));
      if (settings_.stage == Stage::kAll || settings_.stage == Stage::kSegmenter)
        add_segmentation_losses(model, data_.train.places[sample], random, losses);
    }
    return learn_from(graph, losses, update);
  }

  /// Letters of a text from which the segmenter learns at a time.
  static constexpr std::size_t kWindow = 128;

  /// Adds losses of the segmenter on windows that have some of a sentence's letters, all of them
  /// equally often; a long sentence has several.
  void add_segmentation_losses(Model& model, const Treebank::Place& place, Random& random,
                               std::vector<dynet::Expression>& losses) const {
    const Paragraph& paragraph = data_.train.paragraphs[place.paragraph];
    const Tokens& sentence = paragraph.sentences[place.sentence];
    const std::size_t first = sentence.front().begin, last = sentence.back().end;
    for (std::size_t begin = first; begin < last; begin += kWindow) {
      const std::size_t end = first + 1 + random.below(last - first + kWindow - 1);
      losses.push_back(model.segmenter().loss(paragraph, end < kWindow ? 0 : end - kWindow,
                                              std::min(end, paragraph.letters.size())));
    }
  }

  std::string unit() const override { return "words"; }

  /// Averages over about an epoch, at most a thousand updates.
  float average() const override {
    const auto updates = std::clamp<std::uint64_t>(updates_done(1), 2, 1000);
    return 1 - 1 / static_cast<float>(updates);
  }

  double decisive(const Report& report) const override {
    const Conll18Scores& scores = report.scores;
    if (settings_.stage == Stage::kSegmenter) return scores.words.f1() + scores.sentences.f1();
    const bool has_trees =
        settings_.stage != Stage::kTagger && !model_.description().labels.empty();
    return has_trees ? scores.las.f1() : scores.upos.f1() + scores.lemmas.f1();
  }

  std::vector<std::string> labels() const override { return model_.description().labels; }

  std::string dev_text(const Report& report) const override {
    const Conll18Scores& s = report.scores;
    std::string text = "dev";
    for (const auto& [name, items] : {std::pair("sentences", &s.sentences),
                                      {"words", &s.words},
                                      {"UPOS", &s.upos},
                                      {"XPOS", &s.xpos},
                                      {"feats", &s.ufeats},
                                      {"lemmas", &s.lemmas},
                                      {"LAS", &s.las}})
      text += (text == "dev" ? " " : ", ") + std::string(name) + " " + percent(items->f1());
    return text;
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Treebank& treebank) {
      const std::size_t paragraphs = treebank.paragraphs.size();
      out << name << ": " << with_commas(treebank.sentences.size()) << " sentences, "
          << with_commas(paragraphs) << (paragraphs == 1 ? " paragraph, " : " paragraphs, ")
          << with_commas(treebank.words()) << " words\n";
    };
    line("train", data_.train);
    if (has_dev()) line("dev", data_.dev);
    const Description& d = model_.description();
    out << "model: " << with_commas(d.words.size()) << " words, " << d.characters.size()
        << " characters, " << d.classes[kUpos].size() << " UPOS, " << d.classes[kXpos].size()
        << " XPOS, " << d.classes[kFeats].size() << " FEATS, " << d.classes[kLemma].size()
        << " rules of lemmas, " << d.segmenter.scripts.size() << " of multiword tokens, "
        << d.labels.size() << " labels, " << (d.crossing ? "all trees, " : "projective trees, ")
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<Encoded> examples_;
  std::vector<double> hide_;  ///< probability per word
};

}  // namespace

void TrainSettings::check() const {
  nlp::TrainSettings::check();
  require_number("share of hidden words", static_cast<double>(hide), 0, 0.95);
  require(stage <= Stage::kParser, "it does not know the stage that it trains");
}

TrainCommand::TrainCommand()
    : nlp::TrainCommand("A treebank to learn from, in CoNLL-U", "Sentences") {
  settings.batch = 16;
  settings.decay = 0.93f;
  settings.parts = 2;
  limits.epochs = 30;
  limits.patience = 5;
}

void TrainCommand::add_options(CLI::App& app) {
  nlp::TrainCommand::add_options(app);
  app.get_option("--batch")->description(
      "Sentences per update; else one for each 500 of the treebank, from 2 to 16");
  app.get_option("--epochs")
      ->description(app.get_option("--epochs")->get_description() +
                    "; twice as many for less than 2,000 sentences");
}

void TrainCommand::add_settings(Options& options) {
  options.begin_group(kDataOptions);
  options.add_of_data(
      "--name", description.treebank,
      "Name of the treebank and its release, which annotations say; else that of the "
      "file");
  options.add_file_of_data("--vectors", vectors_file,
                           "A file of word vectors to begin with; they say the size of --word");
  options.add("--only", settings.stage, "Train one stage alone: segmenter, tagger or parser",
              kStages, "stage");
  options.add_file_of_data("--from", from,
                           "A model that has learned: all but the stage of --only, which begins "
                           "at random, stays as it is");
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  SegmenterDescription& s = description.segmenter;
  const InRange size(1, 4096), rate(0.0, 0.95);
  options.add("--letter", s.letter, "Size of the letters' vectors, for cutting text", size);
  options.add("--letter-hidden", s.hidden, "LSTM size in each direction, for cutting text", size);
  options.add("--word", m.word, "Size of the words' vectors", size);
  options.add("--char", m.character, "Size of a vector made of a word's letters", size);
  options.add("--hidden", m.hidden, "Size in each direction of the LSTM that all share", size);
  options.add("--layers", m.layers, "Its layers", InRange(1, 16));
  options.add("--tree-hidden", m.tree_hidden, "LSTM size in each direction, for trees", size);
  options.add("--tree-layers", m.tree_layers, "Its layers", InRange(1, 16));
  options.add("--mlp", m.mlp, "Size of the layer before lemmas", size);
  options.add("--arc", m.arc, "Size of what decides about an arc", size);
  options.add("--label", m.label, "Size of what decides about its label", size);
  options.add("--dropout", m.dropout, "Dropout of what goes into each layer and comes out", rate);
  options.add("--letter-dropout", s.dropout, "The same, for cutting text", rate);
  options.add("--hide", settings.hide,
              "Hide every word with this probability at least: its letters remain", rate);
  add_unknown(options, settings);
  add_updates(options, settings, "Sentences");
}

void TrainCommand::run() {
  if (description.treebank.find('\n') != std::string::npos)
    throw UserError("--name has several lines");
  if (!vectors_file.empty() && !init.empty())
    throw UserError("--vectors is for new models, and --init names one that has learned");
  if (!from.empty() && (settings.stage == Stage::kAll || !init.empty() || !vectors_file.empty()))
    throw UserError("--from needs --only, and goes with neither --init nor --vectors");
  prepare_run(*this, Model::kProgram);
  if (!from.empty() && !resume) old = load_model<Model>(from, device);
  if (!vectors_file.empty() && !resume) {
    vectors = read_vectors(vectors_file);
    description.settings.word = vectors.size;
  }
  const auto read = [&](const std::string& path) {
    return path.empty() ? Treebank() : read_treebank({path, text});
  };
  const Parts<Treebank> data = {read(train), read(dev), read(test)};
  const bool has_trees = std::any_of(data.train.begin(), data.train.end(),
                                     [](const Sentence& s) { return !s.heads.empty(); });
  if (settings.stage == Stage::kParser && !has_trees)
    throw UserError(train + " has no trees, which --only parser learns from");
  if (settings.stage != Stage::kAll && from.empty() && !resume)
    warn(std::string("without --from all but the ") + name_of(kStages, settings.stage) +
         " stays at random");
  // A small treebank needs as many updates as a large one.
  const std::size_t sentences = data.train.sentences.size();
  if (!was_given("--batch"))
    settings.batch = static_cast<unsigned>(std::clamp<std::size_t>(sentences / 500, 2, 16));
  if (sentences < kSmall) {
    if (!was_given("--epochs")) limits.epochs *= 2;
    if (!was_given("--patience")) limits.patience *= 2;
    if (!was_given("--decay")) settings.decay = std::sqrt(settings.decay);
  }
  annotate::train(*this, data, std::cout);
}

void train(const TrainCommand& command, const Parts<Treebank>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace annotate
