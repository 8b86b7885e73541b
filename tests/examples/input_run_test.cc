// What the programs make of input that is not what it should be.

#include <string>

#include "tests/examples/programs.h"
#include "tests/support/catch.h"

TEST_CASE("all programs: a byte order mark changes nothing") {
  for (const AnyProgram& any : all_programs()) {
    const Desk desk(any);
    desk.must("train -m model");
    desk.must("printf '\\357\\273\\277' | cat - data > marked; DATA=marked train -m other");
    CHECK(desk.read("model") == desk.read("other"));
    const std::string plain = desk.must("apply -i in");
    CHECK(desk.must("printf '\\357\\273\\277' | cat - in | apply") == plain);
    // But for the speed, which the parser says.
    CHECK(desk.must("p eval -m model -d marked | sed 's/marked/data/; s/[0-9,]* sentences.s//'") ==
          desk.must("p eval -m model -d data | sed 's/[0-9,]* sentences.s//'"));
  }
}

TEST_CASE("all programs: what is no UTF-8 is refused, in every input, or read as ISO 8859-1") {
  for (const AnyProgram& any : all_programs()) {
    const Desk desk(any);
    desk.must(
        "train -m model; sed 's/the cat/the caf\\xe9/; s/cat/caf\\xe9/; s/good/caf\\xe9/' data > "
        "latin; sed 's/cat/caf\\xc3\\xa9/; s/good/caf\\xc3\\xa9/' data > utf;"
        "sed 's/cat/caf\\xe9/; s/good/caf\\xe9/' in > latin.in");
    const std::string what = "expected UTF-8, found the byte \\xe9";
    desk.refuses("DATA=latin train -m x", 1, what);
    desk.refuses("p eval -m model -d latin", 1, what);
    desk.refuses("apply -i latin.in", 1, what);
    desk.refuses("apply < latin.in", 1, "standard input:");
    desk.must("DATA=latin train -m a --encoding latin1; DATA=utf train -m b");
    CHECK(desk.read("a") == desk.read("b"));
    CHECK(contains(desk.must("apply -i latin.in --encoding latin1 || apply -i in"), "\n"));
    desk.refuses("apply --encoding ebcdic", 1,
                 "unknown encoding 'ebcdic': expected utf8 or latin1");
  }
}

TEST_CASE("all programs: binary files are refused") {
  for (const AnyProgram& any : all_programs()) {
    const Desk desk(any);
    desk.must("train -m model; printf 'a\\000b\\n' > zero");
    desk.refuses("apply -i zero", 1, "zero:1: expected text, found a zero byte");
    desk.refuses("apply -i model", 1, "model:1: ");
    desk.refuses("p eval -m model -d zero", 1, "zero:1: expected text, found a zero byte");
  }
}

TEST_CASE("all programs: bad samples are left out if that is allowed, and named") {
  for (const AnyProgram& any : all_programs()) {
    if (any.program.name == "rnnlm") continue;  // every line is a sentence
    const Desk desk(any);
    desk.must("printf '(9 x\\n\\n' | cat data - > bad; train -m model");
    desk.refuses("DATA=bad train -m x", 1, "bad:");
    const Result left_out = desk.sh("DATA=bad train -m other --skip-bad 1");
    INFO(left_out.err);
    CHECK(left_out.code == 0);
    CHECK(contains(left_out.err, "warning: bad:"));
    CHECK(contains(left_out.err, " is left out\n"));
    CHECK(desk.read("other") == desk.read("model"));
  }
}

TEST_CASE("programs that want plain text refuse markup") {
  for (const AnyProgram& any : all_programs()) {
    if (any.program.name == "parser") continue;
    const Desk desk(any);
    desk.must(
        "train -m model; printf '1\\tthe\\t_\\tDET\\t_\\t_\\t0\\troot\\t_\\t_\\n' > a.conllu");
    desk.refuses("apply -i a.conllu", 1, "a.conllu:1: expected plain text, found CoNLL-U: ");
    desk.refuses("printf '\\nthe|DET cat|NOUN\\n' | apply", 1,
                 "standard input:2: expected plain text, found word|TAG: 'the|DET cat|NOUN'");
  }
}
