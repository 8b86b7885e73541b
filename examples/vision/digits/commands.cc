#include "examples/vision/digits/commands.h"

#include <algorithm>
#include <iostream>
#include <numeric>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/split.h"
#include "examples/vision/digits/drawing.h"
#include "examples/vision/digits/model.h"

namespace digits {

using namespace nlp;

namespace {

/// "7:0.981 1:0.019"
std::string probabilities(const Prediction& prediction, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return prediction.probabilities[a] > prediction.probabilities[b];
  });
  std::vector<std::string> texts;
  for (const std::size_t label : order) {
    texts.push_back(labels[label] + ":" +
                    fixed(static_cast<double>(prediction.probabilities[label]), 3));
  }
  return join(texts, " ");
}

Json json_of(const Prediction& prediction, const std::vector<std::string>& labels,
             const std::string& file) {
  Json probable = Json::object();
  for (std::size_t label = 0; label < labels.size(); ++label)
    probable[labels[label]] = static_cast<double>(prediction.probabilities[label]);
  return {{"label", labels[prediction.label]}, {"probabilities", probable}, {"file", file}};
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    begin_group(app, kDataOptions);
    app.add_option("--data,-d", data_,
                   "Labelled pictures: IMAGES:LABELS, a file of lines, or a folder")
        ->type_name("FILE")
        ->required();
    Options options(&app);
    options.begin_group(kDataOptions);
    options.add("--format", format_, "Of the pictures: auto, idx, semeion, optdigits or folder",
                kFormats, "format");
    app.add_option("--part", part_,
                   "all, train, dev or test: the part of the data that the model's --split made")
        ->check(named(kParts));
    begin_group(app, kOutputOptions);
    scores_.add_labels(app, "labels");
    app.add_option("--pictures", pictures_,
                   "A file in the format SVG for the filters and the confusion matrix")
        ->type_name("FILE");
    scores_.add_json(app);
  }

 private:
  void evaluate(Model& model) override {
    const auto read = [&](const TextSource& file) { return read_corpus(file.path, format_); };
    const Description& description = model.description();
    Corpus corpus = read_part(source(), part_, description.split, read);
    scale(corpus, description.height, description.width);
    model.report_unknown_labels(corpus, source().name());
    const Report report = digits::evaluate(model, corpus, part_ == "all" ? data_ : part_);
    if (!pictures_.empty()) {
      OutputFile out({"--pictures", pictures_}, files_read(saved_, {"--data", data_}));
      const dynet::Dim d = model.first_filters().dim();
      out.write(drawing(as_vector(model.first_filters().values()), d[0], d[1], report.labels));
      out.finish();
    }
    print_scores(report, Model::kProgram, scores_, std::cout);
  }

  std::string part_ = "all", pictures_;
  Format format_ = Format::kAuto;
  ScoreOptions scores_;
};

class Classify : public ModelCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    ModelCommand::add_options(app);
    begin_group(app, kDataOptions);
    app.add_option(
           "FILE", files_,
           std::string("Pictures in the format ") + (reads_png() ? "PNG, " : "") + "PGM or PPM")
        ->required();
    app.add_flag("--invert", invert_,
                 "White becomes black: for ink on paper, if the model learned light on dark");
    begin_group(app, kOutputOptions);
    app.add_option("--output,-o", output_, "Where label, probabilities and file go")
        ->type_name("FILE");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

  void run() override {
    std::vector<program::NamedFile> read = files_read(saved_, {"", files_[0]});
    for (const std::string& file : files_) read.push_back({"", file});
    OutputFile out({"--output", output_}, read);
    const std::unique_ptr<Model> model = load();
    write_shared(*model, files_.size(), out,
                 [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
                   return std::vector{line_of(mine, graph, files_[i])};
                 });
    out.finish();
  }

 private:
  std::string line_of(Model& model, dynet::ComputationGraph& graph, const std::string& file) const {
    const Description& description = model.description();
    Picture picture = read_picture(file);
    if (invert_) picture = inverted(std::move(picture));
    const Pixels pixels = encode(scaled(picture, description.height, description.width));
    const Prediction prediction = model.predict(graph, {&pixels, 1})[0];
    if (json_) return json_line(json_of(prediction, description.labels, file));
    return description.labels[prediction.label] + '\t' +
           probabilities(prediction, description.labels) + '\t' + file;
  }

  std::vector<std::string> files_;
  std::string output_ = "-";
  bool invert_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> classify_command() { return std::make_unique<Classify>(); }

}  // namespace digits
