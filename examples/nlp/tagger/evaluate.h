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

/// Words [begin, end) form a span of a type.
struct Span {
  std::size_t begin;
  std::size_t end;
  std::string type;
  bool operator==(const Span& other) const {
    return begin == other.begin && end == other.end && type == other.type;
  }
};

/// Spans of tags in any usual scheme (BIO, IOB1, BIOES, BILOU, BMES), read like CoNLL's evaluation.
/// A tag is a letter, a hyphen and the type; other tags are outside. `B-X` opens a span, `S-X` and
/// `U-X` are single-word spans; `I-X` and `M-X` continue a span of type X, `E-X` and `L-X` end it,
/// and all four open one if none is open.
std::vector<Span> spans_of(const std::vector<std::string>& tags);

/// True if every tag is `O` or a tag of `spans_of`, and not all are `O`.
bool are_span_tags(const std::vector<std::string>& tags);

/// The trivial tagger: the most frequent tag of a word in training, or the most frequent tag
/// overall for unseen words; the alphabetically first of equally frequent tags.
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

/// Kind of a tag set, which determines its scores.
enum class TagKind {
  kPlain,  ///< accuracy
  kSpans,  ///< accuracy and span F1
  kMarks,  ///< accuracy, accuracy of the case, and F1 of the marks
};

/// Agreement of predicted and correct tags.
struct Scores {
  TagKind kind = TagKind::kPlain;
  nlp::Ratio all;
  nlp::Ratio unknown_words;  ///< words unseen in training
  nlp::Ratio casing;
  nlp::FoundScore spans;
  nlp::FoundScore marks;

  void add(const std::vector<std::string>& gold, const std::vector<std::string>& predicted);
  /// Score for model selection: span F1 for span tags, accuracy otherwise.
  double decisive() const { return kind == TagKind::kSpans ? spans.f1() : all.value(); }
};

/// Scores of a corpus for the model and the baseline.
struct Report {
  std::string name;
  std::size_t sentences = 0;
  Scores model;
  Scores baseline;
  nlp::LabelScores tags{"words"};   ///< of the model
  nlp::LabelScores types{"spans"};  ///< of the spans, for span tags

  Report(std::string report_name, TagKind kind);
  void add(const Sentence& sentence, const std::vector<std::string>& predicted,
           const Baseline& trivial);
  nlp::Figures figures() const;
  nlp::Counts counts() const;
  /// Scores of spans by type, or of words by tag for other tags.
  const nlp::LabelScores& label_scores() const {
    return model.kind == TagKind::kSpans ? types : tags;
  }
  const nlp::LabelScores& confusion() const { return tags; }
  /// Prints both side by side in a few lines.
  void print(std::ostream& out) const;
};

}  // namespace tagger
