#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace nlp {

/// How many of a kind there are, were found, and both.
struct FoundScore {
  std::size_t wanted = 0;
  std::size_t found = 0;
  std::size_t correct = 0;
  double precision() const;
  double recall() const;
  /// The harmonic mean of the two, 0 if both are 0.
  double f1() const;
};

/// How well each label is found, and which label is taken for which.
class LabelScores {
 public:
  struct Known {
    std::string label;
    std::string column;  ///< what it is called above a column
  };

  LabelScores() = default;
  /// `what` has the labels: "words". These labels come in this order, all others sorted behind.
  explicit LabelScores(std::string what, std::vector<Known> known = {})
      : what_(std::move(what)), known_(std::move(known)) {}

  /// `right`, if what has the label may be wrong all the same, as an arc with another head is.
  void count(const std::string& wanted, const std::string& predicted, bool right);
  void count(const std::string& wanted, const std::string& predicted) {
    count(wanted, predicted, wanted == predicted);
  }
  /// Counts without a pair of labels, as spans are.
  FoundScore& of(const std::string& label) { return found_[label]; }

  /// By label; those that came.
  const std::map<std::string, FoundScore>& found() const { return found_; }
  /// How often, by right label and predicted label.
  std::size_t taken(const std::string& wanted, const std::string& predicted) const;
  /// The labels that came, in order.
  std::vector<Known> labels() const;

  /// Precision, recall and F1 of each label, and their means.
  void print(std::ostream& out) const;
  /// A row for each right label, a column for each predicted one.
  void print_confusion(std::ostream& out) const;

 private:
  std::string what_;
  std::vector<Known> known_;
  std::map<std::string, FoundScore> found_;
  std::map<std::pair<std::string, std::string>, std::size_t> taken_;
};

}  // namespace nlp
