// Input of the program emoji: its samples, and the files of Debian's packages.

#ifdef EMOJI_BINARY

#include "examples/mixed/emoji/corpus.h"
#include "examples/mixed/emoji/encoders.h"
#include "examples/mixed/emoji/font.h"
#include "examples/mixed/emoji/gather.h"
#include "examples/mixed/emoji/inputs.h"
#include "examples/mixed/emoji/unicode.h"
#include "tests/examples/learners.h"

namespace emoji_data_test {

using namespace emoji;

Corpus read(const std::string& text) {
  const TemporaryFolder folder;
  return read_samples(folder.write("data", text));
}

/// Error text for a file, without the name of its folder.
template <typename Read>
std::string error_of(const std::string& text, Read read_file_named) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", text);
  std::string error = error_from([&] { read_file_named(path); });
  const std::size_t at = error.find(path);
  return at == std::string::npos ? error : error.replace(at, path.size(), "data");
}
std::string error_of(const std::string& text) {
  return error_of(text, [](const std::string& path) { read_samples(path); });
}

std::string labelled(const std::string& rest) {
  return R"({"group": "g", "subgroup": "s", )" + rest + "}\n";
}

TEST_CASE("Emoji: a JSON object a line, of which any part may be missing") {
  const Corpus corpus =
      read(R"({"emoji": "x", "family": "f", "group": "g", "subgroup": "s", "words": ["a", "b"], )"
           R"("row": {"n": 2, "yes": true, "no": false, "w": "word", "none": null}, )"
           R"("image": "00fF1020"})"
           "\n\n" +
           labelled(R"("emoji": "y", "image": null)"));
  REQUIRE(corpus.size() == 2);
  CHECK(line_of(corpus[0]) ==
        R"({"emoji":"x","family":"f","group":"g","subgroup":"s","words":["a","b"],"row":)"
        R"({"n":2.0,"no":0.0,"w":"word","yes":1.0},"image":"00ff1020"})");
  CHECK(Inputs::of(corpus[0]) == Inputs::all());
  CHECK(Inputs::of(corpus[1]).empty());
  CHECK(corpus[1].family == "y");
  CHECK(corpus[1].line == 3);
  for (const Sample& sample : corpus)
    CHECK(line_of(read(line_of(sample) + "\n")[0]) == line_of(sample));
  CHECK(read_sample("{}", "data", 7, emoji::Labels::kOptional).line == 7);
}

TEST_CASE("Emoji: a line that is no sample is refused with its place") {
  CHECK(error_of("") == "data holds no sample");
  CHECK(error_of("\n[1]\n") == "data:2: expected a JSON object, found '[1]'");
  CHECK(error_of("{\"group\": \n") == "data:1: expected a JSON object, found '{\"group\": '");
  CHECK(error_of("{\"subgroup\": \"s\"}\n") == "data:1: expected a \"group\"");
  CHECK(error_of("{\"group\": \"g\"}\n") == "data:1: expected a \"subgroup\"");
  CHECK(error_of("{\"group\": 1, \"subgroup\": \"s\"}\n") ==
        "data:1: expected a text as \"group\"");
  CHECK(error_of(labelled(R"("words": "cat")")) == "data:1: expected a list of \"words\"");
  CHECK(error_of(labelled(R"("words": [1])")) == "data:1: expected texts in \"words\"");
  CHECK(error_of(labelled(R"("row": [])")) == "data:1: expected an object as \"row\"");
  CHECK(error_of(labelled(R"("row": {"a": []})")) ==
        "data:1: expected a text or a number as 'a' in \"row\"");
  CHECK(error_of(labelled(R"("row": {"a": -1e300})")) ==
        "data:1: the number 'a' in \"row\" is too large");
  CHECK(error_of(labelled(R"("image": "00112g33")")) ==
        "data:1: expected hexadecimal digits in \"image\"");
  for (const char* digits : {"0", "0011223", "0011223344556677"})
    CHECK(contains(error_of(labelled("\"image\": \"" + std::string(digits) + "\"")),
                   "data:1: expected an \"image\" of as many lines as columns"));
  CHECK(error_of(labelled(R"("image": "00112233")") +
                 labelled("\"image\": \"" + std::string(32, '0') + "\"")) ==
        "data:2: expected an \"image\" of 1 lines as above, found one of 2");
}

TEST_CASE("Emoji: rows as numbers") {
  const Corpus corpus =
      read(labelled(R"("row": {"n": 1, "w": "b"})") +
           labelled(R"("row": {"n": 3, "w": "a", "c": 7})") + labelled(R"("emoji": "x")"));
  const std::vector<Column> columns = columns_of(corpus, "data");
  REQUIRE(columns.size() == 3);
  CHECK(row_numbers(corpus[0].row, columns) == Floats{0, -1, 0, 1});
  CHECK(row_numbers(corpus[1].row, columns) == Floats{0, 1, 1, 0});
  CHECK(row_numbers({{"w", "new"}, {"n", "word"}, {"other", 1.0}}, columns) == Floats{0, 0, 0, 0});
  const Corpus mixed = read(labelled(R"("row": {"n": 1})") + labelled(R"("row": {"n": "b"})"));
  CHECK(error_from([&] { columns_of(mixed, "data"); }) ==
        "data:2: the column 'n' has both numbers and words: expected one of them");
}

TEST_CASE("Emoji: families go to one side of the split, whatever else is in the file") {
  const nlp::Split split{{70, 10, 20}};
  Corpus corpus;
  for (unsigned i = 0; i < 900; ++i) {
    Sample sample;
    sample.emoji = std::to_string(i);
    sample.family = std::to_string(i / 3);
    corpus.push_back(sample);
  }
  const Corpus train = take_part(corpus, split, 1, nlp::Part::kTrain),
               dev = take_part(corpus, split, 1, nlp::Part::kDev),
               test = take_part(corpus, split, 1, nlp::Part::kTest);
  CHECK(train.size() + dev.size() + test.size() == corpus.size());
  CHECK(train.size() > 540);
  CHECK(train.size() < 720);
  CHECK(test.size() > 120);
  for (unsigned i = 0; i < corpus.size(); i += 3) {
    for (unsigned k = 1; k < 3; ++k)
      CHECK(part_of(corpus[i], split, 1) == part_of(corpus[i + k], split, 1));
  }
  CHECK(take_part({corpus.begin() + 5, corpus.end()}, split, 1, nlp::Part::kDev).back().emoji ==
        dev.back().emoji);
  const auto emoji_of = [](const Corpus& some) {
    Strings all;
    for (const Sample& sample : some) all.push_back(sample.emoji);
    return all;
  };
  CHECK(emoji_of(take_part(corpus, split, 2, nlp::Part::kTest)) != emoji_of(test));
  CHECK(take_part(corpus, split, 1, nlp::Part::kAll).size() == corpus.size());
}

TEST_CASE("Emoji: the list of emoji, its groups, and what is left out of it") {
  const std::string list =
      "# emoji-test.txt\n\n# group: People & Body\n\n# subgroup: hand\n"
      "1F44B       ; fully-qualified     # x E0.6 waving hand\n"
      "1F44B 1F3FB ; fully-qualified     # x E1.0 waving hand: light skin tone\n"
      "263A        ; unqualified         # x E0.6 smiling face\n"
      "1F3FB       ; component           # x E1.0 light skin tone\n"
      "# subgroup: person\n"
      "1F468 200D 1F680 ; fully-qualified # x E4.0 man astronaut\n";
  const TemporaryFolder folder;
  const std::string path = folder.write("list", list);
  const std::vector<Entry> entries = read_entries(path, false);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].text() == "\U0001F44B");
  CHECK(entries[0].version == 0.6);
  CHECK(entries[0].group == "People & Body");
  CHECK(entries[0].subgroup == "hand");
  CHECK(entries[1].points == U"\U0001F468\u200D\U0001F680");
  CHECK(entries[1].subgroup == "person");
  CHECK(read_entries(path, true).size() == 3);

  const auto list_error = [](const std::string& text) {
    return error_of(text, [](const std::string& file) { read_entries(file, false); });
  };
  const std::string head = "# group: a\n# subgroup: b\n";
  CHECK(contains(list_error(head + "1F44B fully-qualified\n"), "data:3: expected 2 fields"));
  CHECK(contains(list_error(head + "1F44G ; fully-qualified # x E1.0 y\n"),
                 "data:3: expected a code point"));
  CHECK(contains(list_error(head + "110000 ; fully-qualified # x E1.0 y\n"), "data:3: "));
  CHECK(contains(list_error(head + " ; fully-qualified # x E1.0 y\n"), "data:3: expected code"));
  for (const std::string version : {"", "1.0", "E", "Ex", "E1.0x", "Enan", "Einf", "E1e400"})
    CHECK(contains(list_error(head + "1F44B ; fully-qualified # x " + version + "\n"),
                   "data:3: expected a version"));
  CHECK(contains(list_error("1F44B ; fully-qualified # x E1.0 y\n"),
                 "data:1: expected a group and a subgroup"));
  CHECK(list_error(head) == "data holds no emoji");
}

TEST_CASE("Emoji: variants of an emoji are one family") {
  const auto same = [](const std::u32string& a, const std::u32string& b) {
    return family_of(a) == family_of(b);
  };
  CHECK(family_of(U"\U0001F408\u200D\u2B1B") == "1F408 200D 2B1B");
  CHECK(same(U"\U0001F44B", U"\U0001F44B\U0001F3FB"));
  CHECK(same(U"\u263A\uFE0F", U"\u263A"));
  CHECK(same(U"\U0001F3C3", U"\U0001F3C3\u200D\u2640\uFE0F"));                // running
  CHECK(same(U"\U0001F468\u200D\U0001F680", U"\U0001F469\u200D\U0001F680"));  // astronauts
  CHECK(same(U"\U0001F468\u200D\U0001F467", U"\U0001F469\u200D\U0001F466\u200D\U0001F466"));
  CHECK_FALSE(same(U"\U0001F468\u200D\U0001F680", U"\U0001F468\u200D\U0001F692"));
  CHECK_FALSE(same(U"\u2640\uFE0F", U"\u2642\uFE0F"));  // signs of their own
  CHECK_FALSE(same(U"\U0001F466", U"\U0001F468\u200D\U0001F466"));
}

TEST_CASE("Emoji: properties of code points, and the sets of the Japanese operators") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("blocks", "# Blocks\n0000..007F; Basic Latin\n\n0100 ; One # here\n");
  const Property blocks(path);
  CHECK(blocks.of(0) == "Basic Latin");
  CHECK(blocks.of(0x7F) == "Basic Latin");
  CHECK(blocks.of(0x80).empty());
  CHECK(blocks.of(0x100) == "One");
  CHECK_FALSE(blocks.has(0x101));
  const Property one(path, "One");
  CHECK(one.has(0x100));
  CHECK_FALSE(one.has(0));
  CHECK(contains(error_from([&] { Property(path, "Two"); }), "says nothing of 'Two'"));
  const auto property_error = [](const std::string& text) {
    return error_of(text, [](const std::string& file) { Property property(file); });
  };
  CHECK(contains(property_error("7F..00; x\n"), "data:1: expected a range"));
  CHECK(contains(property_error("7F\n"), "data:1: expected 2 fields"));
  CHECK(property_error("# nothing\n") == "data says nothing");

  const auto carriers =
      read_carriers(folder.write("sources", "0023 20E3;F985;F489;F7B0\n2600;F89F;;\n"));
  CHECK(carriers.at(U"\u2600") == std::vector<bool>{true, false, false});
  CHECK(carriers.at(U"#\u20E3") == std::vector<bool>{true, true, true});
}

TEST_CASE("Emoji: words come from annotations, but not those that labels are made of") {
  const TemporaryFolder folder;
  Annotations annotations;
  annotations.read(
      folder.write("en.xml",
                   "<ldml><annotations><annotation cp=\"\u2600\">Bright | rays | sun</annotation>"
                   "<annotation cp=\"\u2600\" type=\"tts\">sun, \u201Cbright\u201D</annotation>"
                   "</annotations></ldml>"));
  CHECK(annotations.words_of("\u2600\uFE0F") == Strings{"bright", "rays", "sun"});
  CHECK(annotations.words_of("x").empty());
  const auto xml_error = [&](const std::string& text) {
    return error_of(text, [](const std::string& file) { Annotations().read(file); });
  };
  CHECK(contains(xml_error("<ldml><annotations>"), "data is no XML: "));
  CHECK(xml_error("<ldml/>") == "data holds no annotations");
  CHECK(contains(error_from([] { Annotations().read("/nowhere.xml"); }), "cannot open"));

  LabelWords labels;
  for (const char* label : {"Animals & Nature", "food-fruit", "Activities", "Flags", "dress"})
    labels.add(label);
  for (const char* word : {"animal", "animals", "nature", "foods", "fruit", "activity", "flag"})
    CHECK(labels.contain(word));
  for (const char* word : {"cat", "fruity", "a", "dre"}) CHECK_FALSE(labels.contain(word));
}

TEST_CASE("Emoji: a font draws one picture for a sequence, and none for what it does not have") {
  if (!emoji_packages_are_there()) return;
  const Font font(Sources().font);
  const auto grinning = font.draw(U"\U0001F600", 16);
  REQUIRE(grinning);
  CHECK(grinning->size == 16);
  REQUIRE(grinning->points.size() == 16 * 16 * 4);
  const auto point = [&](unsigned x, unsigned y) {
    return grinning->points.data() + 4 * (16 * y + x);
  };
  CHECK(point(0, 0)[3] == 0);  // empty corners, a yellow forehead
  CHECK(point(8, 3)[3] == 255);
  CHECK(point(8, 3)[0] > 200);
  CHECK(point(8, 3)[1] > 150);
  CHECK(point(8, 3)[1] < 240);
  CHECK(point(8, 3)[2] < 120);
  const auto one = font.draw(U"\U0001F600", 1);  // the average of all points
  REQUIRE(one);
  for (unsigned channel = 0; channel < 4; ++channel) {
    double sum = 0;
    for (unsigned i = channel; i < grinning->points.size(); i += 4) sum += grinning->points[i];
    CHECK(std::abs(one->points[channel] - sum / 256) <= 1);
  }
  const auto astronaut = font.draw(U"\U0001F469\u200D\U0001F680", 16);
  REQUIRE(astronaut);
  CHECK(astronaut->points != font.draw(U"\U0001F469", 16)->points);
  CHECK_FALSE(font.draw(U"\U0001F600\U0001F600", 16));
  CHECK_FALSE(font.draw(U"\u4E00", 16));
  const TemporaryFolder folder;
  CHECK(contains(error_from([&] { Font no_font(folder.write("text", "no font")); }),
                 "text is no font that FreeType can read"));
}

TEST_CASE("Emoji: gathered from the packages, whose absence is said") {
  if (!emoji_packages_are_there()) return;
  Sources sources;
  sources.size = 8;
  const Corpus corpus = gather(sources);
  CHECK(corpus.size() > 1500);
  const auto find = [&](const std::string& emoji) {
    return std::find_if(corpus.begin(), corpus.end(),
                        [&](const Sample& sample) { return sample.emoji == emoji; });
  };
  const auto cat = find("\U0001F408");
  REQUIRE(cat != corpus.end());
  CHECK(cat->group == "Animals & Nature");
  CHECK(cat->subgroup == "animal-mammal");
  CHECK(cat->words == Strings{"pet"});  // there is a subgroup cat-face
  CHECK(cat->row.at("block") == Cell("Miscellaneous Symbols and Pictographs"));
  CHECK(cat->row.at("age") == Cell(6.0));
  REQUIRE(cat->image);
  CHECK(cat->image->size == 8);
  // No word names a group or a subgroup.
  LabelWords labels;
  for (const Sample& sample : corpus) labels.add(sample.group + " " + sample.subgroup);
  for (const Sample& sample : corpus) {
    for (const std::string& word : sample.words) CHECK_FALSE(labels.contain(word));
  }
  sources.keep_label_words = true;
  const Corpus kept = gather(sources);
  CHECK(kept[static_cast<std::size_t>(find("\U0001F408\u200D\u2B1B") - corpus.begin())].words ==
        Strings{"black", "cat", "unlucky"});

  const auto missing = [](const Sources& wrong) { return error_from([&] { gather(wrong); }); };
  sources.font = "/nowhere.ttf";
  CHECK(missing(sources) ==
        "there is no file /nowhere.ttf: the Debian package fonts-noto-color-emoji has it");
  sources.language = "xx";
  CHECK(contains(missing(sources), "annotations/xx.xml: the Debian package unicode-cldr-core"));
  sources.unicode = "/nowhere";
  CHECK(missing(sources) ==
        "there is no file /nowhere/emoji/emoji-test.txt: the Debian package "
        "unicode-data has it");
}

}  // namespace emoji_data_test

#endif
