#include "examples/mixed/emoji/train.h"

#include <algorithm>
#include <iostream>
#include <limits>

#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/text.h"

namespace emoji {

using namespace nlp;

namespace {

const char* const kUsualSplit = "70/10/20";
constexpr int kLargestShift = 2;  ///< shift of pictures, in points

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Sample& sample : corpus) fingerprint.add(line_of(sample));
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of,
                      [&] { return describe(command.description, data.train, command.train); }) {
    model_.report_unknown_labels(data.dev, command.dev.empty() ? command.train : command.dev);
    const Description& d = model_.description();
    if (d.subgroups.size() > 1)
      warn_if_single("group", d.groups, command.train);
    else
      warn_if_single("subgroup", d.subgroups, command.train);
    const auto says_nothing = [&](const Sample& sample) {
      return Inputs::of(sample).both(d.settings.inputs).empty();
    };
    if (std::all_of(data.train.begin(), data.train.end(), says_nothing))
      warn("no emoji of " + command.train + " has any of " + d.settings.inputs.names() +
           ": there is nothing to tell it by");
    warn_of_unknown("words", 0, [&](const Sample& sample) { return model_.encode(sample).words; });
    std::vector<std::size_t> counts(d.words.size());
    for (const Sample& sample : data.train) {
      add_sample(1);
      labels_.push_back(
          {model_.group_number(sample.group), model_.subgroup_number(sample.subgroup)});
      for (const unsigned word : model_.encode(sample).words) ++counts[word];
    }
    for (const std::size_t count : counts)
      hide_.push_back(hiding_probability(settings_.unknown, count));
  }

 private:
  struct Labels {
    unsigned group, subgroup;
  };

  /// Learns from a few samples with any inputs, in one graph.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    std::vector<dynet::Expression> losses;
    for (const std::size_t i : update.samples) {
      Random random = draws(update, losses.size());
      Model::Encoded seen = model.encode(data_.train[i], some_shift(random));
      for (unsigned& word : seen.words) {
        if (random.uniform() < hide_[word]) word = 0;
      }
      const Inputs inputs = some_inputs(data_.train[i], random);
      losses.push_back(model.loss(graph, seen, inputs, labels_[i].group, labels_[i].subgroup));
    }
    return learn_from(graph, losses, update);
  }

  static Shift some_shift(Random& random) {
    const auto draw = [&] {
      return static_cast<int>(random.below(2 * kLargestShift + 1)) - kLargestShift;
    };
    Shift shift;
    shift.right = draw();
    shift.down = draw();
    shift.mirrored = random.below(2) == 1;
    return shift;
  }

  /// Inputs of the sample after dropping some at random; at least one remains.
  Inputs some_inputs(const Sample& sample, Random& random) const {
    const ModelSettings& s = model_.description().settings;
    const Inputs there = Inputs::of(sample).both(s.inputs);
    Inputs left = there;
    std::vector<Input> names;
    for (const Input input : kAllInputs) {
      if (!there.has(input)) continue;
      names.push_back(input);
      if (random.uniform() < static_cast<double>(s.drop_parts)) left = left.without(input);
    }
    return left.empty() && !names.empty() ? left.with(names[random.below(names.size())]) : left;
  }

  std::string unit() const override { return "emoji"; }

  double decisive(const Report& report) const override { return report.decisive(); }

  std::vector<std::string> labels() const override { return model_.description().groups; }

  std::string dev_text(const Report& report) const override {
    return "dev groups " + percent(report.whole().group.value()) + ", subgroups " +
           percent(report.whole().subgroup.value());
  }

  void print_run(std::ostream& out) const override {
    const auto line = [&](const char* name, const Corpus& corpus) {
      if (corpus.empty()) return;
      std::size_t counts[kAllInputs.size()] = {};
      for (const Sample& sample : corpus) {
        for (const Input input : kAllInputs)
          counts[static_cast<std::size_t>(input)] += Inputs::of(sample).has(input) ? 1 : 0;
      }
      out << name << ": " << with_commas(corpus.size()) << " emoji, " << with_commas(counts[0])
          << " with a picture, " << with_commas(counts[1]) << " with words, "
          << with_commas(counts[2]) << " with a row\n";
    };
    line("train", data_.train);
    line("dev", data_.dev);
    line("test", data_.test);
    const Description& d = model_.description();
    out << "model: " << d.settings.inputs.names() << "; " << with_commas(d.words.size())
        << " words, " << d.columns.size() << " columns, " << d.groups.size() << " groups, "
        << d.subgroups.size() << " subgroups, "
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<Labels> labels_;  ///< by sample
  std::vector<double> hide_;    ///< probability per word
};

/// Throws LineError for a label that the model to continue from does not have.
void require_known_labels(const Corpus& corpus, const Description& known, const std::string& file) {
  const auto require = [&](const std::vector<std::string>& labels, const std::string& label,
                           const Sample& sample) {
    if (!std::binary_search(labels.begin(), labels.end(), label))
      throw LineError(file, sample.line, "the model does not know " + in_quotes(label));
  };
  for (const Sample& sample : corpus) {
    require(known.groups, sample.group, sample);
    require(known.subgroups, sample.subgroup, sample);
  }
}

Parts<Corpus> read_data(const RunOptions& run, const Description& d) {
  const auto read = [&](const std::string& file) {
    return file.empty() ? Corpus() : read_samples({file, run.text});
  };
  if (d.split.empty()) return {read(run.train), read(run.dev), read(run.test)};
  const Corpus all = read(run.train);
  const auto part = [&](Part which) { return take_part(all, d.split, d.split_seed, which); };
  Parts<Corpus> parts = {part(Part::kTrain), part(Part::kDev), part(Part::kTest)};
  if (parts.train.empty()) throw UserError(run.train + " is too short to be split");
  warn_of_empty_parts(parts, d.split, run.train);
  return parts;
}

}  // namespace

TrainCommand::TrainCommand()
    : nlp::TrainCommand("Emoji to learn from, a JSON object a line", "Emoji") {
  settings.batch = 32;
  settings.learning_rate = 0.003f;
  settings.decay = 0.95f;
  settings.clip = 20;
  settings.unknown = 1.0f;
  limits.epochs = 50;
  limits.patience = 15;
}

void TrainCommand::add_settings(Options& options) {
  options.add_of_data("--split", split,
                      "Cut the training data by families in train/dev/test; without --dev and "
                      "--test 70/10/20");
  options.add_of_data("--split-seed", split_seed, "Which families go where: a whole number");
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  options.add_text("--inputs", m.inputs.names(), "What it looks at, of image,text,table",
                   [&m](const std::string& names) { m.inputs = Inputs::parse(names); });
  options.add("--filters", m.filters, "Filters of the first convolution; the next have more",
              InRange(1, 1024));
  options.add("--word", m.word, "Size of the words' vectors", InRange(1, 4096));
  options.add("--hidden", m.hidden, "Size of the vector that the parts add up to",
              InRange(2, 4096));
  options.add("--dropout", m.dropout, "Dropout of the words' mean and before the labels",
              InRange(0.0, 0.95));
  options.add("--drop-parts", m.drop_parts, "How likely a part of a sample is not looked at",
              InRange(0.0, 0.95));
  add_unknown(options, settings);
  add_updates(options, settings, "Emoji");
}

void TrainCommand::run() {
  prepare_run(*this, Model::kProgram);
  const bool usual = split.empty() && dev.empty() && test.empty();
  description.split = parse_split(usual ? kUsualSplit : split, *this);
  description.split_seed = parse_number(split_seed, "--split-seed", 1000000000);
  const Parts<Corpus> data = read_data(*this, description);
  if (!init.empty())
    require_known_labels(data.train, load_model<Model>(init)->description(), train);
  Training(*this, data).run(std::cout);
}

}  // namespace emoji
