// The parts of the program emoji: what it reads and gathers, its network, and its scores.

#ifdef EMOJI_BINARY

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/debug/grad_check.h"
#include "examples/mixed/emoji/font.h"
#include "examples/mixed/emoji/gather.h"
#include "examples/mixed/emoji/model.h"
#include "examples/mixed/emoji/sheet.h"
#include "examples/mixed/emoji/unicode.h"
#include "examples/nlp/common/model_file.h"
#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

using namespace emoji;

namespace {

using Words = std::vector<std::string>;

const emoji::Labels kNeeded = emoji::Labels::kNeeded, kOptional = emoji::Labels::kOptional;

Corpus read(const std::string& text, emoji::Labels labels = kNeeded) {
  const TemporaryFolder folder;
  return read_samples(folder.write("data", text), labels);
}

/// What is wrong with a file, without the name of its folder.
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

Picture picture_of(unsigned size, unsigned seed) {
  Dice dice(seed);
  Picture picture{size, {}};
  for (unsigned i = 0; i < size * size * Picture::kChannels; ++i)
    picture.points.push_back(static_cast<std::uint8_t>(dice.below(256)));
  return picture;
}

/// Six samples; each lacks other parts.
Corpus some_emoji() {
  Corpus corpus;
  for (unsigned i = 0; i < 6; ++i) {
    Sample sample;
    sample.emoji = sample.family = std::string(1, static_cast<char>('a' + i));
    sample.group = i % 2 ? "Odd" : "Even";
    sample.subgroup = sample.group + (i < 2 ? "-small" : "-large");
    if (i != 0) sample.image = picture_of(8, i);
    if (i != 1) sample.words = {"word", i % 2 ? "odd" : "even", sample.emoji};
    if (i != 2) sample.row = {{"block", i % 2 ? "Latin" : "Greek"}, {"age", 0.5 * i}};
    sample.line = i + 1;
    corpus.push_back(std::move(sample));
  }
  corpus.push_back(corpus.front());
  corpus.back().words.clear();
  corpus.back().row.clear();  // nothing is left
  return corpus;
}

Description small(const Inputs& inputs = Inputs::all(), float dropout = 0) {
  Description chosen;
  chosen.settings = {inputs, 2, 4, 6, dropout, 0.3f};
  return describe(chosen, some_emoji(), "data");
}

dynet::Expression loss_of(Model& model, dynet::ComputationGraph& graph, const Corpus& corpus,
                          bool training) {
  model.begin_graph(graph, training);
  std::vector<dynet::Expression> losses;
  for (const Sample& sample : corpus) {
    losses.push_back(model.loss(graph, model.encode(sample), Inputs::all(),
                                model.group_number(sample.group),
                                model.subgroup_number(sample.subgroup)));
  }
  return sum(losses);
}

Prediction predict(Model& model, const Sample& sample, const Inputs& inputs = Inputs::all()) {
  dynet::ComputationGraph graph;
  return model.predict(graph, {&sample, 1}, {&inputs, 1})[0][0];
}

/// A small picture of the data that the program gathers: where the packages are.
bool packages_are_there() {
  const Sources s;
  const bool there = std::filesystem::exists(s.unicode + "/emoji/emoji-test.txt") &&
                     std::filesystem::exists(s.cldr + "/common/annotations/en.xml") &&
                     std::filesystem::exists(s.font);
  if (!there) skip("needs unicode-data, unicode-cldr-core and fonts-noto-color-emoji");
  return there;
}

}  // namespace

TEST_CASE("Emoji: a JSON object a line, of which any part may be missing") {
  const Corpus corpus =
      read(R"({"emoji": "x", "family": "f", "group": "g", "subgroup": "s", "words": ["a", "b"], )"
           R"("row": {"n": 2, "yes": true, "no": false, "w": "word", "none": null}, )"
           R"("image": "00fF1020"})"
           "\n\n" +
           labelled(R"("emoji": "y", "image": null)"));
  REQUIRE(corpus.size() == 2);
  CHECK(corpus[0].emoji == "x");
  CHECK(corpus[0].family == "f");
  CHECK(corpus[0].words == Words{"a", "b"});
  CHECK(corpus[0].row == Row{{"n", 2.0}, {"no", 0.0}, {"w", std::string("word")}, {"yes", 1.0}});
  REQUIRE(corpus[0].image);
  CHECK(corpus[0].image->size == 1);
  CHECK(corpus[0].image->points == std::vector<std::uint8_t>{0, 255, 16, 32});
  CHECK(Inputs::of(corpus[0]) == Inputs::all());
  CHECK(Inputs::of(corpus[1]).empty());
  CHECK(corpus[1].family == "y");
  CHECK(corpus[1].line == 3);
  for (const Sample& sample : corpus) {
    const Corpus again = read(line_of(sample) + "\n");
    CHECK(again[0].row == sample.row);
    CHECK(again[0].words == sample.words);
    CHECK(again[0].family == sample.family);
    CHECK(again[0].image.has_value() == sample.image.has_value());
    CHECK(line_of(again[0]) == line_of(sample));
  }
  CHECK(read("{}\n", kOptional).size() == 1);
  CHECK(read("\n", kOptional).empty());
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
  CHECK(error_of(labelled(R"("image": "00112g33")")) ==
        "data:1: expected hexadecimal digits in \"image\"");
  for (const char* digits : {"0", "0011223", "0011223344556677"})
    CHECK(contains(error_of(labelled("\"image\": \"" + std::string(digits) + "\"")),
                   "data:1: expected an \"image\" of as many lines as columns"));
  CHECK(error_of(labelled(R"("image": "00112233")") +
                 labelled("\"image\": \"" + std::string(32, '0') + "\"")) ==
        "data:2: expected an \"image\" of 1 lines as above, found one of 2");
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
    Words all;
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
  CHECK(contains(list_error(head + "1F44B ; fully-qualified # x\n"), "data:3: expected a version"));
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
  CHECK(annotations.words_of("\u2600\uFE0F") == Words{"bright", "rays", "sun"});
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

TEST_CASE("Emoji: pictures as numbers, column by column, shifted and mirrored") {
  Picture picture{2, {}};
  for (unsigned i = 0; i < 16; ++i) picture.points.push_back(static_cast<std::uint8_t>(i));
  // Of the first channel, line by line: 0, 4; 8, 12.
  const auto first = [&](const Shift& shift) {
    std::vector<int> values;
    const std::vector<float> all = picture_numbers(picture, shift);
    REQUIRE(all.size() == 16);
    for (unsigned i = 0; i < 4; ++i) values.push_back(static_cast<int>(std::lround(all[i] * 255)));
    return values;
  };
  CHECK(first({}) == std::vector<int>{0, 8, 4, 12});
  CHECK(first({1, 0, false}) == std::vector<int>{0, 0, 0, 8});
  CHECK(first({0, -1, false}) == std::vector<int>{8, 0, 12, 0});
  CHECK(first({0, 0, true}) == std::vector<int>{4, 12, 0, 8});
  CHECK(picture_numbers(picture)[4] == Approx(1 / 255.0));  // the second channel
}

TEST_CASE("Emoji: rows as numbers") {
  const Corpus corpus =
      read(labelled(R"("row": {"n": 1, "w": "b"})") +
           labelled(R"("row": {"n": 3, "w": "a", "c": 7})") + labelled(R"("emoji": "x")"));
  const std::vector<Column> columns = columns_of(corpus, "data");
  REQUIRE(columns.size() == 3);
  CHECK(row_numbers(corpus[0].row, columns) == std::vector<float>{0, -1, 0, 1});
  CHECK(row_numbers(corpus[1].row, columns) == std::vector<float>{0, 1, 1, 0});
  CHECK(row_numbers({{"w", "new"}, {"n", "word"}, {"other", 1.0}}, columns) ==
        std::vector<float>{0, 0, 0, 0});
  const Corpus mixed = read(labelled(R"("row": {"n": 1})") + labelled(R"("row": {"n": "b"})"));
  CHECK(error_from([&] { columns_of(mixed, "data"); }) ==
        "data:2: the column 'n' has both numbers and words: expected one of them");
}

TEST_CASE("Emoji: choices of inputs") {
  CHECK(Inputs::parse("table,image").names() == "image,table");
  CHECK(error_from([] { Inputs::parse("sound"); }) ==
        "unknown part 'sound': expected image, text or table");
  CHECK(contains(error_from([] { Inputs::parse(""); }), "unknown part ''"));
  Words names;
  for (const Inputs& choice : Inputs::all().choices()) names.push_back(choice.names());
  CHECK(names == Words{"image", "text", "table", "image,text", "image,table", "text,table",
                       "image,text,table"});
  CHECK(Inputs::parse("text").choices().size() == 1);
}

TEST_CASE("Emoji: gradients are right, with and without dropout") {
  const Corpus corpus = some_emoji();
  Model model(small(Inputs::all(), 0.3f), 7);
  for (const bool training : {false, true}) {
    dynet::ComputationGraph graph;
    graph.set_seed(3);
    const dynet::GradientReport report =
        dynet::check_gradients(loss_of(model, graph, corpus, training));
    INFO(report);
    CHECK(report.ok());
    // Two for each of three layers of pictures, words, two of a row's first layer, four for each
    // part to be added, the vector that is always there, and two for each kind of label.
    CHECK(report.parameters == 3 * 2 + 1 + 2 + 3 * 4 + 1 + 2 * 2);
  }
}

TEST_CASE("Emoji: predictions fit the loss, alone and in company") {
  const Corpus corpus = some_emoji();
  Model model(small(), 7);
  const std::vector<Inputs> choices = Inputs::all().choices();
  dynet::ComputationGraph graph;
  const auto together = model.predict(graph, corpus, choices);
  REQUIRE(together.size() == corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    REQUIRE(together[i].size() == choices.size());
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const Prediction alone = predict(model, corpus[i], choices[k]);
      REQUIRE(alone.groups.size() == 2);
      REQUIRE(alone.subgroups.size() == 4);
      CHECK(alone.groups[0] + alone.groups[1] == Approx(1.0f));
      for (std::size_t n = 0; n < 2; ++n)
        CHECK(together[i][k].groups[n] == Approx(alone.groups[n]).epsilon(1e-4));
      for (std::size_t n = 0; n < 4; ++n)
        CHECK(together[i][k].subgroups[n] == Approx(alone.subgroups[n]).epsilon(1e-4));
    }
    graph.clear();
    const float loss = as_scalar(graph.forward(loss_of(model, graph, {corpus[i]}, false)));
    const Prediction whole = predict(model, corpus[i]);
    CHECK(std::exp(-loss) == Approx(whole.groups[model.group_number(corpus[i].group)] *
                                    whole.subgroups[model.subgroup_number(corpus[i].subgroup)])
                                 .epsilon(1e-4));
  }
  CHECK(model.predict(graph, {}, choices).empty());
}

TEST_CASE("Emoji: a part that is missing is as one that is not looked at, and costs no node") {
  Sample whole = some_emoji()[3];
  Model model(small(), 7);
  const auto nodes_of = [&](const Sample& sample, const Inputs& inputs) {
    dynet::ComputationGraph graph;
    model.begin_graph(graph, false);
    model.loss(graph, model.encode(sample), inputs, 0, 0);
    return graph.size();
  };
  for (const Input input : kAllInputs) {
    Sample less = whole;
    if (input == Input::kImage) less.image.reset();
    if (input == Input::kText) less.words.clear();
    if (input == Input::kTable) less.row.clear();
    const Inputs others = Inputs::all().without(input);
    CHECK(Inputs::of(less) == others);
    CHECK(predict(model, less).groups == predict(model, whole, others).groups);
    CHECK(predict(model, less).groups != predict(model, whole).groups);
    CHECK(nodes_of(less, Inputs::all()) == nodes_of(whole, others));
    CHECK(nodes_of(less, Inputs::all()) < nodes_of(whole, Inputs::all()));
  }
  // A model of one part sees no other.
  Model text(small(Inputs::parse("text")), 7);
  Sample words_only = whole;
  words_only.image.reset();
  words_only.row.clear();
  CHECK(predict(text, words_only).groups == predict(text, whole).groups);
  CHECK(text.parameters().parameter_count() < model.parameters().parameter_count());
}

TEST_CASE("Emoji: what a model refuses, and what it makes of what is new") {
  Model model(small(), 7);
  Sample large;
  large.emoji = "x";
  large.image = picture_of(16, 1);
  CHECK(error_from([&] { predict(model, large); }) ==
        "the picture of 'x' has 16 lines, those that the model knows have 8");
  Sample tiny = some_emoji()[3];
  tiny.image = picture_of(4, 1);
  CHECK(error_from([&] { Model(describe(small(), {tiny}, "data"), 1); }) ==
        "pictures need 8 lines or more, these have 4");
  Sample unheard_of;
  unheard_of.words = {"never"};
  CHECK(model.encode(unheard_of).words == std::vector<unsigned>{0});
  CHECK(error_from([&] { evaluate(model, some_emoji(), "x", Inputs()); }) ==
        "the model knows nothing but image,text,table");
}

TEST_CASE("Emoji: dropout is for training") {
  Model model(small(Inputs::all(), 0.5f), 7);
  const auto loss = [&](bool training, std::uint64_t seed) {
    dynet::ComputationGraph graph;
    graph.set_seed(seed);
    return as_scalar(graph.forward(loss_of(model, graph, some_emoji(), training)));
  };
  CHECK(loss(false, 1) == loss(false, 2));
  CHECK(loss(true, 1) == loss(true, 1));
  CHECK(loss(true, 1) != loss(true, 2));
}

TEST_CASE("Emoji: scores of all choices, and of what is most frequent") {
  Model model(small(), 7);
  Corpus corpus = some_emoji();
  corpus.push_back(corpus[3]);
  corpus.back().subgroup = "new";
  const Report report = evaluate(model, corpus, "test");
  REQUIRE(report.choices.size() == 7);
  CHECK(report.whole().group.total == 8);
  CHECK(report.unknown == 1);
  CHECK(report.baseline.group.right == 4);     // Even, of which training has four of seven
  CHECK(report.baseline.subgroup.right == 2);  // the first of three that come twice
  std::size_t right = 0;
  double sureness = 0;
  for (const Sample& sample : corpus) {
    const Prediction p = predict(model, sample);
    const unsigned wanted = model.group_number(sample.group);
    right += wanted == (p.groups[1] > p.groups[0] ? 1u : 0u) ? 1 : 0;
    sureness += static_cast<double>(p.groups[wanted]);
    if (sample.subgroup != "new")
      sureness += static_cast<double>(p.subgroups[model.subgroup_number(sample.subgroup)]);
  }
  CHECK(report.whole().group.right == right);
  CHECK(report.sureness == Approx(sureness).epsilon(1e-4));
  CHECK(evaluate(model, corpus, "test", Inputs::parse("text,table")).choices.size() == 3);

  // Of as many right ones the surer counts, and one more right one counts more.
  const auto decisive = [](std::size_t found, double sure) {
    Report made;
    made.choices = {{Inputs::all(), {{found, 4}, {1, 4}}}};
    made.sureness = sure;
    return made.decisive();
  };
  CHECK(decisive(3, 2.5) > decisive(3, 2.4));
  CHECK(decisive(3, 0) > decisive(2, 7.9));

  Report made;
  made.name = "test";
  made.choices = {{Inputs::parse("text"), {{1, 4}, {0, 4}}}};
  made.baseline = {{2, 4}, {1, 4}};
  made.unknown = 1;
  std::ostringstream out;
  made.print(out);
  CHECK(out.str() ==
        "test: 4 emoji, 1 of a subgroup that training did not have\n"
        "                         group  subgroup\n"
        "  most frequent        50.00 %   25.00 %\n"
        "  text                 25.00 %    0.00 %\n");
}

TEST_CASE("Emoji: a saved model is the same model") {
  const TemporaryFolder folder;
  Description description = small(Inputs::parse("image,table"), 0.3f);
  description.split = {{7, 1, 2}};
  description.split_seed = 5;
  Model model(description, 7);
  nlp::save_model(folder.path("model"), model);
  const std::unique_ptr<Model> loaded = nlp::load_model<Model>(folder.path("model"));
  CHECK(loaded->description().split.parts == description.split.parts);
  CHECK(loaded->description().split_seed == 5);
  CHECK(loaded->description().settings.inputs == Inputs::parse("image,table"));
  CHECK(loaded->description().subgroups == description.subgroups);
  for (const Sample& sample : some_emoji())
    CHECK(predict(*loaded, sample).subgroups == predict(model, sample).subgroups);
  nlp::save_model(folder.path("again"), *loaded);
  CHECK((read_file(folder.path("again")) == read_file(folder.path("model"))));
}

TEST_CASE("Emoji: contact sheets have wrong answers first") {
  const Words lines = sheet_lines({{"a", "A & B", "A & B"}, {"b", "", "B"}, {"c", "C", "<D>"}});
  REQUIRE(lines.size() == 6);
  CHECK(lines.front().rfind("<svg ", 0) == 0);
  CHECK(lines.back() == "</svg>");
  CHECK(contains(lines[2], "#d33"));
  CHECK(contains(lines[2], ">c</text>"));
  CHECK(contains(lines[2], ">&lt;D&gt;</text>"));
  CHECK(contains(lines[3], "#999"));
  CHECK(contains(lines[4], "#2a2"));
  CHECK(contains(lines[4], ">A &amp; B</text>"));
}

TEST_CASE("Emoji: a font draws one picture for a sequence, and none for what it does not have") {
  if (!packages_are_there()) return;
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
  CHECK(point(8, 3)[2] < 120);
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
  if (!packages_are_there()) return;
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
  CHECK(cat->words == Words{"pet"});  // there is a subgroup cat-face
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
        Words{"black", "cat", "unlucky"});

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

#else

#include "tests/support/catch.h"

TEST_CASE("Emoji: the parts of the program") {
  skip("the program emoji is not built without FreeType, HarfBuzz and pugixml");
}

#endif
