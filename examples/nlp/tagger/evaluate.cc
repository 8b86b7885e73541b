#include "evaluate.h"

#include <string_view>
#include <utility>

#include "examples/nlp/common/progress.h"
#include "kingjames.h"

namespace tagger {

using namespace nlp;

namespace {

/// Letter and type of a tag of spans; 'O' for a tag outside of spans.
struct SpanTag {
  char letter = 'O';
  std::string type;
  bool opens() const { return letter == 'B' || letter == 'S' || letter == 'U'; }
  bool closes() const { return letter == 'E' || letter == 'L' || letter == 'S' || letter == 'U'; }
};

SpanTag span_tag(const std::string& tag) {
  constexpr std::string_view kLetters = "BIMELSU";
  const bool inside = tag.size() > 2 && tag[1] == '-' && kLetters.find(tag[0]) != kLetters.npos;
  return inside ? SpanTag{tag[0], tag.substr(2)} : SpanTag();
}

std::string most_frequent(const std::map<std::string, std::size_t>& counts) {
  std::string best;
  std::size_t most = 0;
  for (const auto& [tag, count] : counts) {
    if (count > most) {
      best = tag;
      most = count;
    }
  }
  return best;
}

/// Scores of a sentence's spans by type.
std::map<std::string, FoundScore> span_scores(const std::vector<std::string>& gold,
                                              const std::vector<std::string>& predicted) {
  std::map<std::string, FoundScore> scores;
  const std::vector<Span> wanted = spans_of(gold);
  const std::vector<Span> found = spans_of(predicted);
  for (const Span& span : wanted) ++scores[span.type].wanted;
  for (const Span& span : found) ++scores[span.type].found;
  // Both lists are sorted by begin, with distinct begins.
  for (std::size_t i = 0, j = 0; i < wanted.size() && j < found.size();) {
    if (wanted[i] == found[j]) ++scores[wanted[i].type].correct;
    const bool next_wanted = wanted[i].begin <= found[j].begin;
    const bool next_found = found[j].begin <= wanted[i].begin;
    i += next_wanted ? 1 : 0;
    j += next_found ? 1 : 0;
  }
  return scores;
}

}  // namespace

std::vector<Span> spans_of(const std::vector<std::string>& tags) {
  std::vector<Span> spans;
  bool open = false;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    SpanTag tag = span_tag(tags[i]);
    if (tag.letter == 'O') {
      open = false;
      continue;
    }
    if (open && !tag.opens() && spans.back().type == tag.type) {
      spans.back().end = i + 1;
    } else {
      spans.push_back({i, i + 1, std::move(tag.type)});
    }
    open = !tag.closes();
  }
  return spans;
}

bool are_span_tags(const std::vector<std::string>& tags) {
  bool inside = false;
  for (const std::string& tag : tags) {
    if (tag == "O") continue;
    if (span_tag(tag).letter == 'O') return false;
    inside = true;
  }
  return inside;
}

Baseline::Baseline(const Corpus& train) {
  std::map<std::string, std::map<std::string, std::size_t>> by_word;
  std::map<std::string, std::size_t> overall;
  for (const Sentence& sentence : train) {
    for (std::size_t i = 0; i < sentence.words.size(); ++i) {
      ++by_word[sentence.words[i]][sentence.tags[i]];
      ++overall[sentence.tags[i]];
    }
  }
  for (const auto& [word, counts] : by_word) tags_[word] = most_frequent(counts);
  default_ = most_frequent(overall);
}

const std::string& Baseline::tag(const std::string& word) const {
  const auto found = tags_.find(word);
  return found == tags_.end() ? default_ : found->second;
}

std::vector<std::string> Baseline::tag(const std::vector<std::string>& words) const {
  std::vector<std::string> tags;
  tags.reserve(words.size());
  for (const std::string& word : words) tags.push_back(tag(word));
  return tags;
}

void Scores::add(const std::vector<std::string>& gold, const std::vector<std::string>& predicted) {
  for (std::size_t i = 0; i < gold.size(); ++i) all.count(gold[i] == predicted[i]);
  if (kind == TagKind::kSpans) {
    for (const auto& [type, score] : span_scores(gold, predicted)) {
      spans.wanted += score.wanted;
      spans.found += score.found;
      spans.correct += score.correct;
    }
  } else if (kind == TagKind::kMarks) {
    for (std::size_t i = 0; i < gold.size(); ++i) {
      const MarkedCase right = parse_tag(gold[i]);
      const MarkedCase guess = parse_tag(predicted[i]);
      casing.count(right.casing == guess.casing);
      const bool has_mark = !right.before.empty() || !right.after.empty();
      const bool guesses_mark = !guess.before.empty() || !guess.after.empty();
      marks.wanted += has_mark ? 1 : 0;
      marks.found += guesses_mark ? 1 : 0;
      const bool same = right.before == guess.before && right.after == guess.after;
      marks.correct += has_mark && same ? 1 : 0;
    }
  }
}

Report::Report(std::string report_name, TagKind kind) : name(std::move(report_name)) {
  model.kind = kind;
  baseline.kind = kind;
}

void Report::add(const Sentence& sentence, const std::vector<std::string>& predicted,
                 const Baseline& trivial) {
  const std::vector<std::string> simple = trivial.tag(sentence.words);
  ++sentences;
  model.add(sentence.tags, predicted);
  baseline.add(sentence.tags, simple);
  for (std::size_t i = 0; i < predicted.size(); ++i) tags.count(sentence.tags[i], predicted[i]);
  if (model.kind == TagKind::kSpans) {
    for (const auto& [type, score] : span_scores(sentence.tags, predicted)) {
      FoundScore& all = types.of(type);
      all.wanted += score.wanted;
      all.found += score.found;
      all.correct += score.correct;
    }
  }
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    if (trivial.knows(sentence.words[i])) continue;
    model.unknown_words.count(predicted[i] == sentence.tags[i]);
    baseline.unknown_words.count(simple[i] == sentence.tags[i]);
  }
}

Figures Report::figures() const {
  Figures figures;
  const auto add = [&](const char* figure, const auto& value) {
    figures.push_back({figure, value(model), value(baseline)});
  };
  add("accuracy", [](const Scores& s) { return s.all.value(); });
  if (model.unknown_words.total > 0)
    add("unknown words", [](const Scores& s) { return s.unknown_words.value(); });
  if (model.kind == TagKind::kSpans) {
    add("span precision", [](const Scores& s) { return s.spans.precision(); });
    add("recall", [](const Scores& s) { return s.spans.recall(); });
    add("F1", [](const Scores& s) { return s.spans.f1(); });
  } else if (model.kind == TagKind::kMarks) {
    add("case", [](const Scores& s) { return s.casing.value(); });
    add("mark precision", [](const Scores& s) { return s.marks.precision(); });
    add("recall", [](const Scores& s) { return s.marks.recall(); });
    add("F1", [](const Scores& s) { return s.marks.f1(); });
  }
  return figures;
}

Counts Report::counts() const {
  return {{"sentences", sentences},
          {"words", model.all.total},
          {"unknown words", model.unknown_words.total}};
}

void Report::print(std::ostream& out) const {
  out << name << ": " << with_commas(sentences) << " sentences, " << with_commas(model.all.total)
      << " words, " << with_commas(model.unknown_words.total) << " of them not in training\n";
  print_table("  tagger                ", "  most frequent tag/word", figures(), out);
}

}  // namespace tagger
