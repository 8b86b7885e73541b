#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "examples/nlp/common/label_scores.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/tagger/corpus.h"

namespace tagger {

/// The words begin ... end-1 form one unit of that type.
struct Span {
  std::size_t begin;
  std::size_t end;
  std::string type;
  bool operator==(const Span& other) const {
    return begin == other.begin && end == other.end && type == other.type;
  }
};

/// The spans that tags describe in any of the usual schemes (BIO, IOB1, BIOES, BILOU, BMES), as
/// CoNLL's evaluation reads them. A tag is a letter, a hyphen and the type; any other one is
/// outside. `B-X` opens a span, `S-X` and `U-X` are a whole one; `I-X` and `M-X` go on with a span
/// of type X, `E-X` and `L-X` end it, and where none is open all four open one.
std::vector<Span> spans_of(const std::vector<std::string>& tags);

/// True if every tag is `O` or one that `spans_of` reads, and not all are `O`.
bool are_span_tags(const std::vector<std::string>& tags);

/// The trivial tagger: for each word the tag it had most often in training, for other words the
/// tag that was most frequent overall. Of equally frequent tags the alphabetically first counts.
class Baseline {
 public:
  Baseline() = default;
  explicit Baseline(const Corpus& train);
  const std::string& tag(const std::string& word) const;
  bool knows(const std::string& word) const { return tags_.count(word) > 0; }
  std::vector<std::string> tag(const std::vector<std::string>& words) const;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& tags_& default_;
  }

 private:
  std::map<std::string, std::string> tags_;
  std::string default_;
};

/// Kind of a set of tags, by the scores that suit it.
enum class TagKind {
  kPlain,  ///< accuracy
  kSpans,  ///< accuracy and span F1
  kMarks,  ///< accuracy, of the case alone, and F1 of the marks
};

/// How well predicted tags agree with the right ones.
struct Scores {
  TagKind kind = TagKind::kPlain;
  nlp::Ratio all;
  nlp::Ratio unknown_words;  ///< words that training did not have
  nlp::Ratio casing;
  nlp::FoundScore spans;
  nlp::FoundScore marks;

  void add(const std::vector<std::string>& gold, const std::vector<std::string>& predicted);
  /// The figure that decides which model is best: span F1 for BIO tags, accuracy otherwise.
  double decisive() const { return kind == TagKind::kSpans ? spans.f1() : all.value(); }
};

/// A corpus scored by the model and by the baseline.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  Scores model;
  Scores baseline;
  nlp::LabelScores tags{"words"};   ///< of the model
  nlp::LabelScores types{"spans"};  ///< of the spans, if the tags are some

  Report(std::string report_name, TagKind kind);
  void add(const Sentence& sentence, const std::vector<std::string>& predicted,
           const Baseline& trivial);
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  /// Scores of the spans by type; of the words by tag if the tags are no spans.
  const nlp::LabelScores& label_scores() const {
    return model.kind == TagKind::kSpans ? types : tags;
  }
  const nlp::LabelScores& confusion() const { return tags; }
  /// A few lines with both side by side.
  void print(std::ostream& out) const;
};

}  // namespace tagger
