#include "examples/nlp/common/conllu.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"

namespace nlp::conllu {
namespace {

const char* const kJoined = "SpaceAfter=No";

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "8", "8-9" (a multiword token) or "8.1" (an empty node).
enum class Id { kWord, kRange, kEmptyNode, kWrong };

Id classify_id(std::string_view id) {
  if (all_digits(id)) return Id::kWord;
  const std::size_t at = id.find_first_of("-.");
  if (at == std::string_view::npos || !all_digits(id.substr(0, at)) ||
      !all_digits(id.substr(at + 1))) {
    return Id::kWrong;
  }
  return id[at] == '-' ? Id::kRange : Id::kEmptyNode;
}

/// Checks the ids in the first column, line by line.
struct Ids {
  std::size_t words = 0, empty_nodes = 0;  ///< empty nodes after the last word
  std::size_t range_end = 0;               ///< last word of the last range

  /// Counts `id`. Returns the expected id for an error message; empty if `id` is valid.
  std::string take(const std::string& id) {
    const std::string next = std::to_string(words + 1);
    switch (classify_id(id)) {
      case Id::kWrong:
        return "a word number such as 8, 8-9 or 8.1";
      case Id::kWord:
        ++words;
        empty_nodes = 0;
        return id == next ? "" : "word number " + next;
      case Id::kEmptyNode: {
        const std::string node = std::to_string(words) + "." + std::to_string(++empty_nodes);
        return id == node ? "" : "empty node " + node;
      }
      case Id::kRange:
        break;
    }
    const std::size_t at = id.find('-');
    if (range_end > words) return "a range behind the one before";
    if (id.substr(0, at) != next) return "a range that begins with the next word, " + next;
    range_end = id.size() - at > 9 ? id.npos : std::stoul(id.substr(at + 1));
    return range_end > words ? "" : "a range that does not end before it begins";
  }
};

}  // namespace

Column column_of(const std::string& wanted) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    if (lower_cased(wanted) == lower_cased(kNames[i])) return static_cast<Column>(i);
  }
  if (all_digits(wanted)) {
    const std::size_t number = parse_number(wanted, "--column", kColumns);
    if (number > 0) return static_cast<Column>(number - 1);
  }
  throw UserError("a CoNLL-U file has no column " + in_quotes(wanted) +
                  ": expected a number from 1 to 10 or one of ID FORM LEMMA UPOS XPOS FEATS HEAD "
                  "DEPREL DEPS MISC");
}

bool is_conllu(const std::string& line) {
  for (const char* const comment : {"# sent_id", "# text", "# newdoc", "# newpar", "# global."}) {
    if (line.rfind(comment, 0) == 0) return true;
  }
  // Counts the fields, so that a file with a malformed first line is still detected.
  const std::vector<std::string> fields = split_fields(line, '\t');
  return fields.size() > 4 && classify_id(fields[0]) != Id::kWrong;
}

Sentence::Sentence(const std::vector<std::string>& lines, const LineRange& range,
                   const std::string& name, std::size_t before)
    : name_(name), place_{before + range.begin + 1, 1} {
  Ids ids;
  std::size_t range_line = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::string& line = lines[i];
    if (line[0] != '#') {
      const std::vector<std::string> fields = split_fields(line, '\t');
      if (fields.size() != kColumns) {
        throw LineError(name, before + i + 1,
                        "expected the 10 tab-separated columns of CoNLL-U, found " +
                            std::to_string(fields.size()) + " in " + in_quotes(line));
      }
      const std::size_t number = before + i + 1;
      const std::string& id = fields[kId];
      if (const std::string wanted = ids.take(id); !wanted.empty()) {
        throw LineError(name, number,
                        "expected " + wanted + " in the first column, found " + in_quotes(id));
      }
      const Id kind = classify_id(id);
      if (kind == Id::kRange) range_line = number;
      if (kind == Id::kWord) {
        if (fields[kForm].empty())
          throw LineError(name, number, "the word (column 2, FORM) is empty");
        word_lines_.push_back(lines_.size());
      }
    }
    lines_.push_back(line);
  }
  if (size() == 0) throw LineError(name, before + range.end, "expected words behind the comments");
  if (ids.range_end > size()) {
    throw LineError(name, range_line,
                    "expected a range within the " + std::to_string(size()) +
                        " words of the sentence in the first column");
  }
}

Sentence::Sentence(const std::vector<std::string>& words, const std::vector<bool>& joined,
                   const std::string& name, const WordLines& place)
    : name_(name), place_(place) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string misc = joined[i] ? kJoined : "_";
    word_lines_.push_back(lines_.size());
    lines_.push_back(std::to_string(i + 1) + "\t" + words[i] + "\t_\t_\t_\t_\t_\t_\t_\t" + misc);
  }
}

std::vector<std::string> Sentence::fields(std::size_t word) const {
  return split_fields(lines_[word_lines_[word]], '\t');
}

void Sentence::require_filled(std::size_t word, const std::vector<std::string>& fields,
                              Column column, const std::string& what) const {
  if (!fields[column].empty()) return;
  refuse(word, "the " + what + " (column " + std::to_string(column + 1) + ", " + kNames[column] +
                   ") is empty");
}

std::vector<std::string> Sentence::words() const {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < size(); ++i) words.push_back(fields(i)[kForm]);
  return words;
}

void Sentence::set(std::size_t word, Column column, const std::string& text) {
  std::vector<std::string> all = fields(word);
  all[column] = text;
  lines_[word_lines_[word]] = join(all, "\t");
}

std::vector<Multiword> Sentence::multiwords() const {
  std::vector<Multiword> all;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i][0] == '#') continue;
    const std::vector<std::string> fields = split_fields(lines_[i], '\t');
    if (classify_id(fields[kId]) != Id::kRange) continue;
    const std::vector<std::string> ends = split_fields(fields[kId], '-');
    all.push_back({std::stoul(ends[0]) - 1, std::stoul(ends[1]), fields[kForm], fields[kMisc]});
  }
  return all;
}

Sentence Sentence::piece(std::size_t begin, std::size_t end) const {
  std::vector<std::string> words;
  std::vector<bool> joined;
  for (std::size_t i = begin; i < end; ++i) {
    const std::vector<std::string> all = fields(i);
    words.push_back(all[kForm]);
    joined.push_back(all[kMisc] == kJoined);
  }
  return {words, joined, name_, {line_number(begin), place_.step}};
}

void Sentence::refuse(std::size_t word, const std::string& what) const {
  throw LineError(name_, line_number(word), what);
}

std::string with_probability(const std::string& misc, float probability) {
  static const std::string kProbability = "Prob=";
  std::vector<std::string> attributes;
  for (std::string& attribute : split_fields(misc, '|')) {
    if (attribute != "_" && attribute.rfind(kProbability, 0) != 0)
      attributes.push_back(std::move(attribute));
  }
  attributes.push_back(kProbability + fixed(static_cast<double>(probability), 4));
  return join(attributes, "|");
}

std::vector<Sentence> read(const TextSource& source,
                           const std::function<void(const Sentence&)>& check) {
  const std::vector<std::string> lines = read_lines(source);
  std::vector<Sentence> sentences;
  SampleReader reader(source, "sentence");
  for (const LineRange& block : blocks_of(lines)) {
    reader.read([&] {
      Sentence sentence(lines, block, source.name());
      if (check) check(sentence);
      sentences.push_back(std::move(sentence));
    });
  }
  if (sentences.empty()) throw UserError(source.name() + " holds no sentence");
  return sentences;
}

}  // namespace nlp::conllu
