// Texts as they come: encodings, marks in front, markup where none is wanted, samples that are
// left out, what is too long; sentences and words of running text; one file cut in three.

#include "examples/nlp/common/text_input.h"

#include "examples/nlp/common/conllu.h"
#include "examples/nlp/common/plain_text.h"
#include "examples/nlp/common/sentence_input.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/tokenizer.h"
#include "tests/examples/helpers.h"

namespace text_input_test {

using namespace nlp;

Strings read(const std::string& text, Encoding encoding = Encoding::kUtf8) {
  std::istringstream in(text);
  return read_lines(in, TextSource("data.txt", {encoding, 0}));
}

std::string error_of(const std::string& text) {
  return error_from([&] { read(text); });
}

/// A line of so many bytes that are made as they are read.
class LongLine : public std::streambuf {
 public:
  explicit LongLine(std::size_t length) : left_(length), piece_(1 << 16, 'x') {}

 private:
  int_type underflow() override {
    if (left_ == 0) return traits_type::eof();
    const std::size_t size = std::min(left_, piece_.size());
    left_ -= size;
    setg(piece_.data(), piece_.data(), piece_.data() + size);
    return traits_type::to_int_type(piece_[0]);
  }
  std::size_t left_;
  std::string piece_;
};

/// Words with spaces where the text has none, sentences between bars.
std::string tokens_of(const std::string& text) {
  Strings sentences;
  for (const TokenizedSentence& sentence : tokenize(text))
    sentences.push_back(join(sentence.words, " "));
  return join(sentences, " | ");
}

TEST_CASE("text input: lines without their ends and without a byte order mark") {
  CHECK(read("a\r\n\nb c") == Strings{"a", "", "b c"});
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(read(mark + "a\n" + mark + "b\n") == Strings{"a", mark + "b"});
  CHECK(read("").empty());
  CHECK(read("\n") == Strings{""});
  std::istringstream in("a\r\n\nb\nc\r");
  LineReader reader(in, "data.txt");
  std::string line;
  for (const char* const end : {"\r\n", "\n", "\n", "\r"}) {
    CHECK(reader.next(line));
    CHECK(reader.line_end() == end);
  }
  CHECK_FALSE(reader.next(line));
}

TEST_CASE("text input: what is no UTF-8 is refused with its place, or read as ISO 8859-1") {
  CHECK(read("\u00e9 \u4e16 \U0001f600\n") == Strings{"\u00e9 \u4e16 \U0001f600"});
  CHECK(error_of("caf\u00e9\ncaf\xE9s\n") ==
        "data.txt:2: expected UTF-8, found the byte \\xe9 (column 4): --encoding latin1 reads ISO "
        "8859-1");
  for (const std::string bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE4\xB8", "\xFF"})
    CHECK(contains(error_of("x" + bad), "data.txt:1: expected UTF-8"));
  CHECK(error_of(std::string("a\nb\0c\n", 6)) ==
        "data.txt:2: expected text, found a zero byte (a binary file?)");
  CHECK(read("caf\xE9 \xFF z\n", Encoding::kLatin1) == Strings{"caf\u00e9 \u00ff z"});
}

TEST_CASE("text input: a line that fills the memory is refused before it does") {
  LongLine bytes(LineReader::kLongestLine + 1);
  std::istream in(&bytes);
  LineReader reader(in, "data.txt");
  std::string line;
  CHECK(error_from([&] { reader.next(line); }) ==
        "data.txt:1: a line of more than 64 MiB: expected a sentence (is this a text?)");
}

TEST_CASE("text input: blocks are the lines between blank ones") {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const LineRange& block : blocks_of({"", "a", "b", " \t", "", "c"}))
    found.emplace_back(block.begin, block.end);
  CHECK(found == decltype(found){{1, 3}, {5, 6}});
}

TEST_CASE("text input: as many bad samples are left out as are allowed") {
  SampleReader reader(TextSource("data.txt", {Encoding::kUtf8, 2}), "sentence");
  int read = 0;
  for (std::size_t line = 1; line <= 3; ++line) {
    const auto bad = [&] { throw LineError("data.txt", line, "bad"); };
    const auto good = [&] { ++read; };
    reader.read(good);
    if (line < 3) {
      reader.read(bad);
    } else {
      CHECK(error_from([&] { reader.read(bad); }) == "data.txt:3: bad");
    }
  }
  CHECK(read == 3);
  // The error says how to leave out more, where that can be done.
  SampleReader other(TextSource("data.txt", {Encoding::kUtf8, 1, true}), "sentence");
  const auto bad = [&] { throw LineError("data.txt", 7, "bad"); };
  other.read(bad);
  CHECK(error_from([&] { other.read(bad); }) ==
        "data.txt:7: bad; --skip-bad N leaves out N such sentences");
}

TEST_CASE("sentence input: sentences know their lines, and long ones come in pieces") {
  const TemporaryFolder folder;
  std::string many;
  for (std::size_t i = 0; i < 2 * kMostWords + 1; ++i) many += "x ";
  using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;
  const auto pieces = [&](const std::string& text, InputFormat format) {
    Pieces all;  // words, and the line of the last one
    for_pieces(folder.write("in", text), format, [&](const InputSentence& found) {
      const std::size_t n = found.rows.size();
      if (n > 0) all.emplace_back(n, found.rows.line_number(n - 1));
    });
    return all;
  };
  CHECK(pieces("a b\n\n\nx\n" + many + "\ny\n", InputFormat::kWords) ==
        Pieces{{2, 1}, {1, 4}, {kMostWords, 5}, {kMostWords, 5}, {1, 5}, {1, 6}});
  CHECK(pieces("a N\nb V\n\nc N\n", InputFormat::kColumns) == Pieces{{2, 2}, {1, 4}});
  std::string column = "a\n\n";
  for (std::size_t i = 0; i < kMostWords + 2; ++i) column += "x\n";
  CHECK(pieces(column, InputFormat::kColumns) ==
        Pieces{{1, 1}, {kMostWords, kMostWords + 2}, {2, kMostWords + 4}});
  std::string rows = "# text = x\n";
  for (std::size_t i = 0; i < kMostWords + 1; ++i)
    rows += std::to_string(i + 1) + "\tx\t_\t_\t_\t_\t_\t_\t_\t_\n";
  CHECK(contains(error_from([&] { pieces("\n" + rows, InputFormat::kConllu); }),
                 "in:3: a sentence of 10,001 words begins here: expected 10,000 at most"));
  if (!has_tokenizer()) return skip("built without ICU");
  CHECK(pieces("\nA cat.\nIt\nsleeps. No!\n\nYes.\n", InputFormat::kText) ==
        Pieces{{3, 2}, {3, 3}, {2, 4}, {2, 6}});
  CHECK(pieces("A.\n\n" + many, InputFormat::kText) ==
        Pieces{{2, 1}, {kMostWords, 3}, {kMostWords, 3}, {1, 3}});
  CHECK(contains(error_from([&] { pieces("\n\nthe|DET cat|NOUN\nthe|DET\n", InputFormat::kText); }),
                 "in:3: expected plain text, found word|TAG"));
}

TEST_CASE("text input: markup is told from plain text") {
  CHECK(markup_of("# text = The cat") == "CoNLL-U");
  CHECK(markup_of("1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_") == "CoNLL-U");
  CHECK(markup_of("The|DET cat|NOUN") == "word|TAG");
  CHECK(markup_of("EU\tB-ORG") == "columns");
  CHECK(markup_of("(3 (2 good) (2 film))") == "trees");
  for (const char* plain :
       {"", "The cat", "# 1 hit", "a|b c", "x|y z|w", "(see below)", "(3 dogs", "a b\tc", "5\t"})
    CHECK(markup_of(plain).empty());
}

TEST_CASE("CoNLL-U: a sentence of words from elsewhere, and changed fields") {
  conllu::Sentence sentence({"No", "!"}, {true, false}, "x", {5, 0});
  CHECK(sentence.line_number(1) == 5);
  CHECK(sentence.piece(1, 2).lines() == Strings{"1\t!\t_\t_\t_\t_\t_\t_\t_\t_"});
  CHECK(sentence.piece(0, 1).lines() == Strings{sentence.lines()[0]});
  CHECK(sentence.lines() ==
        Strings{"1\tNo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "2\t!\t_\t_\t_\t_\t_\t_\t_\t_"});
  sentence.set(1, conllu::kUpos, "PUNCT");
  CHECK(sentence.lines()[1] == "2\t!\t_\tPUNCT\t_\t_\t_\t_\t_\t_");
  CHECK(sentence.words() == Strings{"No", "!"});
}

TEST_CASE("CoNLL-U: multiword tokens") {
  const Strings lines = {"1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
                         "1\tde\t_\t_\t_\t_\t_\t_\t_\t_", "2\tel\t_\t_\t_\t_\t_\t_\t_\t_"};
  const conllu::Sentence sentence(lines, {0, 3}, "x");
  REQUIRE(sentence.multiwords().size() == 1);
  CHECK(sentence.multiwords()[0].begin == 0);
  CHECK(sentence.multiwords()[0].end == 2);
  CHECK(sentence.multiwords()[0].form == "del");
  CHECK(sentence.multiwords()[0].misc == "SpaceAfter=No");
}

TEST_CASE("CoNLL-U: ranges and empty nodes stand where they belong") {
  const auto told = [](const Strings& ids) {
    Strings lines;
    for (const std::string& id : ids) lines.push_back(id + "\tx\t_\t_\t_\t_\t_\t_\t_\t_");
    return error_from([&] { conllu::Sentence(lines, {0, lines.size()}, "f", 6); });
  };
  for (const Strings& fine :
       {Strings{"0.1", "1", "1.1", "1.2", "2-3", "2", "2.1", "3"}, {"1-1", "1"}, {"1-2", "1", "2"}})
    CHECK(told(fine) == "no error");
  const std::pair<Strings, std::string> wrong[] = {
      {{"1", "2-9", "2", "3"}, "8: expected a range within the 3 words of the sentence"},
      {{"1", "1-2", "2"}, "8: expected a range that begins with the next word, 2"},
      {{"3-4", "1"}, "7: expected a range that begins with the next word, 1"},
      {{"1-3", "1", "2-3", "2", "3"}, "9: expected a range behind the one before"},
      {{"1", "2-1", "2"}, "8: expected a range that does not end before it begins"},
      {{"1-99999999999999999999", "1"}, "7: expected a range within the 1 words"},
      {{"1", "2", "2.2"}, "9: expected empty node 2.1 in the first column, found '2.2'"},
      {{"1", "1.1", "1.1"}, "9: expected empty node 1.2"},
      {{"1", "2.1", "2"}, "8: expected empty node 1.1"},
      {{"1", "1.1", "2", "2.2"}, "10: expected empty node 2.1"},
      {{"1", "3"}, "8: expected word number 2"}};
  for (const auto& [ids, message] : wrong) CHECK(contains(told(ids), "f:" + message));
}

TEST_CASE("text in quotes is cut between characters") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("abc", 3) == "'abc'");
  CHECK(in_quotes("abc", 2) == "'ab...'");
  for (const std::string c : {"\u00e4", "\u4e16", "\U0001f600"})
    for (std::size_t longest = 0; longest <= 3 * c.size() + 1; ++longest) {
      CAPTURE(c, longest);
      const std::size_t fit = std::min<std::size_t>(3, longest / c.size());
      std::string expected = "'";
      for (std::size_t i = 0; i < fit; ++i) expected += c;
      CHECK(in_quotes(c + c + c, longest) == expected + (fit < 3 ? "...'" : "'"));
    }
  const std::string start(39, 'x');
  CHECK(in_quotes(start + "\u00e4") == "'" + start + "...'");
  CHECK(in_quotes(start + "y\u00e4") == "'" + start + "y...'");
}

TEST_CASE("tokenizer: sentences and words by the rules of Unicode") {
  if (!has_tokenizer()) {
    CHECK(contains(error_from([] { tokenize("x"); }), "was built without ICU"));
    skip("this was built without ICU");
    return;
  }
  CHECK(tokens_of("The cat sleeps. Does it?  (Yes, it's 3.5 hours.)") ==
        "The cat sleeps . | Does it ? | ( Yes , it's 3.5 hours . )");
  CHECK(tokens_of("Ça va\u00a0? \u4f60\u597d\u3002\u4e16\u754c") ==
        "Ça va ? | \u4f60\u597d \u3002 | \u4e16\u754c");
  CHECK(tokens_of("").empty());
  CHECK(tokens_of(" \t ").empty());
  const std::vector<TokenizedSentence> found = tokenize("No! \"Go\" on");
  REQUIRE(found.size() == 2);
  CHECK(found[0].joined == std::vector<bool>{true, false});
  CHECK(found[1].joined == std::vector<bool>{true, true, false, false});
}

TEST_CASE("tokenizer: a paragraph is what stands between blank lines") {
  const TemporaryFolder folder;
  InputFile in(folder.write("text", "\nThe cat\nsleeps.\n\n \nYes.\n"));
  Strings paragraphs;
  std::vector<std::size_t> lines;
  for_paragraphs(in, [&](const Paragraph& found) {
    paragraphs.push_back(found.text);
    for (const std::size_t byte : {std::size_t{0}, found.text.size() - 1})
      lines.push_back(found.line_at(byte));
  });
  CHECK(paragraphs == Strings{"The cat sleeps.", "Yes."});
  CHECK(lines == std::vector<std::size_t>{2, 3, 6, 6});
}

TEST_CASE("A split depends on the place in the file alone") {
  const Split split = parse_split("90/5/5");
  std::array<std::size_t, 3> counts{0, 0, 0};
  std::vector<std::size_t> corpus(31102);
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    corpus[i] = i;
    const Part part = part_of(i, split);
    counts[part == Part::kTrain ? 0 : part == Part::kDev ? 1 : 2]++;
  }
  CHECK(counts[0] > 27800);
  CHECK(counts[1] > 1450);
  CHECK(counts[2] > 1450);
  CHECK(take_part(corpus, split, Part::kDev).size() == counts[1]);
  CHECK(take_part(corpus, split, Part::kAll).size() == corpus.size());
  CHECK(part_of(7, parse_split("1/0/0")) == Part::kTrain);

  CHECK(contains(error_from([&] { parse_split("a/b/c"); }), "not 'a'"));
}

}  // namespace text_input_test
