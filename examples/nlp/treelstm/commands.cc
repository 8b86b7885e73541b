#include "examples/nlp/treelstm/commands.h"

#include <iostream>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/treelstm/model.h"

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
const Names<Format> kFormats = {
    {Format::kAuto, "auto"}, {Format::kTrees, "trees"}, {Format::kText, "text"}};

/// "(3", as trees begin and few sentences do.
bool begins_like_a_tree(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string_view::npos && at + 1 < line.size() && line[at] == '(' &&
         is_digit(line[at + 1]);
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Labelled trees");
    begin_group(app, kOutputOptions);
    app.add_flag("--confusion", confusion_, "Show which labels it takes for which");
    app.add_option("--show", show_, "Show so many sentences and their labels")
        ->transform(InRange(0, 1000000));
  }

 private:
  void evaluate(Model& model) override {
    const Treebank trees = read_trees(source());
    const Report report = treelstm::evaluate(model, trees, data_);
    report.print(std::cout);
    if (confusion_) report.print_confusion(std::cout);
    if (show_ > 0) show_trees(model, trees, show_, std::cout);
  }

  bool confusion_ = false;
  std::size_t show_ = 0;
};

class Classify : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "One tree or sentence a line; labels of trees are read and ignored");
    app.add_option("--format", format_,
                   "trees, text, or auto: a line that begins like '(3' is a tree");
    app.add_option("--shape", shape_,
                   "balanced, right or left: the tree that a plain sentence is given");
    add_output(app, "Where label, name, probabilities and words go");
    app.add_flag("--trees", trees_, "Print the tree with its labels instead of the words");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const Format format = value_of(kFormats, format_, "format");
    const Shape shape = shape_from_name(shape_);
    InputFile in(source());
    PlainText plain;
    dynet::ComputationGraph graph;
    for (std::string line; in.next(line);) {
      if (is_blank(line)) {
        out.write("");
        continue;
      }
      const bool is_tree =
          format == Format::kTrees || (format == Format::kAuto && begins_like_a_tree(line));
      if (!is_tree && format == Format::kAuto) plain.check(line, in);
      const Tree tree =
          is_tree ? parse_tree(line, in.name(), in.number()) : make_tree(plain_words(line), shape);
      require_readable((tree.nodes.size() + 1) / 2, in.number(), in.name());
      const Prediction prediction = model.predict(graph, {&tree, 1})[0];
      const unsigned label = prediction.labels.back();
      out.write(std::to_string(label) + '\t' + kLabelNames[label] + '\t' +
                probabilities(prediction) + '\t' +
                (trees_ ? tree_text(tree, prediction.labels) : join(tree.words(), " ")));
    }
  }

  std::string format_ = "auto", shape_ = "balanced";
  bool trees_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> classify_command() { return std::make_unique<Classify>(); }

}  // namespace treelstm
