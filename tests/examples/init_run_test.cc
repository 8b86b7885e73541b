// `train --init`: a model learns on from the weights of another one.

#include "tests/examples/programs.h"

TEST_CASE("Init: the weights of a model are where another one begins") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
    desk.must("EPOCHS=8 train --model old --dev data --batch 1");
    // With a learning rate that changes nothing the new model is the old one.
    const std::string out = desk.must(
        "train --model new --dev data --init old --learning-rate 1e-9 --seed 5 --report report");
    INFO(out);
    const auto scores = [&](const std::string& model) {
      return Json::parse(desk.must("p eval --json -d data -m " + model)).at("model");
    };
    const Json before = scores("old"), after = scores("new");
    for (const auto& [name, score] : before.items())
      CHECK(after.at(name).get<double>() == Approx(score.get<double>()).epsilon(1e-4));
    desk.must("train --model fresh --dev data --learning-rate 1e-9 --seed 5");
    CHECK(scores("fresh") != before);
    CHECK(contains(desk.read("report"), "\"init\":\"old\""));
    CHECK(Json::parse(dynet::read_metadata(desk.path("new"))).at("init") == "old");
    // The shape need not be said again, and not otherwise.
    desk.must("p train --train data --epochs 1 --model same --init old");
    desk.refuses("p train --train data --model other --init old --hidden 5", 1,
                 "the model in old has --hidden 4: it cannot go on with 5");
    desk.refuses("p train --train data --model old --force --init old", 2, "are the same file");
    desk.refuses("p train --train data --model new --resume --init old", 2, "--init");
    desk.refuses("p train --train data --model other --init nowhere", 1, "nowhere");
    desk.refuses("p train --train data --model other --init data", 1, "data");
  });
}

TEST_CASE("Init: new words are unknown ones, and a label that the model lacks is refused") {
  struct Case {
    std::size_t program;
    std::string words;  ///< data with an unknown word
    std::string label;  ///< data whose second sentence has an unknown label
    std::string why;
  };
  const std::string tree = "1\tdogs\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n";
  const std::vector<Case> cases = {
      {0, "the|DET dogs|NOUN\n", "the|DET cat|NOUN\nthe|DET dogs|PLURAL\n",
       "label:2: the model has no tag 'PLURAL'"},
      {2, "(3 (2 bad) (2 film))\n", "(3 (2 bad) (2 film))\n(4 (2 bad) (2 film))\n",
       "label:2: expected a label from 0 to 3 behind '(', found '4'"},
      {3, tree, tree + "1\tdogs\t_\tNOUN\t_\t_\t0\ttop\t_\t_\n",
       "label:3: the model has no label 'top' (column 8, DEPREL)"},
      {4, "awake\tthe dog rises\nasleep\tthe dog sleeps\n", "awake\tthe cat\ndreaming\tthe cat\n",
       "label:2: the model has no label 'dreaming'"}};
  for (const Case& each : cases) {
    const AnyProgram& program = all_programs()[each.program];
    INFO(program.program.name);
    const Desk desk(program, 40, "train --model old");
    desk.write("words", each.words);
    desk.write("label", each.label);
    desk.must("DATA=words train --model new --init old");
    const auto about = [&](const std::string& model) {
      return Json::parse(dynet::read_metadata(desk.path(model)));
    };
    CHECK(about("new").at("weights") == about("old").at("weights"));
    CHECK(about("new").at("labels") == about("old").at("labels"));
    desk.refuses("DATA=label train --model other --init old", 1, each.why);
    // Data of --dev may have the new labels: no weight is trained with them.
    if (each.program != 2) desk.must("DATA=words train --model other --init old --dev label");
  }
  const Desk desk(all_programs()[1], 40, "train --model old");
  desk.refuses("train --model new --init old --lower", 1,
               "the model in old has --lower off: it cannot go on with on");
  desk.refuses("train --model new --init old --level char", 1,
               "the model in old has --level word: it cannot go on with char");
}
