// The network of the program emoji, and its scores.

#ifdef EMOJI_BINARY

#include "examples/mixed/emoji/model.h"
#include "examples/mixed/emoji/sheet.h"
#include "tests/examples/model_checks.h"

namespace emoji_test {

using namespace emoji;

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

Expression loss_of(Model& model, ComputationGraph& graph, const Corpus& corpus, bool training) {
  model.begin_graph(graph, training);
  std::vector<Expression> losses;
  for (const Sample& sample : corpus) {
    losses.push_back(model.loss(graph, model.encode(sample), Inputs::all(),
                                model.group_number(sample.group),
                                model.subgroup_number(sample.subgroup)));
  }
  return sum(losses);
}

Prediction predict(Model& model, const Sample& sample, const Inputs& inputs = Inputs::all()) {
  ComputationGraph graph;
  return model.predict(graph, {&sample, 1}, {&inputs, 1})[0][0];
}

TEST_CASE("Emoji: pictures as numbers, column by column, shifted and mirrored") {
  Picture picture{2, {}};
  for (unsigned i = 0; i < 16; ++i) picture.points.push_back(static_cast<std::uint8_t>(i));
  // Values of the first channel, line by line: 0, 4; 8, 12.
  const auto first = [&](const Shift& shift) {
    std::vector<int> values;
    const Floats all = picture_numbers(picture, shift);
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

TEST_CASE("Emoji: choices of inputs") {
  CHECK(Inputs::parse("table,image").names() == "image,table");
  CHECK(error_from([] { Inputs::parse("sound"); }) ==
        "unknown part 'sound': expected image, text or table");
  CHECK(contains(error_from([] { Inputs::parse(""); }), "unknown part ''"));
  Strings names;
  for (const Inputs& choice : Inputs::all().choices()) names.push_back(choice.names());
  CHECK(names == Strings{"image", "text", "table", "image,text", "image,table", "text,table",
                         "image,text,table"});
  CHECK(Inputs::parse("text").choices().size() == 1);
}

TEST_CASE("Emoji: gradients are right, and dropout is for training") {
  const Corpus corpus = some_emoji();
  Model model(small(Inputs::all(), 0.3f), 7);
  // Two for each of three layers of pictures, words, two of a row's first layer, four for each
  // part to be added, the vector that is always there, and two for each kind of label.
  check_training_of(3 * 2 + 1 + 2 + 3 * 4 + 1 + 2 * 2, [&](auto& graph, bool training) {
    return loss_of(model, graph, corpus, training);
  });
}

TEST_CASE("Emoji: predictions fit the loss, alone and in company") {
  const Corpus corpus = some_emoji();
  Model model(small(), 7);
  const std::vector<Inputs> choices = Inputs::all().choices();
  ComputationGraph graph;
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
    ComputationGraph graph;
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

TEST_CASE("Emoji: a model refuses unfit pictures and encodes new words as 0") {
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

  // Sureness decides between equal numbers of right ones; one more right one outweighs it.
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

TEST_CASE("Emoji: contact sheets have wrong answers first") {
  const Strings lines = sheet_lines({{"a", "A & B", "A & B"}, {"b", "", "B"}, {"c", "C", "<D>"}});
  REQUIRE(lines.size() == 6);
  CHECK(lines.front().starts_with("<svg "));
  CHECK(lines.back() == "</svg>");
  CHECK(contains(lines[2], "#d33"));
  CHECK(contains(lines[2], ">c</text>"));
  CHECK(contains(lines[2], ">&lt;D&gt;</text>"));
  CHECK(contains(lines[3], "#999"));
  CHECK(contains(lines[4], "#2a2"));
  CHECK(contains(lines[4], ">A &amp; B</text>"));
}

}  // namespace emoji_test

#endif
