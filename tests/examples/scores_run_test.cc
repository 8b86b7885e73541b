// Output of `eval` for each label, and scores and predictions as JSON.

#include "examples/nlp/common/label_scores.h"
#include "tests/examples/programs.h"

/// The sum of a matrix of counts and that of its diagonal.
std::pair<double, double> sums_of(const Json& counts) {
  double all = 0, diagonal = 0;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    REQUIRE(counts[row].size() == counts.size());
    for (const Json& count : counts[row]) all += count.get<double>();
    diagonal += counts[row][row].get<double>();
  }
  return {all, diagonal};
}

TEST_CASE("Label scores: tables of labels and of which is taken for which") {
  nlp::LabelScores scores("words", {{"noun", "n"}, {"verb", "v"}, {"unseen", "u"}});
  for (int i = 0; i < 3; ++i) scores.count("verb", "verb");
  scores.count("verb", "noun");
  scores.count("noun", "noun");
  scores.count("adjective", "noun");
  std::ostringstream table, matrix;
  scores.print(table);
  CHECK(table.str() ==
        "words: how well each label is found\n"
        "             precision     recall         F1     words\n"
        "  n noun       33.33 %   100.00 %    50.00 %         1\n"
        "  v verb      100.00 %    75.00 %    85.71 %         4\n"
        "  adjective     0.00 %     0.00 %     0.00 %         1\n"
        "  mean         44.44 %    58.33 %    45.24 %\n");
  scores.print_confusion(matrix);
  CHECK(matrix.str() ==
        "words: right label by row, predicted label by column\n"
        "             n  v  adjective     right\n"
        "  n noun     1  0          0  100.00 %\n"
        "  v verb     1  3          0   75.00 %\n"
        "  adjective  1  0          0    0.00 %\n");
}

TEST_CASE("Label scores: the mean is one over the labels that occur, whatever was known before") {
  const std::vector<nlp::LabelScores::Known> all = {
      {"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}, {"e", "e"}};
  for (const std::size_t known : {0u, 1u, 2u, 5u}) {
    CAPTURE(known);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(known);
    nlp::LabelScores scores("words", {all.begin(), end});
    scores.count("a", "a");
    scores.count("b", "a");
    std::ostringstream table;
    scores.print(table);
    CHECK(contains(table.str(), "  mean    25.00 %    50.00 %    33.33 %\n"));
  }
  std::ostringstream none;
  nlp::LabelScores("words", all).print(none);
  CHECK(contains(none.str(), "  mean     0.00 %     0.00 %     0.00 %\n"));
}

TEST_CASE("eval: a JSON object with the scores that the table has") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("EPOCHS=2 train --model model --dev data --report report");
    const Json scores = Json::parse(desk.must("p eval -m model -d data --json"));
    CHECK(scores.at("program") == each.program.name);
    CHECK(scores.at("data") == "data");
    const std::string units = each.program.name == "treelstm"     ? "trees"
                              : each.program.name == "classifier" ? "texts"
                                                                  : "sentences";
    CHECK(scores.at(units) == (units == "texts" ? 80 : 40));
    const std::string report = desk.read("report");
    const Json trained = Json::parse(report.substr(report.rfind("{\"line\":\"scores\"")));
    CHECK(scores.at("model") == trained.at("model"));
    CHECK(scores.at("baseline") == trained.at("baseline"));
    CHECK(scores.count("labels") + scores.count("confusion") == 0);
    if (each.program.name == "rnnlm") return;
    desk.refuses("p eval -m model -d data --json --show 1", 2, "--show");
    if (!each.has_labels()) return;
    const Json more =
        Json::parse(desk.must("p eval -m model -d data --json --per-label "
                              "--confusion"));
    CHECK(more.at("labels").size() > 0);
    for (const auto& [label, score] : more.at("labels").items()) {
      INFO(label);
      const double precision = score.at("precision"), recall = score.at("recall");
      if (precision + recall > 0)
        CHECK(score.at("f1") == Approx(2 * precision * recall / (precision + recall)));
    }
    const Json& confusion = more.at("confusion");
    CHECK(confusion.at("labels").size() == confusion.at("counts").size());
    const std::string table = desk.must("p eval -m model -d data --per-label --confusion");
    CHECK(contains(table, ": how well each label is found\n"));
    CHECK(contains(table, ": right label by row, predicted label by column\n"));
  });
}

TEST_CASE("eval --per-label: tags, spans by type, arcs with their heads") {
  const AnyProgram& tagger = all_programs()[0];
  const Desk desk(tagger);
  // 'paris' is a place in half of the sentences, so one of two spans is wrong.
  std::string data;
  for (int i = 0; i < 10; ++i)
    data += "in|O paris|B-LOC\nin|O new|B-LOC york|I-LOC\nsays|O paris|B-PER\n";
  desk.write("spans", data);
  desk.must(
      "DATA=spans EPOCHS=30 train --model spans.model --batch 2 --dropout 0 --unknown 0 "
      "--learning-rate 0.05");
  const Json scores =
      Json::parse(desk.must("p eval -m spans.model -d spans --json --per-label --confusion"));
  CHECK(scores.at("labels").size() == 2);
  CHECK(scores.at("labels").at("LOC").at("wanted") == 20);
  CHECK(scores.at("labels").at("PER").at("wanted") == 10);
  const double correct = scores.at("labels").at("LOC").at("correct").get<double>() +
                         scores.at("labels").at("PER").at("correct").get<double>();
  CHECK(scores.at("model").at("recall") == Approx(correct / 30));
  const auto [words, right] = sums_of(scores.at("confusion").at("counts"));
  CHECK(words == 70);
  CHECK(scores.at("model").at("accuracy") == Approx(right / words));

  const Desk parsing(all_programs()[3], 40, "EPOCHS=3 train --model model");
  const Json arcs =
      Json::parse(parsing.must("p eval -m model -d data --json --per-label --confusion"));
  double with_head = 0;
  for (const auto& [label, score] : arcs.at("labels").items())
    with_head += score.at("correct").get<double>();
  CHECK(arcs.at("model").at("LAS") == Approx(with_head / 120));
  CHECK(sums_of(arcs.at("confusion").at("counts")).first == 120);
  parsing.refuses("p eval -m model -d data --json --compare", 2, "--compare");
}

TEST_CASE("Predictions: a JSON object a line, with what the other format has") {
  on_desks(3, "", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "tagger") return;
    desk.must("train --model model");
    std::istringstream lines(desk.must("apply --json -i in -o out; cat out"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(Json::parse(line).is_object());
    CHECK(count == 3);
  });
  {
    const Desk desk(all_programs()[4], 40, "train --model model");
    const Json line = Json::parse(desk.must("echo 'the cat' | apply --json"));
    CHECK(line.at("words") == Json({"the", "cat"}));
    const std::string label = line.at("label");
    CHECK(line.at("probabilities").size() == 2);
    CHECK(line.at("probabilities").at(label) >= 0.5);
    CHECK(contains(desk.must("echo 'the cat' | apply"), label + "\t" + label + ":0."));
  }
  {
    const Desk desk(all_programs()[1], 40, "train --model model");
    const Json line = Json::parse(desk.must("echo 'the cat' | apply --json"));
    CHECK(line.at("text") == "the cat");
    CHECK(line.at("tokens") == 3);
    CHECK(std::exp(-line.at("log_probability").get<double>() / 3) ==
          Approx(line.at("perplexity").get<double>()));
    const Json sample = Json::parse(desk.must("p sample -m model -n 1 --json --prefix the"));
    CHECK(sample.at("tokens").at(0) == "the");
    CHECK(sample.at("text").get<std::string>() + "\n" ==
          desk.must("p sample -m model -n 1 --prefix the"));
  }
  {
    const Desk desk(all_programs()[2], 40, "train --model model");
    std::istringstream lines(
        desk.must("printf '(3 (2 good) (2 film))\\n\\n' | apply --json "
                  "--trees"));
    std::string line;
    std::getline(lines, line);
    const Json tree = Json::parse(line);
    CHECK(tree.at("words") == Json({"good", "film"}));
    double sum = 0, best = 0;
    for (const auto& [label, probability] : tree.at("probabilities").items()) {
      sum += probability.get<double>();
      best = std::max(best, probability.get<double>());
    }
    CHECK(sum == Approx(1));
    CHECK(tree.at("probabilities").at(tree.at("name").get<std::string>()) == best);
    CHECK(tree.at("tree").get<std::string>().rfind("(", 0) == 0);
    std::getline(lines, line);
    CHECK(line == "{\"words\":[]}");
  }
  {
    const Desk desk(all_programs()[3], 1, "train --model model");
    desk.write("in", "# text = the cat sleeps\n" + all_programs()[3].its_input);
    const Json sentence = Json::parse(desk.must("apply --json -i in"));
    CHECK(sentence.at("comments") == Json({"# text = the cat sleeps"}));
    REQUIRE(sentence.at("words").size() == 3);
    const Strings rows = lines_of(desk.must("apply -i in | grep -v '#'"));
    for (std::size_t i = 0; i < 3; ++i) {
      const Json& word = sentence.at("words")[i];
      const Strings row = split_fields(rows.at(i), '\t');
      CHECK((word.at("id").dump() == row[0] && word.at("head").dump() == row[6]));
      CHECK((word.at("form") == row[1] && word.at("upos") == row[3]));
      CHECK(word.at("deprel") == row[7]);
    }
  }
}

TEST_CASE("Parser: how probable arcs are") {
  const Desk desk(all_programs()[3], 1, "cp data test; EPOCHS=60 train --model model --batch 1");
  const Json sentence = Json::parse(desk.must("apply --json --probabilities -i in"));
  for (const Json& word : sentence.at("words")) {
    CHECK(word.at("probability") > 0.0);
    CHECK(word.at("probability") <= 1.0);
  }
  CHECK(sentence.at("words").back().at("probability") == 1.0);  // no other move was left
  CHECK(Json::parse(desk.must("apply --json -i in")).at("words")[0].count("probability") == 0);
  desk.write("in",
             "1\tthe\t_\tDET\t_\t_\t_\t_\t_\tSpaceAfter=No|Prob=0.5\n"
             "2\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n");
  const std::string out = desk.must("apply -i in --probabilities");
  CHECK(contains(out, "\tSpaceAfter=No|Prob=0."));
  CHECK_FALSE(contains(out, "Prob=0.5\n"));
  CHECK_FALSE(contains(out, "Prob=0.5|"));
  CHECK(contains(line_with(out, "cat"), "\tProb="));
  // Trees are the same with and without.
  desk.must(
      "apply -i in | cut -f 1-9 > one; apply -i in --probabilities | cut -f 1-9 > two; "
      "cmp one two");
}

TEST_CASE("Tagger: how probable tags are, where the format has a place for it") {
  const Desk desk(all_programs()[0], 1, "EPOCHS=5 train --model model");
  const Json line = Json::parse(desk.must("apply -i in --format json --probabilities"));
  REQUIRE(line.at("probabilities").size() == 3);
  std::istringstream rows(desk.must("apply -i in --format columns --probabilities"));
  for (const Json& probability : line.at("probabilities")) {
    CHECK(probability > 1.0 / 3);  // of three tags the best one
    CHECK(probability <= 1.0);
    std::string word, tag;
    double same = 0;
    rows >> word >> tag >> same;
    CHECK(same == Approx(probability.get<double>()).margin(0.0001));
  }
  CHECK(Json::parse(desk.must("apply -i in --format json")).count("probabilities") == 0);
  desk.write("rows", "1\tthe\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n");
  CHECK(contains(desk.must("apply -i rows --format conllu --probabilities"),
                 "\tSpaceAfter=No|Prob=0."));
  desk.refuses("apply -i in --probabilities", 1,
               "--format pipe has no place for --probabilities: columns, conllu and json have");
}
