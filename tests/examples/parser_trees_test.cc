// The parser's reader and writer of CoNLL-U, its transitions and its oracle.

#include "examples/nlp/parser/conllu.h"
#include "examples/nlp/parser/evaluate.h"
#include "examples/nlp/parser/transitions.h"
#include "tests/examples/helpers.h"
#include "tests/support/all_trees.h"

namespace parser_trees_test {

using namespace parser;

using Heads = std::vector<unsigned>;

/// Lines with ':' in place of tabs.
Treebank read(const std::string& text, Trees trees = Trees::kRead) {
  Strings lines = split_fields(text, '\n');
  for (std::string& line : lines) std::replace(line.begin(), line.end(), ':', '\t');
  return parse_conllu(lines, "data.conllu", trees);
}

std::string error_of(const std::string& text, Trees trees = Trees::kRead) {
  return error_from([&] { read(text, trees); });
}

std::string line(unsigned id, const std::string& head, const std::string& label = "dep") {
  return std::to_string(id) + ":w:_:X:_:_:" + head + ":" + label + ":_:_\n";
}

/// Whether it is one of the trees that trying all heads finds, which come in lexicographic order.
bool is_projective_tree(const Heads& heads) {
  static std::map<std::size_t, std::vector<Heads>> all;
  std::vector<Heads>& trees = all[heads.size()];
  const auto words = static_cast<unsigned>(heads.size());
  if (trees.empty()) trees = dynet::test::all_trees(words, {.projective = true});
  return std::binary_search(trees.begin(), trees.end(), heads);
}

/// The oracle's moves are allowed, two for each word, and build the heads and labels.
void check_round_trip(const Heads& heads) {
  std::vector<unsigned> labels;
  for (unsigned i = 0; i < heads.size(); ++i) labels.push_back(10 + i);
  State state(heads.size());
  const std::vector<Move> moves = oracle(heads, labels);
  REQUIRE(moves.size() == 2 * heads.size());
  for (const Move& move : moves) {
    REQUIRE_FALSE(state.finished());
    REQUIRE(state.allows(move.action));
    state.take(move);
  }
  CHECK(state.finished());
  CHECK(state.heads() == heads);
  CHECK(state.labels() == labels);
}

TEST_CASE("Parser: reads words, tags and trees, and writes other trees") {
  const std::string text =
      "# sent_id = 1\n"
      "1-2:Don't:_:_:_:_:_:_:_:_\n"
      "1:Do:do:AUX:VBP:_:3:aux:_:_\n"
      "2:n't:not:PART:RB:_:3:advmod:_:x=y\n"
      "2.1:it:_:_:_:_:_:_:3,obj:_\n"
      "3:go:go:VERB:VB:_:0:root:_:_\n"
      "\n\n"
      "1:Go:go:VERB:VB:_:0:root:_:_";
  const Treebank sentences = read(text);
  REQUIRE(sentences.size() == 2);
  CHECK(count_words(sentences) == 4);
  CHECK(sentences[0].words == Strings{"Do", "n't", "go"});
  CHECK(sentences[0].tags == Strings{"AUX", "PART", "VERB"});
  CHECK(sentences[0].tree.heads == Heads{3, 3, 0});
  CHECK(sentences[0].tree.labels == Strings{"aux", "advmod", "root"});
  CHECK(sentences[1].words == Strings{"Go"});

  CHECK(lines_with(sentences[0], sentences[0].tree) == sentences[0].rows.lines());
  const Strings lines = lines_with(sentences[0], {{0, 1, 2}, {"a", "b", "c"}});
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "# sent_id = 1");
  CHECK(lines[1] == "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_");
  CHECK(lines[3] == "2\tn't\tnot\tPART\tRB\t_\t1\tb\t_\tx=y");
  CHECK(lines[5] == "3\tgo\tgo\tVERB\tVB\t_\t2\tc\t_\t_");

  const Treebank bare = read("1:Go:_:VERB:_:_:_:_:_:_\n2:on:_:ADP:_:_:?::_:_\n", Trees::kIgnored);
  CHECK(bare[0].words == Strings{"Go", "on"});
  CHECK(bare[0].tree.heads.empty());
  CHECK(bare[0].tree.labels.empty());
}

TEST_CASE("Parser: a sentence that is no tree of words is refused with its line") {
  const auto place = [](unsigned number) { return "data.conllu:" + std::to_string(number) + ": "; };
  CHECK(error_of("1:w:_\n") ==
        place(1) + "expected the 10 tab-separated columns of CoNLL-U, found 3 in '1\\tw\\t_'");
  CHECK(error_of("\n" + line(1, "0") + line(3, "1")) ==
        place(3) + "expected word number 2 in the first column, found '3'");
  CHECK(contains(error_of("1-:w:_:X:_:_:0:d:_:_\n"), "expected a word number such as 8"));
  CHECK(error_of("1::_:X:_:_:0:d:_:_\n") == place(1) + "the word (column 2, FORM) is empty");
  CHECK(error_of("1:w:_::_:_:0:d:_:_\n") == place(1) + "the tag (column 4, UPOS) is empty");
  CHECK(error_of(line(1, "0", "")) == place(1) + "the label (column 8, DEPREL) is empty");
  CHECK(error_of(line(1, "0") + "\n# lonely\n\n") ==
        place(3) + "expected words behind the comments");
  for (const std::string wrong : {"_", "3", "-1", "", "1x", "99999999999999999999"}) {
    CHECK(error_of("# x\n" + line(1, "0") + line(2, wrong)) ==
          place(3) + "expected a word number from 0 to 2 in column 7, HEAD, found '" + wrong + "'");
  }
  CHECK(error_of(line(1, "0") + line(2, "1") + line(3, "0") + "\n") ==
        place(3) + "a second word with HEAD 0: expected one root");
  CHECK(error_of(line(1, "2") + line(2, "1")) ==
        place(1) + "the heads of this word run in a circle");
  CHECK(error_of("# a\n# b\n" + line(1, "0") + line(2, "1") + line(3, "3")) ==
        place(5) + "the heads of this word run in a circle");
}

TEST_CASE("Parser: every tree of up to five words, its projective form, and the oracle") {
  std::size_t trees = 0, changed = 0;
  for (unsigned words = 1; words <= 5; ++words) {
    for (const Heads& heads : dynet::test::all_trees(words, {.projective = false})) {
      ++trees;
      CAPTURE(heads);
      const bool good = is_projective_tree(heads);
      CHECK(is_projective(heads) == good);
      const Heads lifted = projective(heads);
      CHECK(is_projective_tree(lifted));
      CHECK((lifted == heads) == good);
      for (std::size_t i = 0; i < words; ++i) CHECK((lifted[i] == 0) == (heads[i] == 0));
      changed += lifted != heads;
      check_round_trip(lifted);
    }
  }
  CHECK(trees == 1 + 2 + 9 + 64 + 625);
  CHECK(changed > 0);
}

TEST_CASE("Parser: the shortest crossing arc is lifted, no further than it must") {
  // "A hearing is scheduled on the issue today": "on" belongs to "hearing", across the verb.
  const Heads heads = {2, 4, 4, 0, 2, 7, 5, 4};
  CHECK_FALSE(is_projective(heads));
  CHECK(projective(heads) == Heads{2, 4, 4, 0, 4, 7, 5, 4});
  // The arc from 1 to 3 is lifted before that from 4 to 1, and then need not be lifted again.
  CHECK(projective({4, 0, 1, 2}) == Heads{2, 0, 4, 2});
  CHECK(projective({3, 0, 2, 1}) == Heads{2, 0, 2, 2});
  // Two steps up.
  CHECK(projective({0, 1, 2, 1, 3}) == Heads{0, 1, 2, 1, 1});
}

TEST_CASE("Parser: some move is always allowed, and any way ends in a tree") {
  Dice dice(1);
  for (unsigned run = 0; run < 300; ++run) {
    const unsigned words = run % 7;
    State state(words);
    unsigned moves = 0;
    while (!state.finished()) {
      std::vector<Action> allowed;
      for (const Action action : {Action::kShift, Action::kLeft, Action::kRight}) {
        if (state.allows(action)) allowed.push_back(action);
      }
      REQUIRE_FALSE(allowed.empty());
      state.take({dice.one_of(allowed), moves});
      ++moves;
    }
    CHECK(moves == 2 * words);
    if (words == 0) continue;
    CHECK(is_projective_tree(state.heads()));
  }
}

TEST_CASE("Parser: moves have numbers of their own") {
  std::vector<unsigned> numbers = {Move{Action::kShift, 2}.number()};
  for (unsigned label = 0; label < 3; ++label) {
    numbers.push_back(Move{Action::kLeft, label}.number());
    numbers.push_back(Move{Action::kRight, label}.number());
  }
  CHECK(numbers == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6});
  CHECK(count_moves(3) == numbers.size());
}

TEST_CASE("Parser: scores, with and without punctuation, and the trivial parser") {
  const std::string sentence =
      "1:a:_:DET:_:_:2:det:_:_\n2:b:_:NOUN:_:_:3:nsubj:_:_\n3:c:_:VERB:_:_:0:root:_:_\n"
      "4:.:_:PUNCT:_:_:3:punct:_:_\n\n";
  const std::string odd = "1:b:_:NOUN:_:_:0:root:_:_\n2:.:_:PUNCT:_:_:1:punct:_:_\n\n";
  const Treebank train = read(sentence + sentence + odd);
  const Baseline baseline(train);
  CHECK(baseline.parse(train[0]).heads == Heads{2, 3, 0, 3});
  CHECK(baseline.parse(train[0]).labels == train[0].tree.labels);
  const Treebank other =
      read("1:x:_:NOUN:_:_:0:r:_:_\n2:y:_:NEW:_:_:1:d:_:_\n3:z:_:DET:_:_:1:d:_:_\n");
  CHECK(baseline.parse(other[0]).heads == Heads{2, 0, 0});
  CHECK(baseline.parse(other[0]).labels == Strings{"nsubj", "", "det"});

  Report report;
  report.name = "some";
  report.add(train[0], {{2, 1, 0, 3}, {"det", "nsubj", "dep", "punct"}}, baseline);
  report.add(train[2], {{0, 1}, {"root", "punct"}}, baseline);
  std::ostringstream out;
  report.print(out);
  CHECK(out.str() ==
        "some: 2 sentences, 6 words, 4 without punctuation\n"
        "                           all words        no punctuation\n"
        "                      UAS        LAS        UAS        LAS\n"
        "  parser          83.33 %    66.67 %    75.00 %    50.00 %\n"
        "  by tag alone    83.33 %    83.33 %    75.00 %    75.00 %\n");
}

TEST_CASE("Parser: the trees of English-EWT come out of the oracle as they went in") {
  const std::string data = data_folder("ud-ewt");
  if (data.empty()) return;
  const Treebank sentences = read_conllu(data + "/ud-ewt/dev.conllu", Trees::kRead);
  CHECK(sentences.size() == 2001);
  CHECK(count_words(sentences) == 25147);
  std::size_t lifted_trees = 0, lifted_arcs = 0;
  for (const Sentence& sentence : sentences) {
    const Heads heads = projective(sentence.tree.heads);
    check_round_trip(heads);
    lifted_trees += heads != sentence.tree.heads;
    for (std::size_t i = 0; i < heads.size(); ++i)
      lifted_arcs += heads[i] != sentence.tree.heads[i];
  }
  CHECK(lifted_trees == 31);
  CHECK(lifted_arcs >= 31);
  CHECK(lifted_arcs < 60);
}

}  // namespace parser_trees_test
