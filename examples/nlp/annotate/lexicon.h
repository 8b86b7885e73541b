#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nlp/common/text_input.h"

namespace annotate {

/// Words with their analyses, which take precedence over those that a model predicts.
class Lexicon {
 public:
  /// Analysis of a form; `_` leaves a column to the model.
  struct Entry {
    std::string upos = "_", lemma = "_", feats = "_";
  };

  /// Reads a file with an analysis a line: form, UPOS, lemma and, if they are said, features,
  /// separated by tabs. Blank lines, and lines without a tab that begin with `#`, are skipped.
  /// Throws LineError for other lines.
  static Lexicon read(const nlp::TextSource& source);

  /// Analyses of a form, else of its lower-case form; empty for an unknown form.
  const std::vector<Entry>& of(const std::string& form) const;

 private:
  std::map<std::string, std::vector<Entry>, std::less<>> entries_;
};

}  // namespace annotate
