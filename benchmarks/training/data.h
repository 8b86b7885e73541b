#pragma once

// Training data of the tasks: files from the data folder, or random data of equal shape.
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct TreeNode {
  unsigned label = 0;
  unsigned word = 0;          ///< word of a leaf
  int left = -1, right = -1;  ///< children of an inner node: indices of earlier nodes
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
  unsigned words = 0;  ///< the last word only begins sentences
};

/// Each reads its file in `folder`, or makes random data if `folder` is empty. Throws
/// std::runtime_error.
Trees sentiment_trees(const std::string& folder);
TaggedText tagged_text(const std::string& folder);
/// Sentences of 2 to 60 words; words with one occurrence are a single unknown word.
Text plain_text(const std::string& folder);

/// Random data with the statistics of the files.
Trees make_trees();
TaggedText make_tagged_text();
Text make_text();

}  // namespace bench
