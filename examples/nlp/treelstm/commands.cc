#include "examples/nlp/treelstm/commands.h"

#include <iostream>

#include "examples/nlp/common/model_command.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/score_options.h"
#include "examples/nlp/common/share_out.h"
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

/// Shows trees of moderate size, evenly spaced over the treebank.
void show_trees(Model& model, const Treebank& trees, std::size_t count, std::ostream& out) {
  const auto readable = [](const Tree& t) { return t.nodes.size() >= 15 && t.nodes.size() <= 59; };
  const Labels& labels = model.description().labels;
  dynet::ComputationGraph graph;
  for (const std::size_t place : some_places(trees, count, readable)) {
    const Tree& tree = trees[place];
    const Prediction prediction = model.predict(graph, {&tree, 1})[0];
    std::size_t right = 0;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      right += prediction.labels[n] == tree.nodes[n].label;
    }
    out << '\n'
        << join(tree.words(), " ") << "\n  right:     " << labels.name(tree.root().label)
        << "\n  predicted: " << labels.name(prediction.labels.back()) << " ("
        << probabilities(prediction) << "), " << right << " of " << tree.nodes.size()
        << " nodes right\n";
  }
  out.flush();
}

/// Formats of lines to classify.
enum class Format { kAuto, kTrees, kText };
const Names<Format> kFormats = {
    {Format::kAuto, "auto"}, {Format::kTrees, "trees"}, {Format::kText, "text"}};

/// True for lines that start like a tree, "(3" or "(good" with a label.
bool begins_like_a_tree(std::string_view line, const Labels& labels) {
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || at + 1 >= line.size() || line[at] != '(') return false;
  const std::string_view behind = line.substr(at + 1);
  return is_digit(behind[0]) || labels.find(behind.substr(0, behind.find_first_of(" \t()")));
}

/// JSON line with the contents of the columns, and with `trees` the tree.
Json json_of(const Tree& tree, const Prediction& prediction, const Labels& labels, bool trees) {
  Json probabilities = Json::object();
  for (unsigned label = 0; label < labels.size(); ++label) {
    probabilities[labels.name(label)] = static_cast<double>(prediction.root[label]);
  }
  const unsigned label = prediction.labels.back();
  Json line = {{"label", label},
               {"name", labels.name(label)},
               {"probabilities", probabilities},
               {"words", tree.words()}};
  if (trees) line["tree"] = tree_text(tree, prediction.labels, labels);
  return line;
}

class Eval : public EvalCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    EvalCommand::add_options(app);
    add_data(app, "Labelled trees");
    begin_group(app, kOutputOptions);
    scores_.add_labels(app, "labels");
    app.add_option("--show", show_, "Show so many sentences and their labels")
        ->transform(InRange(0, 1000000));
    scores_.add_json(app, {"--show"});
  }

 private:
  void evaluate(Model& model) override {
    const Treebank trees = read_trees(source(), model.description().labels);
    const Report report = treelstm::evaluate(model, trees, data_);
    print_scores(report, Model::kProgram, scores_, std::cout);
    if (show_ > 0) show_trees(model, trees, show_, std::cout);
  }

  ScoreOptions scores_;
  std::size_t show_ = 0;
};

class Classify : public LinesCommand<Model> {
 public:
  void add_options(CLI::App& app) override {
    LinesCommand::add_options(app);
    add_input(app, "One tree or sentence a line; labels of trees are read and ignored");
    app.add_option("--format", format_,
                   "trees, text, or auto: a line that begins with '(' and a label is a tree")
        ->check(named(kFormats));
    app.add_option("--shape", shape_,
                   "balanced, right or left: the tree that a plain sentence is given");
    add_output(app, "Where label, name, probabilities and words go");
    app.add_flag("--trees", trees_, "Print the tree with its labels instead of the words");
    app.add_flag("--json", json_, "Print a JSON object a line");
  }

 private:
  void write_lines(Model& model, OutputFile& out) override {
    const Format format = value_of(kFormats, format_, "format");
    const Shape shape = shape_from_name(shape_);
    InputFile in(source());
    PlainText plain;
    const Labels& labels = model.description().labels;
    const auto is_tree = [&](const std::string& line) {
      return format == Format::kTrees ||
             (format == Format::kAuto && begins_like_a_tree(line, labels));
    };
    const auto check = [&](const std::string& line) {
      if (format == Format::kAuto && !is_tree(line)) plain.check(line, in);
    };
    write_for_lines(model, in, out, check,
                    [&](Model& mine, dynet::ComputationGraph& graph, const std::string& line,
                        std::size_t number) {
                      if (is_blank(line))
                        return json_ ? json_line({{"words", Json::array()}}) : std::string();
                      const Tree tree = is_tree(line) ? parse_tree(line, in.name(), number, labels)
                                                      : make_tree(plain_words(line), shape);
                      require_readable((tree.nodes.size() + 1) / 2, number, in.name());
                      return text_of(tree, mine.predict(graph, {&tree, 1})[0], labels);
                    });
  }

  /// Output line of a tree.
  std::string text_of(const Tree& tree, const Prediction& prediction, const Labels& labels) const {
    if (json_) return json_line(json_of(tree, prediction, labels, trees_));
    const unsigned label = prediction.labels.back();
    return std::to_string(label) + '\t' + labels.name(label) + '\t' + probabilities(prediction) +
           '\t' + (trees_ ? tree_text(tree, prediction.labels, labels) : join(tree.words(), " "));
  }

  std::string format_ = "auto", shape_ = "balanced";
  bool trees_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> eval_command() { return std::make_unique<Eval>(); }
std::unique_ptr<Command> classify_command() { return std::make_unique<Classify>(); }

}  // namespace treelstm
