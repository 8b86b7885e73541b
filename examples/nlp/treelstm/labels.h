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

/// Notation of labels in trees.
enum class Writing {
  kNumbers,  ///< numbers from 0, as in SST
  kNames,
};

/// The labels of trees, numbered from 0, with their names.
class Labels {
 public:
  static constexpr unsigned kMost = 1000;

  /// No labels.
  Labels() = default;
  Labels(std::vector<std::string> names, Writing writing)
      : names_(std::move(names)), writing_(writing) {}
  /// The five labels of the Stanford Sentiment Treebank, from very negative to very positive.
  static const Labels& of_sentiment();

  unsigned size() const { return static_cast<unsigned>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name(unsigned label) const { return names_[label]; }
  /// Notation of the label in trees.
  std::string written(unsigned label) const;
  std::optional<unsigned> find(std::string_view written) const;
  /// "a label from 0 to 4", "the label bad, fair or good".
  std::string expected() const;

  /// For labels that are a scale: the middle one, named neutral, with labels on both sides. Labels
  /// before it are negative, labels after it positive.
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

/// Parses --labels: a comma-separated list, or a file with one name per line. Throws UserError for
/// fewer than two names and for duplicates.
std::vector<std::string> read_label_names(const std::string& list_or_file);

/// Collects the labels of a file's trees, in order of appearance.
class LabelCollector {
 public:
  explicit LabelCollector(std::string file) : file_(std::move(file)) {}

  /// Index of a label. Throws LineError for too many labels.
  unsigned add(std::string_view written, std::size_t line, std::size_t column);
  std::size_t size() const { return seen_.size(); }
  /// Drops all labels except the first `size`.
  void shrink(std::size_t size) { seen_.resize(size); }

  /// Labels with these names or, without names, the labels of the trees: sorted names, or numbers
  /// up to the largest one; numbers up to 4 are sentiments. Throws LineError for a label that is
  /// neither a name nor a valid number, UserError if there is only one label.
  Labels resolve(const std::vector<std::string>& names) const;
  /// Numbers of the collected labels in `labels`, in order of appearance.
  std::vector<unsigned> numbers(const Labels& labels) const;

 private:
  struct Seen {
    std::string written;
    std::size_t line, column;  ///< first occurrence
  };
  [[noreturn]] void refuse(const Seen& seen, const std::string& expected) const;

  std::string file_;
  std::vector<Seen> seen_;
};

}  // namespace treelstm
