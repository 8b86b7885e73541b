#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/text_input.h"
#include "examples/nlp/treelstm/labels.h"

namespace treelstm {

/// A leaf with a word, or an inner node with two children.
struct Node {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  unsigned label = 0;        ///< label number
  std::size_t left = kNone;  ///< indices in the list of nodes; kNone for a leaf
  std::size_t right = kNone;
  std::string word;  ///< of a leaf

  bool is_leaf() const { return left == kNone; }
};

/// Binary tree over a sentence. Children precede their parents, and leaves are in sentence order.
/// The last node is the root; trees are never empty.
struct Tree {
  std::vector<Node> nodes;

  const Node& root() const { return nodes.back(); }
  std::vector<std::string> words() const;
};

using Treebank = std::vector<Tree>;

/// Parses a tree in the notation of SST: `(label left right)` or `(label word)`, separated by
/// spaces or tabs; a word is any text without these and without parentheses. Throws LineError, with
/// the column in bytes, for a malformed tree and for unknown labels. Memory is the only limit of
/// the depth.
Tree parse_tree(std::string_view line, const std::string& file, std::size_t line_number,
                const Labels& labels = Labels::of_sentiment());

/// Reads one tree a line; blank lines are ignored. Throws LineError for a malformed line, UserError
/// for a file that cannot be read or has no tree.
Treebank read_trees(const nlp::TextSource& source, const Labels& labels = Labels::of_sentiment());
/// Reads a stream; `source` is its name in messages.
Treebank read_trees(std::istream& in, const nlp::TextSource& source,
                    const Labels& labels = Labels::of_sentiment());
/// Trees with the labels found in them or given by name; see LabelCollector.
struct LabelledTrees {
  Treebank trees;
  Labels labels;
};
LabelledTrees read_trees_and_labels(const nlp::TextSource& source,
                                    const std::vector<std::string>& names);

/// The tree in the notation of `parse_tree`, with these labels.
std::string tree_text(const Tree& tree, const std::vector<unsigned>& numbers,
                      const Labels& labels = Labels::of_sentiment());

/// Shapes of trees for plain sentences.
enum class Shape {
  kBalanced,  ///< repeatedly joins neighbours
  kRight,     ///< (a (b (c d)))
  kLeft,      ///< (((a b) c) d)
};
/// Shape with this name; throws UserError that lists the names.
Shape shape_from_name(const std::string& name);

/// A tree over these words, at least one, with meaningless labels.
Tree make_tree(const std::vector<std::string>& words, Shape shape);

/// Words of a plain line, separated by white space, with parentheses and slashes in the notation of
/// SST: -LRB-, -RRB- and \/.
std::vector<std::string> plain_words(std::string_view line);

std::size_t count_nodes(const Treebank& trees);
std::size_t count_words(const Treebank& trees);

}  // namespace treelstm
