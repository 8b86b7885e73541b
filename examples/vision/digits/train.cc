#include "examples/vision/digits/train.h"

#include <algorithm>
#include <iostream>
#include <string_view>

#include "examples/nlp/common/model_training.h"
#include "examples/nlp/common/progress.h"
#include "examples/nlp/common/run_files.h"

namespace digits {

using namespace nlp;

namespace {

std::uint64_t fingerprint_of(const Corpus& corpus) {
  Fingerprint fingerprint;
  for (const Sample& sample : corpus) {
    fingerprint.add(sample.label);
    const auto& pixels = sample.picture.pixels;
    fingerprint.add(std::string(pixels.begin(), pixels.end()));
  }
  return fingerprint.value();
}

class Training : public ModelTraining<Model, TrainCommand, Corpus, Report> {
 public:
  Training(const TrainCommand& command, const Parts<Corpus>& data)
      : ModelTraining(command, data, fingerprint_of, [&] {
          return describe(command.description.split, command.description.settings, data.train);
        }) {
    model_.report_unknown_labels(data.dev, command.dev);
    const auto is_the_first = [&](const Sample& sample) {
      return sample.picture.pixels == data.train[0].picture.pixels;
    };
    if (std::all_of(data.train.begin(), data.train.end(), is_the_first))
      warn("all pictures of " + command.train + " are the same: there is nothing to tell apart");
    const Description& d = model_.description();
    if (d.settings.shift >= std::min(d.height, d.width))
      warn("--shift " + std::to_string(d.settings.shift) + " moves pictures of " +
           size_text(d.height, d.width) + " out of sight");
    for (const Sample& sample : data.train) {
      add_sample(1);
      pictures_.push_back(encode(sample.picture));
      labels_.push_back(model_.label_number(sample.label));
    }
  }

 private:
  /// Learns from a batch of pictures, each shifted and possibly mirrored.
  double learn(Model& model, dynet::ComputationGraph& graph, const Update& update) const override {
    graph.clear();
    graph.set_seed(dropout_seed(update));
    model.begin_graph(graph, true);
    const Description& d = model.description();
    std::vector<Pixels> pictures;
    std::vector<unsigned> labels;
    for (const std::size_t i : update.samples) {
      Random random = draws(update, pictures.size());
      const auto move = [&] {
        const int most = static_cast<int>(d.settings.shift);
        return static_cast<int>(random.below(2 * d.settings.shift + 1)) - most;
      };
      const int down = move(), right = move();
      const bool mirrored = d.settings.mirror && random.uniform() < 0.5;
      pictures.push_back(varied(pictures_[i], d.height, d.width, down, right, mirrored));
      labels.push_back(labels_[i]);
    }
    return learn_from(graph, {model.loss(graph, pictures, labels)}, update);
  }

  std::string unit() const override { return "pictures"; }

  double decisive(const Report& report) const override { return report.decisive(); }

  std::vector<std::string> labels() const override { return model_.description().labels; }

  std::string dev_text(const Report& report) const override {
    return "dev accuracy " + percent(report.model.value());
  }

  void print_run(std::ostream& out) const override {
    const Description& d = model_.description();
    out << "train: " << with_commas(data_.train.size()) << " pictures of "
        << size_text(d.height, d.width) << ", " << with_commas(d.labels.size()) << " labels\n";
    if (has_dev()) out << "dev: " << with_commas(data_.dev.size()) << " pictures\n";
    out << "model: ten convolutions of " << d.settings.channels << " and "
        << 2 * d.settings.channels << " channels, "
        << with_commas(model_.parameters().parameter_count()) << " weights" << std::endl;
  }

  std::vector<Pixels> pictures_;
  std::vector<unsigned> labels_;
};

/// Throws for a label that the model to continue from does not have.
void require_known_labels(const Corpus& corpus, const std::vector<std::string>& labels,
                          const std::string& file) {
  for (const Sample& sample : corpus) {
    if (std::find(labels.begin(), labels.end(), sample.label) == labels.end())
      throw UserError(file + ": the model has no label " + in_quotes(sample.label));
  }
}

void require_labels(const Corpus& corpus, const std::string& file) {
  const std::vector<std::string> labels = labels_of(corpus);
  if (labels.size() < 2) {
    throw UserError(file + " has no label but " + in_quotes(labels[0]) +
                    ": there is nothing to tell apart");
  }
}

}  // namespace

void parse_size(const std::string& text, unsigned& height, unsigned& width) {
  const std::vector<std::string> fields = split_fields(text, 'x');
  if (fields.size() != 2)
    throw UserError("expected a --size such as 28x28, rows and columns, found " + in_quotes(text));
  const auto number = [](const std::string& field) {
    const std::size_t size = parse_number(field, "each part of --size", kLargestSide);
    if (size == 0) throw UserError("the parts of --size must not be 0");
    return static_cast<unsigned>(size);
  };
  const unsigned rows = number(fields[0]), columns = number(fields[1]);
  height = rows, width = columns;
}

TrainCommand::TrainCommand()
    : nlp::TrainCommand("Pictures to learn from: IMAGES:LABELS, a file of lines, or a folder",
                        "Labelled pictures") {
  settings.batch = 64;
  settings.learning_rate = 0.004f;
}

void TrainCommand::add_options(CLI::App& app) {
  nlp::TrainCommand::add_options(app);
  for (const char* of_texts : {"--encoding", "--skip-bad"})
    app.remove_option(app.get_option(of_texts));
  begin_group(app, kDataOptions);
  CLI::Option* const cross =
      app.add_option("--folds", folds,
                     "Train so many models, each without one part of the data, and score it on "
                     "that part; MODEL.1, MODEL.2 ... are the files")
          ->transform(InRange(2, 1000));
  for (const char* other : {"--dev", "--test", "--split", "--resume", "--report"})
    cross->excludes(app.get_option(other));
}

void TrainCommand::add_settings(Options& options) {
  options.begin_group(kDataOptions);
  options.add("--format", format, "Of the pictures: auto, idx, semeion, optdigits or folder",
              kFormats, "format");
  options.add_of_data("--split", split,
                      "Cut the training data in three instead, say 90/5/5 for train/dev/test");
  options.begin_group(kModelOptions);
  ModelSettings& m = description.settings;
  unsigned &height = description.height, &width = description.width;
  options.add_text("--size", height == 0 ? "" : size_text(height, width),
                   "Scale all pictures to this size, say 28x28; that of the first one by itself",
                   [&height, &width](const std::string& size) { parse_size(size, height, width); });
  options.add("--channels", m.channels,
              "Of the first convolutions; the last ones have twice as many", InRange(1, 1024));
  options.add("--dropout", m.dropout, "Dropout before the labels", InRange(0.0, 0.95));
  options.add("--shift", m.shift, "Move pictures by up to so many pixels in training",
              InRange(0, 64));
  options.add_flag("--mirror", m.mirror, "Mirror half of the pictures in training: not for digits");
  add_updates(options, settings, "Pictures");
}

void TrainCommand::run() {
  if (folds == 0) prepare_run(*this, Model::kProgram);
  description.split = nlp::parse_split(split, *this);
  const auto read = [&](const TextSource& file) { return read_corpus(file.path, format); };
  Parts<Corpus> data = read_parts(*this, description.split, read);
  require_labels(data.train, train);
  unsigned height = description.height, width = description.width;
  const auto take_size = [&](const Description& saved) {
    if (was_given("--size")) return;  // compared later
    height = saved.height, width = saved.width;
  };
  if (resume)
    take_size(load_checkpoint<Checkpoint<Model, TrainSettings>>(checkpoint()).model->description());
  if (!init.empty()) {
    const Description saved = load_model<Model>(init)->description();
    take_size(saved);
    require_known_labels(data.train, saved.labels, train);
  }
  if (height == 0) {
    height = data.train[0].picture.height, width = data.train[0].picture.width;
    if (std::max(height, width) > kLargestSide) {
      throw UserError(train + " begins with a picture of " + size_text(height, width) +
                      ": --size says what to scale it to");
    }
  }
  for (Corpus* part : {&data.train, &data.dev, &data.test}) scale(*part, height, width);
  if (folds > 0) return train_folds(data.train);
  digits::train(*this, data, std::cout);
}

void TrainCommand::train_folds(const Corpus& all) const {
  if (all.size() < folds) {
    throw UserError(train + " has " + std::to_string(all.size()) + " pictures, too few for " +
                    std::to_string(folds) + " folds");
  }
  const auto command_of = [&](unsigned fold) {
    TrainCommand command = *this;
    command.model += "." + std::to_string(fold + 1);
    return command;
  };
  for (unsigned fold = 0; fold < folds; ++fold) prepare_run(command_of(fold), Model::kProgram);
  const std::vector<unsigned> parts = folds_of(all.size(), folds, settings.seed);
  Report all_folds{"all folds", {}, {}, 0, 0};
  for (unsigned fold = 0; fold < folds; ++fold) {
    std::cout << "fold " << fold + 1 << " of " << folds << std::endl;
    Parts<Corpus> data;
    for (std::size_t i = 0; i < all.size(); ++i)
      (parts[i] == fold ? data.test : data.train).push_back(all[i]);
    const TrainCommand command = command_of(fold);
    require_labels(data.train, train);
    digits::train(command, data, std::cout);
    const auto best = load_model<Model>(command.model, device);
    const Report scored = evaluate(*best, data.test, "test");
    for (auto [sum, part] : {std::pair{&all_folds.model, &scored.model},
                             std::pair{&all_folds.baseline, &scored.baseline}}) {
      sum->right += part->right;
      sum->total += part->total;
    }
    all_folds.unknown += scored.unknown;
  }
  all_folds.print(std::cout);
  std::cout.flush();
}

void train(const TrainCommand& command, const Parts<Corpus>& data, std::ostream& out) {
  Training(command, data).run(out);
}

}  // namespace digits
