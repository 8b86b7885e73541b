#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace nlp {

/// Number of correct, predicted and matching items of a kind.
struct FoundScore {
  std::size_t wanted = 0;
  std::size_t found = 0;
  std::size_t correct = 0;
  double precision() const;
  double recall() const;
  /// Harmonic mean of precision and recall, 0 if both are 0.
  double f1() const;
};

/// Scores of each label, and the confusion matrix.
class LabelScores {
 public:
  struct Known {
    std::string label;
    std::string column;  ///< column title
  };

  LabelScores() = default;
  /// `what` names the labelled items: "words". The known labels come first in this order, all other
  /// labels sorted after them.
  explicit LabelScores(std::string what, std::vector<Known> known = {})
      : what_(std::move(what)), known_(std::move(known)) {}

  /// `right` may be false for equal labels, as for an arc with a wrong head.
  void count(const std::string& wanted, const std::string& predicted, bool right);
  void count(const std::string& wanted, const std::string& predicted) {
    count(wanted, predicted, wanted == predicted);
  }
  /// Counts of a label for direct updates, as for spans.
  FoundScore& of(const std::string& label) { return found_[label]; }

  /// Counts of the labels that occurred.
  const std::map<std::string, FoundScore>& found() const { return found_; }
  /// Number of items with this correct and this predicted label.
  std::size_t taken(const std::string& wanted, const std::string& predicted) const;
  /// Labels that occurred, in order.
  std::vector<Known> labels() const;

  /// Prints precision, recall and F1 of each label, and their means.
  void print(std::ostream& out) const;
  /// Prints one row per correct label and one column per predicted label.
  void print_confusion(std::ostream& out) const;

 private:
  std::string what_;
  std::vector<Known> known_;
  std::map<std::string, FoundScore> found_;
  std::map<std::pair<std::string, std::string>, std::size_t> taken_;
};

}  // namespace nlp
