// The readers of the tagger: every format, and a clear message for every kind of wrong line.

#include "examples/nlp/tagger/corpus.h"

#include "examples/nlp/tagger/pipe.h"
#include "tests/examples/helpers.h"

namespace corpus_test {

using namespace nlp;
using namespace tagger;

ReadResult read(const std::string& text, Format format = Format::kAuto,
                const std::string& column = "") {
  std::istringstream in(text);
  return read_corpus(in, "data.txt", {format, column});
}

/// The format, then "word/TAG" of all words, with names of sentences and ';' behind them.
std::string shown(const ReadResult& result) {
  std::string text = std::string(format_name(result.format)) + ":";
  for (const Sentence& sentence : result.corpus) {
    REQUIRE(sentence.words.size() == sentence.tags.size());
    text += sentence.name.empty() ? "" : " " + sentence.name;
    for (std::size_t i = 0; i < sentence.words.size(); ++i)
      text += " " + sentence.words[i] + "/" + sentence.tags[i];
    text += ";";
  }
  return text;
}

/// A text that is read as a format and a column, and the error.
struct Refusal {
  std::string text, error;
  Format format = Format::kAuto;
  std::string column = "";
};

void check(const std::vector<Refusal>& refusals) {
  for (const auto& [text, error, format, column] : refusals) {
    INFO(text.substr(0, 100));
    CHECK(error_from([&, f = format, c = column, t = text] { read(t, f, c); }) == error);
  }
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

const std::string kColumnsOfConllu =
    ": expected a number from 1 to 10 or one of ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS "
    "MISC";

TEST_CASE("CoNLL-U: words and tags, without comments, ranges and empty nodes") {
  CHECK(shown(read(kConllu)) == "conllu: do/AUX n't/PART go/VERB; No/INTJ;");
  CHECK(count_words(read(kConllu).corpus) == 4);
}

TEST_CASE("CoNLL-U: the column goes by name or number") {
  for (const std::string column : {"XPOS", "xpos"})
    CHECK(shown(read(kConllu, Format::kAuto, column)) == "conllu: do/VBP n't/RB go/VB; No/UH;");
  CHECK(shown(read(kConllu, Format::kAuto, "8")) == "conllu: do/aux n't/advmod go/root; No/root;");
  const std::string none = "a CoNLL-U file has no column '";
  check({{kConllu, none + "POS'" + kColumnsOfConllu, Format::kAuto, "POS"},
         {kConllu, "--column must be a whole number from 0 to 10, not '11'", Format::kAuto, "11"},
         {kConllu, none + "0'" + kColumnsOfConllu, Format::kAuto, "0"}});
}

TEST_CASE("CoNLL-U: wrong lines") {
  check(
      {{"1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n2\tnow\tADV\n",
        "data.txt:2: expected the 10 tab-separated columns of CoNLL-U, found 3 in "
        "'2\\tnow\\tADV'"},
       {"x\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n",
        "data.txt:1: expected a word number such as 8, 8-9 or 8.1 in the first column, found 'x'",
        Format::kConllu},
       {"# text = go\n1\tgo\tgo\t\tVB\t_\t0\troot\t_\t_\n",
        "data.txt:2: the tag (column 4, UPOS) is empty"},
       {"1\t\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n", "data.txt:1: the word (column 2, FORM) is empty"},
       {"# text = nothing\n\n", "data.txt:1: expected words behind the comments"}});
}

TEST_CASE("word|TAG: the tag follows the last bar") {
  CHECK(shown(read("The|DET  cat|NOUN\t.|PUNCT\n\na|b|X\n")) ==
        "pipe: The/DET cat/NOUN ./PUNCT; a|b/X;");
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
  CHECK(shown(read("dog|N\\|S")) == "pipe: dog/N|S;");
  // Words and tags that this form cannot hold throw.
  for (const TaggedWord& tagged :
       std::vector<TaggedWord>{{"a b", "X"}, {"a", "X Y"}, {"a\\", "X|Y"}, {"a|b\\", "X"}})
    CHECK(contains(error_from([&] { to_pipe(tagged); }), "--format columns or json can"));
}

TEST_CASE("word|TAG: wrong lines") {
  check({{"The|DET cat|NOUN\nsat\n", "data.txt:2: expected word|TAG, found 'sat'"},
         {"The|DET\n\ncat|\n", "data.txt:3: expected word|TAG, found 'cat|'"},
         {"The|DET\n|NOUN\n", "data.txt:2: expected word|TAG, found '|NOUN'"},
         {"The|DET\n", "--column means nothing for word|TAG lines: the tag follows the last '|'",
          Format::kPipe, "2"}});
}

TEST_CASE("Columns: tabs or spaces, separators that are not quite empty, any column") {
  CHECK(shown(read("New\tB-LOC\nYork\tI-LOC\n\t\n.\tO\n")) ==
        "columns: New/B-LOC York/I-LOC; ./O;");
  const std::string four =
      "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\r\n\r\n#1 X X O\n";
  CHECK(shown(read(four)) == "columns: EU/B-ORG rejects/O; #1/O;");
  CHECK(shown(read(four, Format::kAuto, "2")) == "columns: EU/NNP rejects/VBZ; #1/X;");
}

TEST_CASE("Columns: wrong lines") {
  std::string many = "a X\n\n";
  for (std::size_t i = 0; i <= kMostWords; ++i) many += "b X\n";
  check(
      {{"New B-LOC\nYork\n",
        "data.txt:2: expected a word and its tag in at least 2 columns, found 1 in 'York'"},
       {"New B-LOC\n",
        "data.txt:1: expected a word and its tag in at least 3 columns, found 2 in 'New B-LOC'",
        Format::kColumns, "3"},
       {"New\tB-LOC\nYork\t\n", "data.txt:2: the tag (column 2) is empty", Format::kColumns},
       {"New X B-LOC\nYork X I-LOC\n\nis O\n",
        "data.txt:4: expected 3 columns as in line 1, found 2 in 'is O'", Format::kColumns},
       {"New X\nYork X I-LOC\n",
        "data.txt:2: expected 2 columns as in line 1, found 3 in 'York X I-LOC'", Format::kColumns},
       {"a b\n", "a column file has no column 'UPOS': expected a number from 1", Format::kColumns,
        "UPOS"},
       {many,
        "data.txt:3: a sentence of 10,001 words begins here: expected 10,000 at most (is it "
        "several?)",
        Format::kColumns}});
}

TEST_CASE("Verses: the reference is no part of the text") {
  CHECK(shown(read("Ge1:1 In the beginning.\n1Sm17:4 And he, too\n")) ==
        "bible: Ge1:1  in/Title the/lower beginning/lower.; 1Sm17:4  and/Title he/lower, "
        "too/lower;");
  check({{"Ge1:1 In the beginning.\nGenesis 2\n",
          "data.txt:2: expected a verse such as 'Ge1:1 In the beginning ...', found 'Genesis 2'"},
         {"Ge1:1 ...\n", "data.txt:1: expected words, found 'Ge1:1 ...'"}});
}

TEST_CASE("Any text can be read as running text") {
  CHECK(shown(read("Hello, world!\n\n1 more\n", Format::kText)) ==
        "text: hello/Title, world/lower!; 1/lower more/lower;");
}

TEST_CASE("Parallel files: a folder with two of them, or their names") {
  const TemporaryFolder folder;
  const std::string words = folder.write("seq.in", "play a song\n\ngo\n");
  const std::string tags = folder.write("seq.out", "O B-x I-x\n\nO\n");
  const std::string root = folder.path("");
  const auto read_both = [](const std::string& path, const std::string& column = "") {
    return read_corpus(path, {Format::kParallel, column});
  };
  for (const std::string& path : {root, words + "," + tags}) {
    CHECK(shown(read_both(path)) == "parallel: play/O a/B-x song/I-x; go/O;");
    CHECK(read_both(path).corpus[1].line == 3);
  }
  const auto refused = [&](const std::string& path, const std::string& message,
                           const std::string& column = "") {
    CHECK(contains(error_from([&] { read_both(path, column); }), message));
  };
  refused(words, "takes a folder with seq.in and seq.out, or two files");
  refused(words + "," + folder.path("none"), "cannot open");
  refused(words + "," + folder.write("fewer", "O B-x I-x\n\nO O\n"),
          "fewer:3: expected 1 tags, as the line has words in " + words + ", found 2");
  refused(words + "," + folder.write("shorter", "O B-x I-x\n"), "seq.in has 3 lines, ");
  refused(root, "--column means nothing for parallel files", "2");
  const std::string empty = folder.write("empty", "\n");
  refused(empty + "," + empty, "holds no sentence");
}

TEST_CASE("Files that are no corpus") {
  const std::string formats =
      ": expected CoNLL-U, word|TAG, a word and its tag in columns, or verses such as 'Ge1:1 In "
      "the "
      "beginning ...' (--format names one)";
  const std::string begin = "data.txt:1: cannot tell the format from '";
  check({{"Just some prose, and nothing else.\nMore of it here.\n",
          begin + "Just some prose, and nothing else.'" + formats},
         {"Two words\nOne\nAnother\n", begin + "Two words'" + formats}});
  CHECK(contains(error_from([] { format_from_name("xml"); }), "unknown format 'xml'"));
}

TEST_CASE("A byte order mark and a missing last line end do no harm") {
  CHECK(shown(read("\xEF\xBB\xBFThe|DET cat|NOUN")) == "pipe: The/DET cat/NOUN;");
}

TEST_CASE("The real data sets are read whole") {
  const std::string data = data_folder("ud-ewt, wnut17 and wikigold");
  if (data.empty()) return;
  const auto check = [&](const std::string& file, Format format, std::size_t sentences,
                         std::size_t words) {
    INFO(file);
    const ReadResult result = read_corpus(data + file);
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
