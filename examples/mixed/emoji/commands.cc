#include "examples/mixed/emoji/commands.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "examples/mixed/emoji/model.h"
#include "examples/mixed/emoji/sheet.h"
#include "examples/nlp/common/json.h"
#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"

namespace emoji {

using namespace nlp;

namespace {

const char* const kPartHelp =
    "all, train, dev or test: the part of the data that the model's --split made";
const char* const kInputsHelp = "What it may look at, of image,text,table";

void add_inputs(CLI::App& app, Inputs& inputs) {
  app.add_option_function<std::string>(
         "--inputs", [&inputs](const std::string& names) { inputs = Inputs::parse(names); },
         kInputsHelp)
      ->default_str("image,text,table");
}

/// Part with this name. Throws UserError if the model was trained without a split.
Part part_named(const std::string& part, const Description& d) {
  const Part wanted = part_from_name(part);
  if (wanted != Part::kAll && d.split.empty())
    throw UserError("--part " + part + " needs a model trained with --split");
  return wanted;
}

/// Label with its probability.
struct Best {
  std::string label;
  double probability;
};

Best best_of(const std::vector<float>& probabilities, const std::vector<std::string>& labels) {
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  return {labels[static_cast<std::size_t>(best - probabilities.begin())],
          static_cast<double>(*best)};
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Emoji with their groups, a JSON object a line");
    app.add_option("--part", part_, kPartHelp)->check(named(kParts));
    add_inputs(app, inputs_);
    begin_group(app, kOutputOptions);
    scores_.add_labels(app, "groups");
    scores_.add_json(app);
  }

 private:
  void evaluate(Model& model) override {
    const Description& d = model.description();
    const Part wanted = part_named(part_, d);
    const Corpus corpus = take_part(read_samples(source()), d.split, d.split_seed, wanted);
    if (corpus.empty())
      throw UserError("the " + part_ + " part of " + source().name() + " holds no emoji");
    model.report_unknown_labels(corpus, source().name());
    const Report report = emoji::evaluate(model, corpus, part_ == "all" ? data_ : part_, inputs_);
    print_scores(report, Model::kProgram, scores_, std::cout);
  }

  std::string part_ = "all";
  Inputs inputs_ = Inputs::all();
  ScoreOptions scores_;
};

class Predict : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "Emoji, a JSON object a line, with any of their parts");
    app.add_option("--part", part_, kPartHelp)->check(named(kParts));
    add_inputs(app, inputs_);
    add_output(app, "Where emoji, groups and subgroups go, with their probabilities");
    app.add_option("--sheet", sheet_,
                   "Draw a contact sheet as SVG in this file: wrong groups first, then right ones")
        ->type_name("FILE");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    std::optional<OutputFile> sheet;
    if (!sheet_.empty()) {
      std::vector<program::NamedFile> others = files_read(saved_, {"--input", input_});
      others.push_back({"--output", output_});
      sheet.emplace(program::NamedFile{"--sheet", sheet_}, others);
    }
    const Description& d = model.description();
    const Part wanted = part_named(part_, d);
    Corpus waiting;
    std::vector<Answer> answers;  // for the sheet
    const auto write = [&] {
      const Corpus samples = std::exchange(waiting, {});
      std::vector<Answer> found(samples.size());
      write_shared(model, (samples.size() + kSamplesPerGraph - 1) / kSamplesPerGraph, out,
                   [&](Model& mine, dynet::ComputationGraph& graph, std::size_t i) {
                     return lines_of(mine, graph, samples, i * kSamplesPerGraph, found);
                   });
      if (sheet) answers.insert(answers.end(), found.begin(), found.end());
    };
    InputFile in(source(), write);
    try {
      for (std::string line; in.next(line);) {
        if (is_blank(line)) continue;
        Sample sample = read_sample(line, in.name(), in.number(), emoji::Labels::kOptional);
        if (const std::string why = model.why_unreadable(sample); !why.empty())
          throw LineError(in.name(), in.number(), why);
        if (wanted != Part::kAll && part_of(sample, d.split, d.split_seed) != wanted) continue;
        waiting.push_back(std::move(sample));
        if (waiting.size() == kSamplesPerGraph * model.threads()) write();
      }
    } catch (const LineError&) {
      write();  // lines before the error
      throw;
    }
    write();
    if (!sheet) return;
    for (const std::string& line : sheet_lines(std::move(answers))) sheet->write(line);
    sheet->finish();
  }

  /// Output lines for the samples of one graph, starting with sample `begin`.
  std::vector<std::string> lines_of(Model& model, dynet::ComputationGraph& graph,
                                    const Corpus& corpus, std::size_t begin,
                                    std::vector<Answer>& answers) const {
    const auto samples =
        std::span(corpus).subspan(begin, std::min(kSamplesPerGraph, corpus.size() - begin));
    const auto predictions = model.predict(graph, samples, std::span(&inputs_, 1));
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Description& d = model.description();
      const Best group = best_of(predictions[i][0].groups, d.groups);
      const Best subgroup = best_of(predictions[i][0].subgroups, d.subgroups);
      const std::string& emoji = samples[i].emoji;
      answers[begin + i] = {emoji, samples[i].group, group.label};
      lines.push_back(json_ ? json_line({{"emoji", emoji},
                                         {"group", group.label},
                                         {"group probability", group.probability},
                                         {"subgroup", subgroup.label},
                                         {"subgroup probability", subgroup.probability}})
                            : join({emoji, group.label, fixed(group.probability, 3), subgroup.label,
                                    fixed(subgroup.probability, 3)},
                                   "\t"));
    }
    return lines;
  }

  std::string part_ = "all", sheet_;
  Inputs inputs_ = Inputs::all();
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> predict_command() { return std::make_unique<Predict>(); }

}  // namespace emoji
