#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/text_input.h"
#include "examples/nlp/treelstm/labels.h"

namespace treelstm {

/// A leaf with a word, or an inner node over two others.
struct Node {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  unsigned label = 0;        ///< its number
  std::size_t left = kNone;  ///< places in the list of nodes; kNone for a leaf
  std::size_t right = kNone;
  std::string word;  ///< of a leaf

  bool is_leaf() const { return left == kNone; }
};

/// A binary tree over a sentence. Nodes come behind what is below them, so that a loop visits
/// children before parents, and leaves come in the order of the sentence. The last node is the
/// root; no tree is empty.
struct Tree {
  std::vector<Node> nodes;

  const Node& root() const { return nodes.back(); }
  std::vector<std::string> words() const;
};

using Treebank = std::vector<Tree>;

/// Reads a tree as SST writes it: `(label left right)` or `(label word)`, with spaces or tabs
/// between the pieces; a word is anything without these and without round brackets. Throws
/// LineError for what is no such tree with these labels, with the column, counted in bytes. The
/// depth is limited by memory only.
Tree parse_tree(std::string_view line, const std::string& file, std::size_t line_number,
                const Labels& labels = Labels::of_sentiment());

/// Reads one tree a line; blank lines mean nothing. Throws LineError for a line that is no tree,
/// UserError for a file that cannot be read or holds no tree.
Treebank read_trees(const nlp::TextSource& source, const Labels& labels = Labels::of_sentiment());
/// The same from a stream; `source` says what messages call it.
Treebank read_trees(std::istream& in, const nlp::TextSource& source,
                    const Labels& labels = Labels::of_sentiment());
/// Trees whose labels have these names, or are yet to be found; see LabelCollector.
struct LabelledTrees {
  Treebank trees;
  Labels labels;
};
LabelledTrees read_trees_and_labels(const nlp::TextSource& source,
                                    const std::vector<std::string>& names);

/// The tree as `parse_tree` reads it, with these labels instead of its own.
std::string tree_text(const Tree& tree, const std::vector<unsigned>& numbers,
                      const Labels& labels = Labels::of_sentiment());

/// Trees for sentences that come without one.
enum class Shape {
  kBalanced,  ///< neighbours are joined, again and again
  kRight,     ///< (a (b (c d)))
  kLeft,      ///< (((a b) c) d)
};
/// The shape of that name; throws UserError listing the names.
Shape shape_from_name(const std::string& name);

/// A tree over these words, of which there must be one or more, with no label that counts.
Tree make_tree(const std::vector<std::string>& words, Shape shape);

/// The words of a plain line: what stands between white space, with round brackets and slashes
/// written as in SST, -LRB-, -RRB- and \/.
std::vector<std::string> plain_words(std::string_view line);

std::size_t count_nodes(const Treebank& trees);
std::size_t count_words(const Treebank& trees);

}  // namespace treelstm
