// --threads: any number of them gives the same files and the same output.

#include "tests/examples/programs.h"

TEST_CASE("Threads: models, scores and predictions have the same bits on any number") {
  on_desks(300, "", [](const AnyProgram& each, const Desk& desk) {
    // More of the words and of the lengths that sentences have.
    desk.must(
        "sed -e 's/cat/dog/; s/film/book/' data > more; cat more >> data; "
        "sed -e 's/cat/dog/; s/film/book/' in > more; cat more >> in");
    std::string first, scores;
    for (const char* threads : {"1", "2", "3"}) {
      const std::string n = threads, options = " --threads " + n;
      for (const char* parts : {"", "4"}) {
        const std::string model = "model" + std::string(parts);
        desk.must("EPOCHS=2 train --dev data --batch 8 --model " + model + n + options +
                  (*parts == '\0' ? "" : " --parts 4"));
        desk.must("cmp " + model + "1 " + model + n);
        desk.must("cmp " + model + "1.checkpoint " + model + n + ".checkpoint");
      }
      desk.must("p " + each.command + " -m model1 -i in -o out" + n + options + "; cmp out1 out" +
                n);
      const std::string scored = desk.must("p eval -m model1 -d data --json" + options);
      if (n == "1") scores = scored;
      CHECK(scored == scores);
      if (each.program.name != "rnnlm") continue;
      desk.must("p sample -m model1 -n 300 -o sample" + n + options + "; cmp sample1 sample" + n);
    }
    // The parts are a setting of the run, the threads are not.
    desk.refuses("EPOCHS=3 train --model model1 --dev data --resume --parts 3", 1,
                 "began with --parts 1: it cannot go on with 3");
    desk.must("EPOCHS=3 train --model model41 --dev data --resume --batch 8 --threads 2");
    desk.refuses("p eval -m model1 -d data --threads 0", 2, "--threads");
    desk.refuses("p eval -m model1 -d data --threads 1025", 2, "--threads");
  });
}

TEST_CASE("Threads: lines before a wrong one are answered as with one thread") {
  const Desk desk(all_programs()[2], 40, "train --model model");
  std::string in;
  for (int i = 0; i < 200; ++i) in += i == 150 ? "(3 (2 good) film)\n" : "(3 (2 good) (2 film))\n";
  desk.write("in", in);
  for (const char* threads : {"1", "2", "3"}) {
    const std::string n = threads;
    const Result result = desk.sh("apply --threads " + n + " < in > out" + n);
    CHECK(result.code == 1);
    CHECK(contains(result.err, "standard input:151: expected"));
    CHECK(desk.must("wc -l < out" + n) == "150\n");
    desk.must("cmp out1 out" + n);
  }
}
