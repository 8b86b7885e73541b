#include "examples/nlp/parser/conllu.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "examples/nlp/common/files.h"
#include "examples/nlp/common/text.h"

namespace parser {

using namespace nlp;

namespace {

enum Column : std::size_t { kId = 0, kForm = 1, kTag = 3, kHead = 6, kLabel = 7, kColumns = 10 };

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "8-9", a multiword token, or "8.1", an empty node.
bool is_no_word(std::string_view id) {
  const std::size_t at = id.find_first_of("-.");
  return at != std::string_view::npos && all_digits(id.substr(0, at)) &&
         all_digits(id.substr(at + 1));
}

class Reader {
 public:
  Reader(const std::string& name, Trees trees) : name_(name), trees_(trees) {}

  void add(const std::string& line) {
    ++number_;
    if (is_blank(line)) return end();
    if (line[0] != '#') add_fields(line);
    sentence_.lines.push_back(line);
  }

  void end() {
    if (sentence_.lines.empty()) return;
    if (sentence_.words.empty()) refuse(number_, "expected words behind the comments");
    if (trees_ == Trees::kRead) check_tree();
    treebank_.push_back(std::exchange(sentence_, {}));
    heads_.clear();
  }

  Treebank take() { return std::move(treebank_); }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& what) const {
    throw LineError(name_, line, what);
  }

  void add_fields(const std::string& line) {
    std::vector<std::string> fields = split_fields(line, '\t');
    if (fields.size() != kColumns) {
      refuse(number_, "expected the 10 tab-separated columns of CoNLL-U, found " +
                          std::to_string(fields.size()) + " in " + quoted(line));
    }
    if (is_no_word(fields[kId])) return;
    const std::string wanted = std::to_string(sentence_.size() + 1);
    if (fields[kId] != wanted) {
      refuse(number_, "expected word number " + wanted + " in the first column, found " +
                          quoted(fields[kId]));
    }
    if (fields[kForm].empty()) refuse(number_, "the word (column 2, FORM) is empty");
    if (fields[kTag].empty()) refuse(number_, "the tag (column 4, UPOS) is empty");
    sentence_.words.push_back(std::move(fields[kForm]));
    sentence_.tags.push_back(std::move(fields[kTag]));
    sentence_.word_lines.push_back(sentence_.lines.size());
    if (trees_ == Trees::kIgnored) return;
    if (fields[kLabel].empty()) refuse(number_, "the label (column 8, DEPREL) is empty");
    heads_.push_back(std::move(fields[kHead]));
    sentence_.tree.labels.push_back(std::move(fields[kLabel]));
  }

  /// The line of a word, counted from 0, of the sentence that ended before the present line.
  std::size_t line_of(std::size_t word) const {
    return number_ - sentence_.lines.size() + sentence_.word_lines[word];
  }

  void check_tree() {
    std::vector<unsigned>& heads = sentence_.tree.heads;
    const std::size_t words = sentence_.size();
    std::size_t roots = 0;
    for (std::size_t i = 0; i < words; ++i) {
      const std::string& text = heads_[i];
      if (!all_digits(text) || text.size() > 9 || std::stoul(text) > words) {
        refuse(line_of(i), "expected a word number from 0 to " + std::to_string(words) +
                               " in column 7, HEAD, found " + quoted(text));
      }
      heads.push_back(static_cast<unsigned>(std::stoul(text)));
      roots += heads.back() == 0;
      if (roots > 1) refuse(line_of(i), "a second word with HEAD 0: expected one root");
    }
    for (std::size_t i = 0; i < words; ++i) {
      std::size_t steps = 0;
      for (std::size_t at = i + 1; at != 0 && steps <= words; ++steps) at = heads[at - 1];
      if (steps > words) refuse(line_of(i), "the heads of this word run in a circle");
    }
  }

  const std::string& name_;
  const Trees trees_;
  std::size_t number_ = 0;  ///< of the present line
  Sentence sentence_;
  std::vector<std::string> heads_;  ///< as they were written
  Treebank treebank_;
};

}  // namespace

Treebank parse_conllu(const std::vector<std::string>& lines, const std::string& name, Trees trees) {
  Reader reader(name, trees);
  for (const std::string& line : lines) reader.add(line);
  reader.add("");
  Treebank treebank = reader.take();
  if (treebank.empty()) throw UserError(name + " holds no sentence");
  return treebank;
}

Treebank read_conllu(const std::string& path, Trees trees) {
  InputFile file(path);
  const std::string name = path == "-" ? "standard input" : path;
  return parse_conllu(read_lines(file.stream(), name), name, trees);
}

std::vector<std::string> lines_with(const Sentence& sentence, const Tree& tree) {
  std::vector<std::string> lines = sentence.lines;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    std::string& line = lines[sentence.word_lines[i]];
    std::vector<std::string> fields = split_fields(line, '\t');
    fields[kHead] = std::to_string(tree.heads[i]);
    fields[kLabel] = tree.labels[i];
    line = join(fields, "\t");
  }
  return lines;
}

std::size_t count_words(const Treebank& treebank) {
  std::size_t words = 0;
  for (const Sentence& sentence : treebank) words += sentence.size();
  return words;
}

}  // namespace parser
