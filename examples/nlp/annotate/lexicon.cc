#include "examples/nlp/annotate/lexicon.h"

#include <algorithm>
#include <utility>

#include "examples/nlp/annotate/text.h"
#include "examples/nlp/common/text.h"

namespace annotate {

using namespace nlp;

namespace {

bool is_feature(const std::string& text) {
  const std::size_t at = text.find('=');
  return at != text.npos && at > 0 && at + 1 < text.size() && split_words(text).size() == 1;
}

}  // namespace

Lexicon Lexicon::read(const TextSource& source) {
  Lexicon lexicon;
  InputFile in(source);
  for (std::string line; in.next(line);) {
    std::vector<std::string> fields = split_fields(line, '\t');
    if (is_blank(line) || (fields.size() == 1 && line[0] == '#')) continue;
    if (fields.size() < 3 || fields.size() > 4)
      throw LineError(in.name(), in.number(),
                      "expected form, UPOS, lemma and perhaps features, separated by tabs, found " +
                          in_quotes(line));
    for (std::string& field : fields)
      if (is_blank(field)) field = "_";
    Entry entry{fields[1], fields[2]};
    if (fields.size() > 3) entry.feats = fields[3];
    if (split_words(entry.upos).size() != 1)
      throw LineError(in.name(), in.number(), "expected a UPOS, found " + in_quotes(entry.upos));
    const std::vector<std::string> features = split_fields(entry.feats, '|');
    if (entry.feats != "_" && !std::all_of(features.begin(), features.end(), is_feature))
      throw LineError(
          in.name(), in.number(),
          "expected features as Name=Value|Name=Value, found " + in_quotes(entry.feats));
    lexicon.entries_[fields[0]].push_back(std::move(entry));
  }
  return lexicon;
}

const std::vector<Lexicon::Entry>& Lexicon::of(const std::string& form) const {
  static const std::vector<Entry> kNone;
  auto found = entries_.find(form);
  if (found == entries_.end()) found = entries_.find(utf8(lower_case(code_points(form))));
  return found == entries_.end() ? kNone : found->second;
}

}  // namespace annotate
