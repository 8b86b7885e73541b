// The readers of the tagger: every format, and a clear message for every kind of wrong line.

#include "examples/nlp/tagger/corpus.h"

#include <sstream>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
#include "examples/nlp/tagger/pipe.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

namespace corpus_test {

using namespace nlp;
using namespace tagger;

namespace {

using Words = std::vector<std::string>;

ReadResult read(const std::string& text, Format format = Format::kAuto,
                const std::string& column = "") {
  std::istringstream in(text);
  return read_corpus(in, "data.txt", {format, column});
}

std::string error_of(const std::string& text, Format format = Format::kAuto,
                     const std::string& column = "") {
  return error_from([&] { read(text, format, column); });
}

const char* const kConllu =
    "# sent_id = 1\n"
    "# text = don't go\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "2.1\tplease\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    "\n"
    "# sent_id = 2\n"
    "1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_\n"
    "\n";

}  // namespace

TEST_CASE("CoNLL-U: words and tags, without comments, ranges and empty nodes") {
  const ReadResult result = read(kConllu);
  CHECK(result.format == Format::kConllu);
  REQUIRE(result.corpus.size() == 2);
  CHECK(result.corpus[0].words == Words{"do", "n't", "go"});
  CHECK(result.corpus[0].tags == Words{"AUX", "PART", "VERB"});
  CHECK(result.corpus[1].words == Words{"No"});
  CHECK(count_words(result.corpus) == 4);
}

TEST_CASE("CoNLL-U: the column goes by name or number") {
  CHECK(read(kConllu, Format::kAuto, "XPOS").corpus[0].tags == Words{"VBP", "RB", "VB"});
  CHECK(read(kConllu, Format::kAuto, "xpos").corpus[0].tags == Words{"VBP", "RB", "VB"});
  CHECK(read(kConllu, Format::kAuto, "8").corpus[0].tags == Words{"aux", "advmod", "root"});
  CHECK(
      error_of(kConllu, Format::kAuto, "POS") ==
      "a CoNLL-U file has no column 'POS': expected a number from 1 to 10 or one of ID FORM LEMMA "
      "UPOS XPOS FEATS HEAD DEPREL DEPS MISC");
  CHECK(contains(error_of(kConllu, Format::kAuto, "11"), "from 0 to 10"));
  CHECK(contains(error_of(kConllu, Format::kAuto, "0"), "no column '0'"));
}

TEST_CASE("CoNLL-U: wrong lines") {
  CHECK(error_of("1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n2\tnow\tADV\n") ==
        "data.txt:2: expected the 10 tab-separated columns of CoNLL-U, found 3 in '2\\tnow\\tADV'");
  CHECK(error_of("x\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n", Format::kConllu) ==
        "data.txt:1: expected a word number such as 8, 8-9 or 8.1 in the first column, found 'x'");
  CHECK(error_of("# text = go\n1\tgo\tgo\t\tVB\t_\t0\troot\t_\t_\n") ==
        "data.txt:2: the tag (column 4, UPOS) is empty");
  CHECK(error_of("1\t\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n") ==
        "data.txt:1: the word (column 2, FORM) is empty");
}

TEST_CASE("word|TAG: the tag follows the last bar") {
  const ReadResult result = read("The|DET  cat|NOUN\t.|PUNCT\n\na|b|X\n");
  CHECK(result.format == Format::kPipe);
  REQUIRE(result.corpus.size() == 2);
  CHECK(result.corpus[0].words == Words{"The", "cat", "."});
  CHECK(result.corpus[1].words == Words{"a|b"});
  CHECK(result.corpus[1].tags == Words{"X"});
}

TEST_CASE("word|TAG: a tag with bars comes back as it was") {
  const std::vector<TaggedWord> all = {{"dog", "Number=Sing|Case=Nom"},
                                       {"a|b", "X|Y"},
                                       {"\\", "SYM"},
                                       {"|", "PUNCT"},
                                       {"x\\y", "\\"},
                                       {"x", "|"},
                                       {"\\|", "A|B"}};
  for (const TaggedWord& tagged : all) CHECK(from_pipe(to_pipe(tagged)) == tagged);
  CHECK(to_pipe(all[0]) == "dog|Number=Sing\\|Case=Nom");
  CHECK(read("dog|N\\|S").corpus[0].tags == Words{"N|S"});
  // Words and tags that this form cannot hold throw.
  for (const TaggedWord& tagged :
       std::vector<TaggedWord>{{"a b", "X"}, {"a", "X Y"}, {"a\\", "X|Y"}, {"a|b\\", "X"}})
    CHECK(contains(error_from([&] { to_pipe(tagged); }), "--format columns or json can"));
}

TEST_CASE("word|TAG: wrong lines") {
  CHECK(error_of("The|DET cat|NOUN\nsat\n") == "data.txt:2: expected word|TAG, found 'sat'");
  CHECK(error_of("The|DET\n\ncat|\n") == "data.txt:3: expected word|TAG, found 'cat|'");
  CHECK(error_of("The|DET\n|NOUN\n") == "data.txt:2: expected word|TAG, found '|NOUN'");
  CHECK(contains(error_of("The|DET\n", Format::kPipe, "2"), "--column means nothing"));
}

TEST_CASE("Columns: tabs or spaces, separators that are not quite empty, any column") {
  const ReadResult result = read("New\tB-LOC\nYork\tI-LOC\n\t\n.\tO\n");
  CHECK(result.format == Format::kColumns);
  REQUIRE(result.corpus.size() == 2);
  CHECK(result.corpus[0].words == Words{"New", "York"});
  CHECK(result.corpus[0].tags == Words{"B-LOC", "I-LOC"});

  const std::string four =
      "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\r\n\r\n#1 X X O\n";
  CHECK(read(four).corpus[0].words == Words{"EU", "rejects"});
  CHECK(read(four).corpus[0].tags == Words{"B-ORG", "O"});
  CHECK(read(four).corpus[1].words == Words{"#1"});
  CHECK(read(four, Format::kAuto, "2").corpus[0].tags == Words{"NNP", "VBZ"});
}

TEST_CASE("Columns: all lines have the same number of columns") {
  CHECK(error_of("New X B-LOC\nYork X I-LOC\n\nis O\n", Format::kColumns) ==
        "data.txt:4: expected 3 columns as in line 1, found 2 in 'is O'");
  CHECK(error_of("New X\nYork X I-LOC\n", Format::kColumns) ==
        "data.txt:2: expected 2 columns as in line 1, found 3 in 'York X I-LOC'");
}

TEST_CASE("a sentence that is too long is refused with its place") {
  std::string text = "a X\n\n";
  for (std::size_t i = 0; i <= kMostWords; ++i) text += "b X\n";
  CHECK(error_of(text, Format::kColumns) ==
        "data.txt:3: a sentence of 10,001 words begins here: expected 10,000 at most (is it "
        "several?)");
}

TEST_CASE("Columns: wrong lines") {
  CHECK(error_of("New B-LOC\nYork\n") ==
        "data.txt:2: expected a word and its tag in at least 2 columns, found 1 in 'York'");
  CHECK(error_of("New B-LOC\n", Format::kColumns, "3") ==
        "data.txt:1: expected a word and its tag in at least 3 columns, found 2 in 'New B-LOC'");
  CHECK(error_of("New\tB-LOC\nYork\t\n", Format::kColumns) ==
        "data.txt:2: the tag (column 2) is empty");
  CHECK(contains(error_of("a b\n", Format::kColumns, "UPOS"), "no column 'UPOS'"));
}

TEST_CASE("Verses: the reference is no part of the text") {
  const ReadResult result = read("Ge1:1 In the beginning.\n1Sm17:4 And he, too\n");
  CHECK(result.format == Format::kBible);
  REQUIRE(result.corpus.size() == 2);
  CHECK(result.corpus[0].words == Words{"in", "the", "beginning"});
  CHECK(result.corpus[0].tags == Words{"Title", "lower", "lower."});
  CHECK(result.corpus[1].name == "1Sm17:4 ");
  CHECK(error_of("Ge1:1 In the beginning.\nGenesis 2\n") ==
        "data.txt:2: expected a verse such as 'Ge1:1 In the beginning ...', found 'Genesis 2'");
  CHECK(error_of("Ge1:1 ...\n") == "data.txt:1: expected words, found 'Ge1:1 ...'");
}

TEST_CASE("Any text can be read as running text") {
  const ReadResult result = read("Hello, world!\n\n1 more\n", Format::kText);
  REQUIRE(result.corpus.size() == 2);
  CHECK(result.corpus[0].tags == Words{"Title,", "lower!"});
}

TEST_CASE("Parallel files: a folder with two of them, or their names") {
  const TemporaryFolder folder;
  const std::string words = folder.write("seq.in", "play a song\n\ngo\n");
  const std::string tags = folder.write("seq.out", "O B-x I-x\n\nO\n");
  const std::string root = folder.path("");
  const auto read_both = [](const std::string& path) {
    return read_corpus(path, {Format::kParallel, ""});
  };
  for (const std::string& path : {root, words + "," + tags}) {
    const ReadResult result = read_both(path);
    CHECK(result.format == Format::kParallel);
    REQUIRE(result.corpus.size() == 2);
    CHECK(result.corpus[0].words == Words{"play", "a", "song"});
    CHECK(result.corpus[0].tags == Words{"O", "B-x", "I-x"});
    CHECK(result.corpus[1].line == 3);
  }
  const auto error = [&](const std::string& path) { return error_from([&] { read_both(path); }); };
  CHECK(contains(error(words), "takes a folder with seq.in and seq.out, or two files"));
  CHECK(contains(error(words + "," + folder.path("none")), "cannot open"));
  const std::string fewer = folder.write("fewer", "O B-x I-x\n\nO O\n");
  CHECK(contains(error(words + "," + fewer),
                 "fewer:3: expected 1 tags, as the line has words in " + words + ", found 2"));
  const std::string shorter = folder.write("shorter", "O B-x I-x\n");
  CHECK(contains(error(words + "," + shorter), "seq.in has 3 lines, "));
  CHECK(contains(error_from([&] {
                   read_corpus(root, {Format::kParallel, "2"});
                 }),
                 "--column means nothing for parallel files"));
  const std::string empty = folder.write("empty", "\n");
  CHECK(contains(error(empty + "," + empty), "holds no sentence"));
}

TEST_CASE("Files that are no corpus") {
  CHECK(error_of("") == "data.txt holds no sentence");
  CHECK(error_of("\n \n") == "data.txt holds no sentence");
  CHECK(error_of("# text = nothing\n\n") == "data.txt:1: expected words behind the comments");
  CHECK(contains(error_of("Just some prose, and nothing else.\nMore of it here.\n"),
                 "data.txt:1: cannot tell the format from 'Just some prose"));
  CHECK(contains(error_of("Two words\nOne\nAnother\n"), "data.txt:1: cannot tell the format"));
  CHECK(error_of(std::string("a|B\nx\0y|B\n", 9)) ==
        "data.txt:2: expected text, found a zero byte (a binary file?)");
  CHECK(error_from([] { read_corpus("/nowhere/at/all"); }) ==
        "cannot open /nowhere/at/all: No such file or directory");
  CHECK(error_from([] { read_corpus("/"); }) == "cannot read /: is it a directory?");
  CHECK(contains(error_from([] { format_from_name("xml"); }), "unknown format 'xml'"));
}

TEST_CASE("A byte order mark and a missing last line end do no harm") {
  const ReadResult result = read("\xEF\xBB\xBFThe|DET cat|NOUN");
  CHECK(result.corpus[0].words == Words{"The", "cat"});
}

TEST_CASE("The real data sets are read whole") {
  const std::string data = data_folder("ud-ewt, wnut17 and wikigold");
  if (data.empty()) return;
  const std::string folder = data;
  const auto check = [&](const std::string& file, Format format, std::size_t sentences,
                         std::size_t words) {
    INFO(file);
    const ReadResult result = read_corpus(folder + file);
    CHECK(result.format == format);
    CHECK(result.corpus.size() == sentences);
    CHECK(count_words(result.corpus) == words);
  };
  check("/ud-ewt/train.conllu", Format::kConllu, 12544, 204577);
  check("/ud-ewt/test.conllu", Format::kConllu, 2077, 25094);
  check("/wnut17/train.conll", Format::kColumns, 3394, 62730);
  check("/wnut17/test.conll", Format::kColumns, 1287, 23394);
  check("/wikigold/wikigold.txt", Format::kPipe, 1696, 39007);
}

}  // namespace corpus_test
