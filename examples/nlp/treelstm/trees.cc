#include "examples/nlp/treelstm/trees.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text.h"

namespace treelstm {
namespace {

using nlp::in_quotes;

bool is_separator(char c) { return c == ' ' || c == '\t'; }
bool is_bracket(char c) { return c == '(' || c == ')'; }

/// Parses a label at a column, from 1, as a number; empty if it is invalid.
using LabelNumber = std::function<std::optional<unsigned>(std::string_view, std::size_t)>;

/// Parser of one line, with an explicit stack of open brackets.
class Parser {
 public:
  /// `expected` describes valid labels in errors.
  Parser(std::string_view line, const std::string& file, std::size_t line_number,
         const LabelNumber& label_number, const std::string& expected)
      : line_(line),
        file_(file),
        line_number_(line_number),
        label_number_(label_number),
        expected_label_(expected) {}

  Tree parse() {
    do {
      skip_separators();
      if (at_ == line_.size()) fail_at_end();
      if (line_[at_] == '(') {
        open();
      } else if (open_.empty()) {
        fail("expected '('", found());
      } else if (line_[at_] == ')') {
        close();
      } else {
        word();
      }
    } while (!open_.empty());
    skip_separators();
    if (at_ < line_.size()) fail("expected one tree a line", found() + " behind it");
    return std::move(tree_);
  }

 private:
  /// A node whose bracket is open.
  struct Open {
    Node node;
    bool has_word = false;
    bool is_full() const { return has_word || node.right != Node::kNone; }
  };

  void skip_separators() {
    while (at_ < line_.size() && is_separator(line_[at_])) ++at_;
  }

  /// Text up to the next separator or bracket.
  std::string_view piece() const {
    std::size_t end = at_;
    while (end < line_.size() && !is_separator(line_[end]) && !is_bracket(line_[end])) ++end;
    return line_.substr(at_, end - at_);
  }

  std::string found() const {
    if (at_ == line_.size()) return "found the end of the line";
    return "found " + in_quotes(is_bracket(line_[at_]) ? line_.substr(at_, 1) : piece());
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& instead) const {
    throw nlp::LineError(file_, line_number_,
                         expected + ", " + instead + " (column " + std::to_string(at_ + 1) + ")");
  }

  [[noreturn]] void fail_at_end() const {
    const std::size_t missing = open_.size();
    if (missing == 0) fail("expected a tree", found());
    fail(
        "expected " + std::to_string(missing) + (missing == 1 ? " more ')'" : " more ')' or trees"),
        found());
  }

  void open() {
    require_room("a tree");
    ++at_;
    skip_separators();
    const std::string_view text = piece();
    const std::optional<unsigned> label =
        text.empty() ? std::optional<unsigned>() : label_number_(text, at_ + 1);
    if (!label) fail("expected " + expected_label_ + " behind '('", found());
    at_ += text.size();
    open_.emplace_back();
    open_.back().node.label = *label;
  }

  void word() {
    const std::string_view text = piece();
    require_room("the word " + in_quotes(text));
    Open& top = open_.back();
    if (top.node.left != Node::kNone) {
      fail("expected a second tree or ')' behind the first tree", found());
    }
    top.node.word = std::string(text);
    top.has_word = true;
    at_ += text.size();
  }

  void close() {
    if (!open_.back().is_full()) {
      fail("expected a word or two trees before ')'",
           open_.back().node.left == Node::kNone ? "found nothing" : "found one tree");
    }
    ++at_;
    const std::size_t place = tree_.nodes.size();
    tree_.nodes.push_back(std::move(open_.back().node));
    open_.pop_back();
    if (open_.empty()) return;
    Node& parent = open_.back().node;
    (parent.left == Node::kNone ? parent.left : parent.right) = place;
  }

  /// Throws if the open node is complete.
  void require_room(const std::string& instead) const {
    if (open_.empty() || !open_.back().is_full()) return;
    fail(open_.back().has_word ? "expected ')' behind the word " + in_quotes(open_.back().node.word)
                               : "expected ')' behind the second tree",
         "found " + instead);
  }

  const std::string_view line_;
  const std::string& file_;
  const std::size_t line_number_;
  const LabelNumber& label_number_;
  const std::string& expected_label_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  Tree tree_;
};

const nlp::Names<Shape> kShapes = {
    {Shape::kBalanced, "balanced"}, {Shape::kRight, "right"}, {Shape::kLeft, "left"}};

/// `parse` converts a line and its number to a tree.
template <typename Parse>
Treebank parse_lines(const std::vector<std::string>& lines, const nlp::TextSource& source,
                     Parse parse) {
  const std::string name = source.name();
  Treebank trees;
  nlp::SampleReader reader(source, "tree");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (nlp::is_blank(lines[i])) continue;
    reader.read([&] {
      Tree tree = parse(lines[i], i + 1);
      nlp::require_readable((tree.nodes.size() + 1) / 2, i + 1, name);
      trees.push_back(std::move(tree));
    });
  }
  if (trees.empty()) throw nlp::UserError(name + " holds no tree");
  return trees;
}

}  // namespace

std::vector<std::string> Tree::words() const {
  std::vector<std::string> words;
  for (const Node& node : nodes) {
    if (node.is_leaf()) words.push_back(node.word);
  }
  return words;
}

Tree parse_tree(std::string_view line, const std::string& file, std::size_t line_number,
                const Labels& labels) {
  const LabelNumber find = [&](std::string_view text, std::size_t /*column*/) {
    return labels.find(text);
  };
  return Parser(line, file, line_number, find, labels.expected()).parse();
}

Treebank read_trees(const nlp::TextSource& source, const Labels& labels) {
  nlp::InputFile file(source);
  return read_trees(file.stream(), source, labels);
}

Treebank read_trees(std::istream& in, const nlp::TextSource& source, const Labels& labels) {
  const std::string name = source.name();
  return parse_lines(nlp::read_lines(in, source), source,
                     [&](const std::string& line, std::size_t number) {
                       return parse_tree(line, name, number, labels);
                     });
}

LabelledTrees read_trees_and_labels(const nlp::TextSource& source,
                                    const std::vector<std::string>& names) {
  const std::string name = source.name();
  LabelCollector collector(name);
  LabelledTrees read;
  const auto parse = [&](const std::string& line, std::size_t number) {
    const LabelNumber add = [&](std::string_view text, std::size_t column) {
      return collector.add(text, number, column);
    };
    const std::size_t before = collector.size();
    try {
      return Parser(line, name, number, add, "a label").parse();
    } catch (const nlp::LineError&) {
      collector.shrink(before);  // drops the labels of a malformed tree
      throw;
    }
  };
  read.trees = parse_lines(nlp::read_lines(source), source, parse);
  read.labels = collector.resolve(names);
  const std::vector<unsigned> numbers = collector.numbers(read.labels);
  for (Tree& tree : read.trees) {
    for (Node& node : tree.nodes) node.label = numbers[node.label];
  }
  return read;
}

std::string tree_text(const Tree& tree, const std::vector<unsigned>& numbers,
                      const Labels& labels) {
  // Stack of nodes to be written; kNone stands for a closing bracket.
  std::vector<std::size_t> rest = {tree.nodes.size() - 1};
  std::string text;
  while (!rest.empty()) {
    const std::size_t place = rest.back();
    rest.pop_back();
    if (place == Node::kNone) {
      text += ')';
      continue;
    }
    const Node& node = tree.nodes[place];
    if (!text.empty()) text += ' ';
    text += "(" + labels.written(numbers[place]);
    if (node.is_leaf()) {
      text += " " + node.word + ")";
    } else {
      rest.insert(rest.end(), {Node::kNone, node.right, node.left});
    }
  }
  return text;
}

Shape shape_from_name(const std::string& name) { return nlp::value_of(kShapes, name, "shape"); }

Tree make_tree(const std::vector<std::string>& words, Shape shape) {
  Tree tree;
  std::vector<std::size_t> row;  // roots of the trees to join
  const auto join = [&](std::size_t left, std::size_t right) {
    tree.nodes.push_back({0, left, right, ""});
    return tree.nodes.size() - 1;
  };
  for (const std::string& word : words) {
    tree.nodes.push_back({0, Node::kNone, Node::kNone, word});
    row.push_back(tree.nodes.size() - 1);
  }
  while (row.size() > 1) {
    std::vector<std::size_t> next;
    if (shape == Shape::kBalanced) {
      for (std::size_t i = 0; i + 1 < row.size(); i += 2) next.push_back(join(row[i], row[i + 1]));
      if (row.size() % 2 == 1) next.push_back(row.back());
    } else if (shape == Shape::kRight) {
      std::size_t joined = row.back();
      for (std::size_t i = row.size() - 1; i > 0; --i) joined = join(row[i - 1], joined);
      next = {joined};
    } else {
      std::size_t joined = row.front();
      for (std::size_t i = 1; i < row.size(); ++i) joined = join(joined, row[i]);
      next = {joined};
    }
    row = std::move(next);
  }
  return tree;
}

std::vector<std::string> plain_words(std::string_view line) {
  std::vector<std::string> words = nlp::split_words(line);
  for (std::string& word : words) {
    std::string written;
    for (const char c : word) {
      if (c == '(') {
        written += "-LRB-";
      } else if (c == ')') {
        written += "-RRB-";
      } else if (c == '/' && (written.empty() || written.back() != '\\')) {
        written += "\\/";
      } else {
        written += c;
      }
    }
    word = std::move(written);
  }
  return words;
}

std::size_t count_nodes(const Treebank& trees) {
  return std::accumulate(trees.begin(), trees.end(), std::size_t{0},
                         [](std::size_t sum, const Tree& tree) { return sum + tree.nodes.size(); });
}

std::size_t count_words(const Treebank& trees) { return (count_nodes(trees) + trees.size()) / 2; }

}  // namespace treelstm
