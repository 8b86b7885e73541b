#pragma once

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace treelstm {

/// How trees write their labels.
enum class Writing {
  kNumbers,  ///< by their places, from 0, as SST does
  kNames,
};

/// The labels of trees, counted from 0, and what they are called.
class Labels {
 public:
  static constexpr unsigned kMost = 1000;

  /// None.
  Labels() = default;
  Labels(std::vector<std::string> names, Writing writing)
      : names_(std::move(names)), writing_(writing) {}
  /// The five of the Stanford Sentiment Treebank, from very negative to very positive.
  static const Labels& of_sentiment();

  unsigned size() const { return static_cast<unsigned>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(unsigned label) const { return names_[label]; }
  /// The label as trees have it.
  std::string written(unsigned label) const;
  std::optional<unsigned> find(std::string_view written) const;
  /// "a label from 0 to 4", "the label bad, fair or good".
  std::string expected() const;

  /// If the labels are a scale, the one in its midst: called neutral, with labels on both sides.
  /// Those before it are negative, those behind it positive.
  std::optional<unsigned> neutral() const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& names_& writing_;
  }
  void check() const;  ///< see nlp::Checked

 private:
  std::vector<std::string> names_;
  Writing writing_ = Writing::kNumbers;
};

/// The names that --labels gives: a list with commas, or a file with one a line. Throws UserError
/// unless there are two or more and all differ.
std::vector<std::string> read_label_names(const std::string& list_or_file);

/// The labels that the trees of a file turn out to have, in the order of their appearance.
class LabelCollector {
 public:
  explicit LabelCollector(std::string file) : file_(std::move(file)) {}

  /// The place of a label among them. Throws LineError if there are too many.
  unsigned add(std::string_view written, std::size_t line, std::size_t column);
  std::size_t size() const { return seen_.size(); }
  /// Forgets all but the first ones.
  void shrink(std::size_t size) { seen_.resize(size); }

  /// Labels with these names or, without names, the labels of the trees: sorted names, or the
  /// numbers up to the largest one, which are the sentiments if it is 4. Throws LineError for a
  /// label that is neither a name nor the number of one, UserError if there is but one label.
  Labels resolve(const std::vector<std::string>& names) const;
  /// Numbers in `labels` of the added labels, in the order of their addition.
  std::vector<unsigned> numbers(const Labels& labels) const;

 private:
  struct Seen {
    std::string written;
    std::size_t line, column;  ///< where it came first
  };
  [[noreturn]] void refuse(const Seen& seen, const std::string& expected) const;

  std::string file_;
  std::vector<Seen> seen_;
};

}  // namespace treelstm
