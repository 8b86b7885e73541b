#include "examples/nlp/treelstm/labels.h"

#include <algorithm>
#include <set>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/text_input.h"

namespace treelstm {
namespace {

using nlp::in_quotes;

constexpr const char* kNeutral = "neutral";

/// Parses a number below `limit`, without leading zeros.
std::optional<unsigned> number_of(std::string_view text, unsigned limit) {
  constexpr std::size_t kMostDigits = 4;
  if (text.empty() || text.size() > kMostDigits || (text.size() > 1 && text[0] == '0')) return {};
  unsigned number = 0;
  for (const char c : text) {
    if (!nlp::is_digit(c)) return {};
    number = 10 * number + static_cast<unsigned>(c - '0');
  }
  if (number >= limit) return {};
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && nlp::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && nlp::is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string numbers_below(unsigned count) {
  return "a label from 0 to " + std::to_string(count - 1);
}

}  // namespace

const Labels& Labels::of_sentiment() {
  static const Labels five({"very negative", "negative", kNeutral, "positive", "very positive"},
                           Writing::kNumbers);
  return five;
}

void Labels::check() const {
  nlp::require_texts("labels", names_, 2);
  nlp::require_number("number of labels", static_cast<double>(names_.size()), 2, kMost);
  nlp::require_number("way to write labels", static_cast<double>(writing_), 0,
                      static_cast<double>(Writing::kNames));
}

std::string Labels::written(unsigned label) const {
  return writing_ == Writing::kNumbers ? std::to_string(label) : names_[label];
}

std::optional<unsigned> Labels::find(std::string_view text) const {
  if (writing_ == Writing::kNumbers) return number_of(text, size());
  const auto found = std::find(names_.begin(), names_.end(), text);
  if (found == names_.end()) return {};
  return static_cast<unsigned>(found - names_.begin());
}

std::string Labels::expected() const {
  constexpr unsigned kFew = 10;
  if (writing_ == Writing::kNumbers) return numbers_below(size());
  std::string text = "the label ";
  for (unsigned label = 0; label < std::min(kFew, size()); ++label) {
    text += (label == 0 ? "" : label + 1 < size() ? ", " : " or ") + names_[label];
  }
  return text + (size() > kFew ? " ..." : "");
}

std::optional<unsigned> Labels::neutral() const {
  const auto found = std::find(names_.begin(), names_.end(), kNeutral);
  const auto place = static_cast<unsigned>(found - names_.begin());
  if (place == 0 || place + 1 >= size()) return {};
  return place;
}

std::vector<std::string> read_label_names(const std::string& list_or_file) {
  const bool is_list = list_or_file.find(',') != std::string::npos;
  std::vector<std::string> names;
  for (const std::string& piece :
       is_list ? nlp::split_fields(list_or_file, ',') : nlp::read_lines(list_or_file)) {
    const std::string_view name = trimmed(piece);
    if (!name.empty()) {
      names.emplace_back(name);
    } else if (is_list) {
      throw nlp::UserError("--labels: one of the names in " + in_quotes(list_or_file) +
                           " is empty");
    }
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      throw nlp::UserError("--labels names " + in_quotes(name) + " twice");
  }
  if (names.size() < 2 || names.size() > Labels::kMost) {
    throw nlp::UserError("--labels names " + std::to_string(names.size()) +
                         (names.size() == 1 ? " label" : " labels") + ": expected from 2 to " +
                         std::to_string(Labels::kMost));
  }
  return names;
}

unsigned LabelCollector::add(std::string_view written, std::size_t line, std::size_t column) {
  const auto found = std::find_if(seen_.begin(), seen_.end(),
                                  [&](const Seen& seen) { return seen.written == written; });
  const auto place = static_cast<unsigned>(found - seen_.begin());
  if (found != seen_.end()) return place;
  seen_.push_back({std::string(written), line, column});
  if (seen_.size() > Labels::kMost) {
    refuse(seen_.back(), "at most " + std::to_string(Labels::kMost) + " different labels");
  }
  return place;
}

void LabelCollector::refuse(const Seen& seen, const std::string& expected) const {
  throw nlp::LineError(file_, seen.line,
                       "expected " + expected + " behind '(', found " + in_quotes(seen.written) +
                           " (column " + std::to_string(seen.column) + ")");
}

Labels LabelCollector::resolve(const std::vector<std::string>& names) const {
  const unsigned limit = names.empty() ? Labels::kMost : static_cast<unsigned>(names.size());
  const auto is_name = [&](const std::string& text) {
    if (names.empty()) return !nlp::is_digit(text[0]) && text[0] != '-';
    return std::find(names.begin(), names.end(), text) != names.end();
  };
  // If one label is a name, all must be names.
  const bool named =
      std::any_of(seen_.begin(), seen_.end(), [&](const Seen& s) { return is_name(s.written); });
  std::set<std::string> sorted;
  unsigned count = 0;
  for (const Seen& seen : seen_) {
    const std::optional<unsigned> number = number_of(seen.written, limit);
    if (named && !is_name(seen.written)) {
      refuse(seen, names.empty() ? "a name, as other labels have,"
                                 : Labels(names, Writing::kNames).expected());
    }
    if (!named && !number) refuse(seen, numbers_below(limit));
    sorted.insert(seen.written);
    count = std::max(count, number.value_or(0) + 1);
  }
  if (!names.empty()) return {names, named ? Writing::kNames : Writing::kNumbers};
  if (sorted.size() < 2) throw nlp::UserError(file_ + " has one label only: nothing can be learnt");
  if (named) return {{sorted.begin(), sorted.end()}, Writing::kNames};
  if (count == Labels::of_sentiment().size()) return Labels::of_sentiment();
  std::vector<std::string> numbered;
  for (unsigned label = 0; label < count; ++label) numbered.push_back(std::to_string(label));
  return {numbered, Writing::kNumbers};
}

std::vector<unsigned> LabelCollector::numbers(const Labels& labels) const {
  std::vector<unsigned> numbers;
  for (const Seen& seen : seen_) numbers.push_back(*labels.find(seen.written));
  return numbers;
}

}  // namespace treelstm
