#pragma once

// Training data of the tasks: files from the data folder, or random data of equal shape.
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct TreeNode {
  unsigned label = 0;
  unsigned word = 0;          ///< of a leaf
  int left = -1, right = -1;  ///< of an inner node: earlier nodes of the tree
  bool is_leaf() const { return left < 0; }
};

struct Trees {
  std::vector<std::vector<TreeNode>> trees;  ///< children before parents
  unsigned words = 0, labels = 0;
};

struct TaggedSentence {
  std::vector<unsigned> words, tags;
};

struct TaggedText {
  std::vector<TaggedSentence> sentences;
  unsigned words = 0, tags = 0;
};

struct Text {
  std::vector<std::vector<unsigned>> sentences;
  unsigned words = 0;  ///< the last one begins every sentence and stands in none
};

/// Each reads its file below `folder`, or makes data if `folder` is empty. Throws
/// std::runtime_error.
Trees sentiment_trees(const std::string& folder);
TaggedText tagged_text(const std::string& folder);
/// Sentences of 2 to 60 words; words seen once are one word.
Text plain_text(const std::string& folder);

/// Random data in the shape of the files.
Trees make_trees();
TaggedText make_tagged_text();
Text make_text();

}  // namespace bench
