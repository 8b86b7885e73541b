#include "examples/nlp/treelstm/commands.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/run_files.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/treelstm/model_file.h"

namespace treelstm {

using namespace nlp;

namespace {

std::string probabilities(const Prediction& prediction) {
  std::vector<std::string> texts;
  for (const float p : prediction.root) texts.push_back(fixed(static_cast<double>(p), 3));
  return join(texts, " ");
}

/// Trees of a readable length from all over the treebank.
void show_trees(Model& model, const Treebank& trees, std::size_t count, std::ostream& out) {
  const auto readable = [](const Tree& t) { return t.nodes.size() >= 15 && t.nodes.size() <= 59; };
  dynet::ComputationGraph graph;
  for (const std::size_t place : some_places(trees, count, readable)) {
    const Tree& tree = trees[place];
    const Prediction prediction = model.predict(graph, {&tree, 1})[0];
    std::size_t right = 0;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      right += prediction.labels[n] == tree.nodes[n].label;
    }
    out << '\n'
        << join(tree.words(), " ") << "\n  right:     " << kLabelNames[tree.root().label]
        << "\n  predicted: " << kLabelNames[prediction.labels.back()] << " ("
        << probabilities(prediction) << "), " << right << " of " << tree.nodes.size()
        << " nodes right\n";
  }
  out.flush();
}

/// How the lines to classify are written.
enum class Format { kAuto, kTrees, kText };

Format format_from_name(const std::string& name) {
  if (name == "auto") return Format::kAuto;
  if (name == "trees") return Format::kTrees;
  if (name == "text") return Format::kText;
  throw UserError("unknown format " + quoted(name) + ": expected auto, trees or text");
}

/// "(3", as trees begin and few sentences do.
bool begins_like_a_tree(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string_view::npos && at + 1 < line.size() && line[at] == '(' &&
         is_digit(line[at + 1]);
}

}  // namespace

void run_train(const TrainCommand& command) {
  prepare_run(command, kProgram);
  const auto data =
      read_parts(command, Split(), [](const std::string& path) { return read_trees(path); });
  train(command, data.train, data.dev, std::cout);
  report_run(command, data, *load_model(command.model, command.device), evaluate, std::cout);
}

void run_eval(const EvalCommand& command) {
  prepare_report(command, command.data);
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  const Treebank trees = read_trees(command.data);
  const Report report = evaluate(*model, trees, command.data);
  report.print(std::cout);
  if (command.confusion) report.print_confusion(std::cout);
  if (command.show > 0) show_trees(*model, trees, command.show, std::cout);
}

void run_classify(const ClassifyCommand& command) {
  const Format format = format_from_name(command.format);
  const Shape shape = shape_from_name(command.shape);
  OutputFile out({"--output", command.output}, files_read(command, {"--input", command.input}));
  const std::unique_ptr<Model> model = load_model(command.model, command.device);
  InputFile in(command.input);
  const std::string name = command.input == "-" ? "standard input" : command.input;
  dynet::ComputationGraph graph;
  std::string line;
  for (std::size_t number = 1; in.next(line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (is_blank(line)) {
      out.write("");
      continue;
    }
    const bool is_tree =
        format == Format::kTrees || (format == Format::kAuto && begins_like_a_tree(line));
    const Tree tree =
        is_tree ? parse_tree(line, name, number) : make_tree(plain_words(line), shape);
    const Prediction prediction = model->predict(graph, {&tree, 1})[0];
    const unsigned label = prediction.labels.back();
    out.write(std::to_string(label) + '\t' + kLabelNames[label] + '\t' + probabilities(prediction) +
              '\t' +
              (command.trees ? tree_text(tree, prediction.labels) : join(tree.words(), " ")));
  }
  out.finish();
}

}  // namespace treelstm
