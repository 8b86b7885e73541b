#include "benchmarks/training/data.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace bench {
namespace {

class Vocabulary {
 public:
  unsigned number(const std::string& word) {
    return numbers_.emplace(word, static_cast<unsigned>(numbers_.size())).first->second;
  }
  unsigned size() const { return static_cast<unsigned>(numbers_.size()); }

 private:
  std::unordered_map<std::string, unsigned> numbers_;
};

std::ifstream open(const std::string& folder, const char* name) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return file;
}

/// Parses `(label left right)` or `(label word)` at s[i]. Returns the number of the node.
int read_tree(const std::string& s, std::size_t& i, Vocabulary& words,
              std::vector<TreeNode>& tree) {
  const auto need = [&](bool ok) {
    if (!ok) throw std::runtime_error("not a tree: " + s);
  };
  const auto token = [&] {
    const std::size_t end = std::min(s.find_first_of(" ()", i), s.size()), begin = i;
    need(end > begin);
    i = end;
    return s.substr(begin, end - begin);
  };
  const auto expect = [&](char c) {
    need(i < s.size() && s[i] == c);
    ++i;
  };
  TreeNode node;
  expect('(');
  node.label = static_cast<unsigned>(std::stoul(token()));
  expect(' ');
  if (i < s.size() && s[i] == '(') {
    node.left = read_tree(s, i, words, tree);
    expect(' ');
    node.right = read_tree(s, i, words, tree);
  } else {
    node.word = words.number(token());
  }
  expect(')');
  tree.push_back(node);
  return static_cast<int>(tree.size()) - 1;
}

}  // namespace

Trees sentiment_trees(const std::string& folder) {
  if (folder.empty()) return make_trees();
  std::ifstream file = open(folder, "sst/train.txt");
  Trees data;
  Vocabulary words;
  for (std::string line; std::getline(file, line);) {
    std::size_t i = 0;
    data.trees.emplace_back();
    read_tree(line, i, words, data.trees.back());
    for (const TreeNode& n : data.trees.back()) data.labels = std::max(data.labels, n.label + 1);
  }
  data.words = words.size();
  return data;
}

TaggedText tagged_text(const std::string& folder) {
  if (folder.empty()) return make_tagged_text();
  std::ifstream file = open(folder, "wikigold/wikigold.txt");
  TaggedText data;
  Vocabulary words, tags;
  std::string token;
  for (std::string line; std::getline(file, line);) {
    TaggedSentence s;
    for (std::istringstream in(line); in >> token;) {
      const std::size_t bar = token.rfind('|');
      if (bar == std::string::npos) throw std::runtime_error("no | in " + token);
      s.words.push_back(words.number(token.substr(0, bar)));
      s.tags.push_back(tags.number(token.substr(bar + 1)));
    }
    if (!s.words.empty()) data.sentences.push_back(std::move(s));
  }
  data.words = words.size();
  data.tags = tags.size();
  return data;
}

Text plain_text(const std::string& folder) {
  if (folder.empty()) return make_text();
  std::ifstream file = open(folder, "wikitext2/valid.txt");
  std::vector<std::vector<std::string>> sentences(1);
  std::unordered_map<std::string, int> counts;
  for (std::string line, word; std::getline(file, line);) {
    for (std::istringstream in(line); in >> word;) {
      ++counts[word];
      sentences.back().push_back(word);
      if (word == ".") sentences.emplace_back();
    }
    if (!sentences.back().empty()) sentences.emplace_back();
  }
  Text data;
  Vocabulary words;
  for (const auto& s : sentences) {
    if (s.size() < 2 || s.size() > 60) continue;
    data.sentences.emplace_back();
    for (const std::string& word : s)
      data.sentences.back().push_back(words.number(counts[word] == 1 ? "<unk>" : word));
  }
  data.words = words.size() + 1;
  return data;
}

}  // namespace bench
