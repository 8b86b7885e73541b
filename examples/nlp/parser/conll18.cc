#include "examples/nlp/parser/conll18.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dynet-like/base/utf8.h"
#include "examples/nlp/common/score.h"
#include "examples/nlp/common/text.h"

namespace parser {

using namespace nlp;

namespace {

constexpr std::size_t kNoWord = static_cast<std::size_t>(-1);

/// Range of bytes in a text.
struct Span {
  std::size_t begin = 0, end = 0;
  auto operator<=>(const Span&) const = default;
};

struct Word {
  Span span;  ///< of the multiword token that contains it, if any
  bool multiword = false;
  std::string form, upos, xpos, label;
  std::size_t head = kNoWord;  ///< index among all words; kNoWord for the root
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
  const bool digits = !head.empty() && std::all_of(head.begin(), head.end(), is_digit);
  if (!digits || head.size() > 9 || std::stoul(head) > sentence.size()) {
    sentence.refuse(word, "expected a word number from 0 to " + std::to_string(sentence.size()) +
                              " in column 7, HEAD, found " + in_quotes(head));
  }
  const std::size_t number = std::stoul(head);
  return number == 0 ? kNoWord : first + number - 1;
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
    word.form = lower_cased(fields[conllu::kForm]);
    word.upos = fields[conllu::kUpos];
    word.xpos = fields[conllu::kXpos];
    word.label = fields[conllu::kDeprel].substr(0, fields[conllu::kDeprel].find(':'));
    word.head = head_of(sentence, i, fields[conllu::kHead], first);
    text.words.push_back(std::move(word));
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
      return longest[g * (columns + 1) + s];
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

bool is_content(const Word& word) {
  constexpr std::array<std::string_view, 28> kContent = {
      "nsubj",    "obj",    "iobj",       "csubj",  "ccomp",    "xcomp",      "obl",
      "vocative", "expl",   "dislocated", "advcl",  "advmod",   "discourse",  "nmod",
      "appos",    "nummod", "acl",        "amod",   "conj",     "fixed",      "flat",
      "compound", "list",   "parataxis",  "orphan", "goeswith", "reparandum", "root"};
  return word.label == "dep" ||
         std::find(kContent.begin(), kContent.end(), word.label) != kContent.end();
}

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

  Conll18Scores scores;
  scores.tokens = same_spans(gold.tokens, system.tokens);
  scores.sentences = same_spans(gold.sentences, system.sentences);
  scores.words = {gold.words.size(), system.words.size(), 0};
  scores.upos = scores.xpos = scores.uas = scores.las = scores.words;
  const auto contents = [](const Text& text) {
    const auto count = std::count_if(text.words.begin(), text.words.end(), is_content);
    return static_cast<std::size_t>(count);
  };
  scores.clas = {contents(gold), contents(system), 0};
  for (std::size_t s = 0; s < gold_of.size(); ++s) {
    if (gold_of[s] == kNoWord) continue;
    const Word& found = system.words[s];
    const Word& right = gold.words[gold_of[s]];
    const bool root = found.head == kNoWord;
    const bool head = root ? right.head == kNoWord
                           : gold_of[found.head] != kNoWord && gold_of[found.head] == right.head;
    const bool arc = head && found.label == right.label;
    ++scores.words.correct;
    scores.upos.correct += found.upos == right.upos;
    scores.xpos.correct += found.xpos == right.xpos;
    scores.uas.correct += head;
    scores.las.correct += arc;
    scores.clas.correct += arc && is_content(right);
  }
  return scores;
}

void print(const Conll18Scores& scores, std::ostream& out) {
  out << "           precision     recall         F1\n";
  const auto row = [&](const char* name, const FoundItems& items) {
    const auto cell = [](std::size_t correct, std::size_t of) {
      return padded(percent(Ratio{correct, of}.value()), 11);
    };
    out << name << cell(items.correct, items.system) << cell(items.correct, items.gold)
        << padded(percent(items.f1()), 11) << '\n';
  };
  row("tokens   ", scores.tokens);
  row("sentences", scores.sentences);
  row("words    ", scores.words);
  row("UPOS     ", scores.upos);
  row("XPOS     ", scores.xpos);
  row("UAS      ", scores.uas);
  row("LAS      ", scores.las);
  row("CLAS     ", scores.clas);
}

}  // namespace parser
