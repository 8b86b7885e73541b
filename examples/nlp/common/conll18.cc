#include "examples/nlp/common/conll18.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dynet-like/base/utf8.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/tokenizer.h"

namespace nlp {
namespace {

constexpr std::size_t kNoWord = static_cast<std::size_t>(-1);
constexpr std::size_t kMissing = kNoWord - 1;  ///< head that the file does not say

/// Range of bytes in a text.
struct Span {
  std::size_t begin = 0, end = 0;
  auto operator<=>(const Span&) const = default;
};

struct Word {
  Span span;  ///< of the multiword token that contains it, if any
  bool multiword = false;
  std::string form, lemma, upos, xpos, feats, label;
  std::size_t head = kNoWord;                    ///< index among all words; kNoWord for the root
  std::vector<std::size_t> function_words = {};  ///< dependents with a label of function words
};

/// Words of a file, and the characters that they cover: those of its tokens, without spaces.
struct Text {
  std::string characters;
  std::vector<Span> tokens, sentences;
  std::vector<Word> words;
};

/// True if `c` is in the category Zs.
bool is_space_separator(std::uint32_t c) {
  return c == 0x20 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

Span add_token(Text& text, std::string_view form) {
  Span span{text.characters.size(), 0};
  while (!form.empty()) {
    const auto [code, bytes] = dynet::first_utf8_character(form);
    if (!is_space_separator(code)) text.characters += form.substr(0, bytes);
    form.remove_prefix(bytes);
  }
  span.end = text.characters.size();
  text.tokens.push_back(span);
  return span;
}

std::size_t head_of(const conllu::Sentence& sentence, std::size_t word, const std::string& head,
                    std::size_t first) {
  if (head == "_") return kMissing;
  const bool digits = !head.empty() && std::all_of(head.begin(), head.end(), is_digit);
  if (!digits || head.size() > 9 || std::stoul(head) > sentence.size()) {
    sentence.refuse(word, "expected a word number from 0 to " + std::to_string(sentence.size()) +
                              " in column 7, HEAD, found " + in_quotes(head));
  }
  const std::size_t number = std::stoul(head);
  return number == 0 ? kNoWord : first + number - 1;
}

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

/// The universal features of a field FEATS, sorted.
std::string universal_features(const std::string& feats) {
  constexpr std::array<std::string_view, 21> kUniversal = {
      "PronType", "NumType", "Poss",  "Reflex",   "Foreign",  "Abbr",     "Gender",
      "Animacy",  "Number",  "Case",  "Definite", "Degree",   "VerbForm", "Mood",
      "Tense",    "Aspect",  "Voice", "Evident",  "Polarity", "Person",   "Polite"};
  std::vector<std::string> kept;
  for (std::string& feature : split_fields(feats, '|'))
    if (is_one_of(kUniversal, std::string_view(feature).substr(0, feature.find('='))))
      kept.push_back(std::move(feature));
  std::sort(kept.begin(), kept.end());
  return join(kept, "|");
}

bool is_content(const Word& word) {
  constexpr std::array<std::string_view, 29> kContent = {
      "nsubj",  "obj",        "iobj",       "csubj",  "ccomp",     "xcomp",    "obl",   "vocative",
      "expl",   "dislocated", "advcl",      "advmod", "discourse", "nmod",     "appos", "nummod",
      "acl",    "amod",       "conj",       "fixed",  "flat",      "compound", "list",  "parataxis",
      "orphan", "goeswith",   "reparandum", "root",   "dep"};
  return is_one_of(kContent, word.label);
}

bool is_function_word(const Word& word) {
  constexpr std::array<std::string_view, 7> kFunction = {"aux", "cop",  "mark", "det",
                                                         "clf", "case", "cc"};
  return is_one_of(kFunction, word.label);
}

void add_sentence(Text& text, const conllu::Sentence& sentence) {
  const std::vector<conllu::Multiword> multiwords = sentence.multiwords();
  auto multiword = multiwords.begin();
  const std::size_t first = text.words.size(), begin = text.characters.size();
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::vector<std::string> fields = sentence.fields(i);
    Word word;
    word.multiword = multiword != multiwords.end() && i >= multiword->begin;
    if (!word.multiword) {
      word.span = add_token(text, fields[conllu::kForm]);
    } else {
      word.span = i == multiword->begin ? add_token(text, multiword->form) : text.tokens.back();
      if (i + 1 == multiword->end) ++multiword;
    }
    word.form = unicode_lower_cased(fields[conllu::kForm]);
    word.lemma = fields[conllu::kLemma];
    word.upos = fields[conllu::kUpos];
    word.xpos = fields[conllu::kXpos];
    word.feats = universal_features(fields[conllu::kFeats]);
    word.label = fields[conllu::kDeprel].substr(0, fields[conllu::kDeprel].find(':'));
    word.head = head_of(sentence, i, fields[conllu::kHead], first);
    text.words.push_back(std::move(word));
  }
  for (std::size_t i = first; i < text.words.size(); ++i) {
    const Word& word = text.words[i];
    if (word.head < kMissing && is_function_word(word))
      text.words[word.head].function_words.push_back(i);
  }
  text.sentences.push_back({begin, text.characters.size()});
}

Text text_of(const std::vector<conllu::Sentence>& sentences) {
  Text text;
  for (const conllu::Sentence& sentence : sentences) add_sentence(text, sentence);
  return text;
}

void require_same(const Text& gold, const Text& system) {
  if (gold.characters == system.characters) return;
  const auto [here, there] = std::mismatch(gold.characters.begin(), gold.characters.end(),
                                           system.characters.begin(), system.characters.end());
  const auto rest = [](const std::string& text, std::string::const_iterator at) {
    std::size_t from = static_cast<std::size_t>(at - text.begin());
    while (from > 0 && from < text.size() && (text[from] & '\xC0') == '\x80') --from;
    return in_quotes(text.substr(from), 20);
  };
  throw UserError("the two files have other characters: " + rest(gold.characters, here) +
                  " in the right one is " + rest(system.characters, there) + " in the other");
}

/// Aligns the words of two texts.
class Matcher {
 public:
  Matcher(const Text& gold, const Text& system)
      : gold_(gold.words), system_(system.words), gold_of_(system.words.size(), kNoWord) {}

  /// By system word: the gold word, or kNoWord.
  std::vector<std::size_t> match() {
    while (g_ < gold_.size() && s_ < system_.size()) {
      if (gold_[g_].multiword || system_[s_].multiword) {
        match_multiwords();
      } else if (gold_[g_].span == system_[s_].span) {
        gold_of_[s_++] = g_++;
      } else {
        ++(gold_[g_].span.begin <= system_[s_].span.begin ? g_ : s_);
      }
    }
    return std::move(gold_of_);
  }

 private:
  using Words = std::vector<Word>;

  /// Aligns the words of overlapping multiword tokens, and of the tokens that they cover.
  void match_multiwords() {
    const bool gold_leads = gold_[g_].multiword;
    const Word& leader = gold_leads ? gold_[g_] : system_[s_];
    std::size_t end = leader.span.end;
    const Word& other = gold_leads ? system_[s_] : gold_[g_];
    if (!other.multiword && other.span.begin < leader.span.begin) ++(gold_leads ? s_ : g_);
    const std::size_t gold_begin = g_, system_begin = s_;
    while (!is_behind(gold_, g_, end) || !is_behind(system_, s_, end)) {
      const bool take_gold = g_ < gold_.size() && (s_ >= system_.size() ||
                                                   gold_[g_].span.begin <= system_[s_].span.begin);
      const Word& taken = take_gold ? gold_[g_++] : system_[s_++];
      if (taken.multiword) end = std::max(end, taken.span.end);
    }
    match_by_form(gold_begin, system_begin);
  }

  static bool is_behind(const Words& words, std::size_t i, std::size_t end) {
    return i >= words.size() ||
           (words[i].multiword ? words[i].span.begin >= end : words[i].span.end > end);
  }

  /// Aligns by the longest common subsequence of forms, up to the current positions.
  void match_by_form(std::size_t gold_begin, std::size_t system_begin) {
    const std::size_t rows = g_ - gold_begin, columns = s_ - system_begin;
    std::vector<std::size_t> longest((rows + 1) * (columns + 1), 0);  // of the suffixes
    const auto at = [&](std::size_t g, std::size_t s) -> std::size_t& {
      return longest.at(g * (columns + 1) + s);
    };
    const auto same = [&](std::size_t g, std::size_t s) {
      return gold_[gold_begin + g].form == system_[system_begin + s].form;
    };
    for (std::size_t g = rows; g-- > 0;) {
      for (std::size_t s = columns; s-- > 0;) {
        at(g, s) = std::max(at(g + 1, s), at(g, s + 1));
        if (same(g, s)) at(g, s) = std::max(at(g, s), at(g + 1, s + 1) + 1);
      }
    }
    for (std::size_t g = 0, s = 0; g < rows && s < columns;) {
      if (same(g, s)) {
        gold_of_[system_begin + s++] = gold_begin + g++;
      } else {
        ++(at(g, s) == at(g + 1, s) ? g : s);
      }
    }
  }

  const Words& gold_;
  const Words& system_;
  std::size_t g_ = 0, s_ = 0;
  std::vector<std::size_t> gold_of_;
};

FoundItems same_spans(const std::vector<Span>& gold, const std::vector<Span>& system) {
  std::vector<Span> both;  // both lists are sorted
  std::set_intersection(gold.begin(), gold.end(), system.begin(), system.end(),
                        std::back_inserter(both));
  return {gold.size(), system.size(), both.size()};
}

/// Compares aligned words of two texts.
class Comparison {
 public:
  /// `gold_of`: by system word, the gold word, or kNoWord.
  Comparison(const Text& gold, const Text& system, const std::vector<std::size_t>& gold_of)
      : gold_(gold.words), system_(system.words), gold_of_(gold_of) {}

  /// Counts the aligned words that `is_correct(gold, system)` accepts among those that
  /// `is_counted`.
  template <class IsCounted, class IsCorrect>
  FoundItems count(IsCounted is_counted, IsCorrect is_correct) const {
    const auto counted = [&](const std::vector<Word>& words) {
      return static_cast<std::size_t>(std::count_if(words.begin(), words.end(), is_counted));
    };
    FoundItems items{counted(gold_), counted(system_)};
    for (std::size_t s = 0; s < system_.size(); ++s) {
      if (gold_of_[s] == kNoWord || !is_counted(gold_[gold_of_[s]])) continue;
      ++items.aligned;
      items.correct += is_correct(gold_[gold_of_[s]], system_[s]);
    }
    return items;
  }

  bool same_head(const Word& gold, const Word& system) const {
    if (system.head == kMissing || gold.head == kMissing) return false;
    if (system.head == kNoWord) return gold.head == kNoWord;
    return gold_of_[system.head] != kNoWord && gold_of_[system.head] == gold.head;
  }
  bool same_arc(const Word& gold, const Word& system) const {
    return same_head(gold, system) && gold.label == system.label;
  }
  bool same_function_words(const Word& gold, const Word& system) const {
    return std::equal(
        gold.function_words.begin(), gold.function_words.end(), system.function_words.begin(),
        system.function_words.end(), [&](std::size_t g, std::size_t s) {
          return gold_of_[s] == g && gold_[g].label == system_[s].label &&
                 gold_[g].upos == system_[s].upos && gold_[g].feats == system_[s].feats;
        });
  }

 private:
  const std::vector<Word>& gold_;
  const std::vector<Word>& system_;
  const std::vector<std::size_t>& gold_of_;
};

}  // namespace

double FoundItems::f1() const {
  return gold + system == 0
             ? 0.0
             : 2.0 * static_cast<double>(correct) / static_cast<double>(gold + system);
}

Conll18Scores conll18_scores(const std::vector<conllu::Sentence>& gold_sentences,
                             const std::vector<conllu::Sentence>& system_sentences) {
  const Text gold = text_of(gold_sentences), system = text_of(system_sentences);
  require_same(gold, system);
  const std::vector<std::size_t> gold_of = Matcher(gold, system).match();

  const Comparison words(gold, system, gold_of);
  const auto all = [](const Word&) { return true; };
  const auto same_lemma = [](const Word& g, const Word& s) {
    return g.lemma == "_" || g.lemma == s.lemma;
  };
  using W = const Word&;

  Conll18Scores scores;
  scores.tokens = same_spans(gold.tokens, system.tokens);
  scores.sentences = same_spans(gold.sentences, system.sentences);
  scores.words = words.count(all, [](W, W) { return true; });
  scores.upos = words.count(all, [](W g, W s) { return g.upos == s.upos; });
  scores.xpos = words.count(all, [](W g, W s) { return g.xpos == s.xpos; });
  scores.ufeats = words.count(all, [](W g, W s) { return g.feats == s.feats; });
  scores.all_tags = words.count(
      all, [](W g, W s) { return g.upos == s.upos && g.xpos == s.xpos && g.feats == s.feats; });
  scores.lemmas = words.count(all, same_lemma);
  scores.uas = words.count(all, [&](W g, W s) { return words.same_head(g, s); });
  scores.las = words.count(all, [&](W g, W s) { return words.same_arc(g, s); });
  scores.clas = words.count(is_content, [&](W g, W s) { return words.same_arc(g, s); });
  scores.mlas = words.count(is_content, [&](W g, W s) {
    return words.same_arc(g, s) && g.upos == s.upos && g.feats == s.feats &&
           words.same_function_words(g, s);
  });
  scores.blex =
      words.count(is_content, [&](W g, W s) { return words.same_arc(g, s) && same_lemma(g, s); });
  return scores;
}

std::vector<std::pair<std::string, FoundItems>> Conll18Scores::named() const {
  return {{"Tokens", tokens},    {"Sentences", sentences}, {"Words", words},
          {"UPOS", upos},        {"XPOS", xpos},           {"UFeats", ufeats},
          {"AllTags", all_tags}, {"Lemmas", lemmas},       {"UAS", uas},
          {"LAS", las},          {"CLAS", clas},           {"MLAS", mlas},
          {"BLEX", blex}};
}

void print(const Conll18Scores& scores, std::ostream& out) {
  out << "           precision     recall         F1    aligned\n";
  for (const auto& [name, items] : scores.named()) {
    const auto cell = [&out, correct = items.correct](std::size_t of) {
      out << padded(percent(Ratio{correct, of}.value()), 11);
    };
    out << name << std::string(9 - name.size(), ' ');
    cell(items.system);
    cell(items.gold);
    out << padded(percent(items.f1()), 11);
    if (items.aligned > 0) cell(items.aligned);
    out << '\n';
  }
}

}  // namespace nlp
