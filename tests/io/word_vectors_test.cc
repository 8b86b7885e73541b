#include "dynet-like/io/word_vectors.h"

#include <cstdio>

#include "tests/io/damage.h"
#include "tests/io/file_systems.h"
#include "tests/io/folder.h"
#include "tests/param/plant.h"
#include "tests/support/prelude.h"

namespace word_vectors_test {

using namespace dynet;

namespace {

using Duplicates = VectorOptions::Duplicates;
using Case = VectorOptions::Case;
using Unknown = VectorOptions::Unknown;

struct Table {
  Dict words{{"the", "Cat", "<unk>"}};
  ParameterCollection pc;
  LookupParameter rows = pc.add_lookup_parameters(4, {2}, ParameterInitConst(9), "E");

  VectorReport load(const std::string& bytes, VectorOptions options = {}) {
    MemoryFile files;
    files.bytes = bytes;
    options.files = &files;
    return load_word_vectors("m", words, rows, options);
  }
  std::string refused(const std::string& bytes, const VectorOptions& options = {}) {
    return message_of<FileError>([&] { load(bytes, options); });
  }
};

std::string binary(const std::string& header, const std::vector<std::string>& words, bool newline) {
  std::string s = header;
  float x = 1;
  for (const std::string& word : words) {
    s += word + ' ';
    for (int k = 0; k < 2; ++k, x += 1) s.append(reinterpret_cast<const char*>(&x), 4);
    if (newline) s += '\n';
  }
  return s;
}

}  // namespace

TEST_CASE("vectors of words are read in all their forms") {
  // GloVe, word2vec, fastText with spaces at the ends, Windows' ends of lines, no last end, tabs, a
  // word of several parts.
  for (const std::string text :
       {"the 1 2\nx 3 4\n", "2 2\nthe 1 2\nx 3 4\n", "2 2 \nthe 1 2 \nx 3 4 \n",
        "2 2\r\nthe 1 2\r\nx 3 4\r\n", "the 1 2\nx 3 4", "the\t+1.0\t2e0\nx\t3\t4\n",
        "2 2\nthe 1 2\nroute 66 3 4\n", "the 1 2\n. . . 3 4\n"}) {
    INFO(text);
    Table t;
    const VectorReport report = t.load(text);
    CHECK(report.in_file == 2);
    CHECK(report.dimension == 2);
    CHECK(report.found == 1);
    CHECK(report.missing == std::vector<std::string>{"Cat", "<unk>"});
    CHECK(report.coverage() == Approx(1.0 / 3));
    CHECK(table_values(t.rows) == std::vector<float>{1, 2, 9, 9, 9, 9, 9, 9});
  }
  for (const bool newline : {false, true}) {
    Table t;
    const std::string bytes = binary("2 2\n", {"Cat", "the"}, newline);
    CHECK(t.load(bytes, {.format = VectorFormat::binary}).found == 2);
    CHECK(table_values(t.rows) == std::vector<float>{3, 4, 1, 2, 9, 9, 9, 9});
  }
}

TEST_CASE("duplicates, letters and unknown words are treated as asked") {
  const std::string twice = "the 1 2\nthe 3 4\n";
  const auto first_row = [](const std::string& text, VectorOptions options, unsigned row) {
    Table t;
    t.load(text, options);
    return as_vector(t.rows.row(row));
  };
  CHECK(first_row(twice, {}, 0) == std::vector<float>{1, 2});
  CHECK(first_row(twice, {.duplicates = Duplicates::last}, 0) == std::vector<float>{3, 4});
  CHECK_THAT(Table().refused(twice, {.duplicates = Duplicates::refuse}),
             Catch::Contains("the word \"the\" comes twice"));
  CHECK(Table().load(twice).duplicates == 1);
  const std::string small = "cat 1 2\nTHE 3 4\n";
  CHECK(Table().load(small).found == 0);
  const VectorReport fallback = Table().load(small, {.letters = Case::fallback});
  CHECK(fallback.found == 1);
  CHECK(fallback.by_case == 1);
  CHECK(first_row("cat 1 2\nCat 5 6\n", {.letters = Case::fallback}, 1) ==
        std::vector<float>{5, 6});
  CHECK(first_row("Cat 5 6\ncat 1 2\n", {.letters = Case::fallback}, 1) ==
        std::vector<float>{5, 6});
  CHECK(Table().load(small, {.letters = Case::lower}).found == 2);
  CHECK(first_row("the 1 2\nCat 3 6\n", {.unknown = Unknown::mean}, 2) == std::vector<float>{2, 4});
  CHECK(first_row("the 1 2\n", {.unknown = Unknown::zero}, 2) == std::vector<float>{0, 0});
  CHECK(first_row("the 1 2\n", {.unknown = Unknown::mean}, 3) == std::vector<float>{9, 9});
}

TEST_CASE("lines are found wherever the pieces end in which a file is read") {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (const std::size_t end : {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece}) {
    const std::string start = "Cat 1 2\n";
    std::string text = start + std::string(end - start.size() - 4, 'w') + " 3 4\n";
    REQUIRE(text.find('\n', start.size()) == end);
    Table t;
    CHECK(t.load(text + "the 5 6\n").in_file == 3);
    CHECK(as_vector(t.rows.row(0)) == std::vector<float>{5, 6});
  }
}

TEST_CASE("lines may be so long and no longer") {
  const auto line = [](std::size_t length) { return std::string(length - 4, 'w') + " 3 4\n"; };
  constexpr std::size_t kMost = std::size_t{1} << 24;
  CHECK(Table().load(line(kMost) + "the 5 6\n").in_file == 2);
  CHECK_THAT(Table().refused(line(kMost + 1) + "the 5 6\n"),
             Catch::Contains("bytes without an end"));
}

TEST_CASE("broken files of vectors are refused and change nothing") {
  Table t;
  const auto check = [&](const std::string& bytes, const std::string& why, bool is_binary) {
    const std::string message =
        t.refused(bytes, {.format = is_binary ? VectorFormat::binary : VectorFormat::text});
    CHECK_THAT(message, Catch::StartsWith("cannot load m: "));
    CHECK_THAT(message, Catch::Contains(why));
    CHECK(table_values(t.rows) == std::vector<float>(8, 9.0f));
  };
  check("the 1 2\nCat 1\n", "line 2: needs a word and 2 numbers", false);
  check("the 1 2\nCat one 2\n", "line 2: needs a word and 2 numbers; \"one\" is not a number",
        false);
  for (const std::string number : {"nan", "-nan", "NaN", "nan(1)"})
    check("the 1 2\nCat 1 " + number + "\n",
          "line 2: needs a word and 2 numbers; \"" + number + "\" is not a number", false);
  for (const std::string number : {"inf", "-Infinity", "1e400"})
    check("the 1 2\nCat 1 " + number + "\n",
          "line 2: needs a word and 2 numbers; \"" + number + "\" is out of range", false);
  check("1 3\nthe 1 2\n",
        "line 2: needs a word and 3 numbers, as the first line says; \"the\" is not a number",
        false);
  check("1 2\nthe 1 2 3\n",
        "line 2: needs a word and 2 numbers, as the first line says, and has more", false);
  check("the 1 2\n1 2\n", "line 2: needs a word", false);
  check("the 1 2 3\n", "its vectors have 3 numbers, the rows of the table 2", false);
  check("3 2\nthe 1 2\nCat 3 4\n", "it is said to have 3 words and has 2", false);
  check("the\n", "line 1: there is no vector", false);
  check("", "", true);
  check("the 1 2\n", "its first line is not the number", true);
  check("2 0\n", "vectors of 0 numbers", true);
  check("2 99999999999\n", "vectors of 99999999999 numbers", true);
  check("1 2\nthe " + std::string(4, '\xff') + std::string(4, '\0'),
        "a number of word 1 is not finite", true);
  check(binary("3 2\n", {"the", "Cat"}, true), "it is cut short", true);
  check(binary("2 2\n", {"the", "Cat"}, false).substr(0, 18), "ends within word 2", true);
  check(binary("1 2\n", {"the", "Cat"}, true), "more follows after the last word", true);
  check(binary("99999999999999 2\n", {"the"}, true), "ends within word 2", true);
  CHECK(Table().load("").in_file == 0);
  const std::pair<VectorFormat, std::string> good[] = {
      {VectorFormat::text, "2 2\nthe 1 2\nCat 3.25 -4e-3\n"},
      {VectorFormat::binary, binary("2 2\n", {"the", "Cat"}, true)}};
  for (const auto& [format, bytes] : good) {
    int read = 0;
    for (std::uint64_t k = 0; k < 20000; ++k)
      read += t.refused(damaged(bytes, k), {.format = format}).empty();
    std::printf("20000 damaged files of vectors, %d still files of vectors\n", read);
  }
  Dict many({"a", "b", "c", "d", "e"});
  CHECK_THROWS_AS(load_word_vectors("m", many, t.rows), ArgumentError);
}

TEST_CASE("vectors are visited one by one, and GloVe's have no first line") {
  const TemporaryFolder folder;
  const float values[] = {1, 2, 3, 4};
  write_word_vectors(folder / "v", {"7", "b"}, values, 2, VectorFormat::glove);
  CHECK(read_file(folder / "v") == "7 1 2\nb 3 4\n");
  std::string seen;
  CHECK(read_word_vectors(folder / "v", [&](std::string_view word, const auto& vector) {
          seen += std::string(word) + ":" + std::to_string(static_cast<int>(vector[1])) + " ";
        }) == 2);
  CHECK(seen == "7:2 b:4 ");
  // Vectors of one number look like a first line of word2vec's.
  write_word_vectors(folder / "v", {"7", "8"}, values, 1, VectorFormat::glove);
  const auto nothing = [](std::string_view, const auto&) {};
  CHECK(read_word_vectors(folder / "v", nothing, VectorFormat::glove) == 2);
  CHECK_THROWS_AS(read_word_vectors(folder / "v", nothing), FileError);
}

TEST_CASE("words that would not come back are refused in every format") {
  const TemporaryFolder folder;
  const std::string path = folder / "v";
  const float values[] = {1, 2};
  const std::string longest(1 << 16, 'x'), hard_space = "z\xc2\xa0z";
  // Words, and whether one is fit for a binary file.
  const std::pair<std::string, bool> words[] = {
      {"", false},        {"a b", false},  {"a\nb", false},       {"\n", false},
      {"a\tb", true},     {"\ta", true},   {"a\rb", true},        {"a\r", true},
      {hard_space, true}, {longest, true}, {longest + "x", false}};
  for (const VectorFormat format : {VectorFormat::text, VectorFormat::glove, VectorFormat::binary})
    for (const auto& [word, fits_binary] : words) {
      const bool fits = fits_binary &&
                        (format == VectorFormat::binary || word.find_first_of("\t\r") == word.npos);
      CAPTURE(static_cast<int>(format), word.substr(0, 9), word.size());
      const std::string before = read_file(path);
      const std::string why =
          message_of<ArgumentError>([&] { write_word_vectors(path, {word}, values, 2, format); });
      CHECK(why.empty() == fits);
      if (!fits) {
        CHECK(why.ends_with(" is empty, too long or has white space"));
        CHECK((read_file(path) == before));
        continue;
      }
      std::vector<std::string> seen;
      read_word_vectors(
          path, [&](std::string_view read, const auto&) { seen.emplace_back(read); }, format);
      CHECK((seen == std::vector<std::string>{word}));
    }
}

}  // namespace word_vectors_test
