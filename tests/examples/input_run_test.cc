// Programs with malformed or unexpected input.

#include "tests/examples/programs.h"

TEST_CASE("all programs: a byte order mark changes nothing") {
  on_desks("train -m model", [](const AnyProgram&, const Desk& desk) {
    desk.must("printf '\\357\\273\\277' | cat - data > marked; DATA=marked train -m other");
    CHECK(desk.same_weights("model", "other"));
    const std::string plain = desk.must("apply -i in");
    CHECK(desk.must("printf '\\357\\273\\277' | cat - in | apply") == plain);
    // But for the speed, which the parser says.
    CHECK(desk.must("p eval -m model -d marked | sed 's/marked/data/; s/[0-9,]* sentences.s//'") ==
          desk.must("p eval -m model -d data | sed 's/[0-9,]* sentences.s//'"));
  });
}

TEST_CASE("all programs: what is no UTF-8 is refused, in every input, or read as ISO 8859-1") {
  on_desks("", [](const AnyProgram&, const Desk& desk) {
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
    CHECK(desk.same_weights("a", "b"));
    CHECK(contains(desk.must("apply -i latin.in --encoding latin1 || apply -i in"), "\n"));
    desk.refuses("apply --encoding ebcdic", 1,
                 "unknown encoding 'ebcdic': expected utf8 or latin1");
    // Binary files.
    desk.must("printf 'a\\000b\\n' > zero");
    desk.refuses("apply -i zero", 1, "zero:1: expected text, found a zero byte");
    desk.refuses("apply -i model", 1, "model:1: ");
    desk.refuses("p eval -m model -d zero", 1, "zero:1: expected text, found a zero byte");
  });
}

TEST_CASE("all programs: what is given a file alone reads it") {
  on_desks("train -m model", [](const AnyProgram&, const Desk& desk) {
    CHECK(desk.must("apply in") == desk.must("apply -i in"));
    desk.refuses("apply in -i in", 2, "excludes");
    desk.refuses("apply in -o in", 2, "are the same file");
    desk.refuses("apply none", 1, "none");
  });
}

TEST_CASE("all programs: bad samples are left out if that is allowed, and named") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "rnnlm") return;  // every line is a sentence
    desk.must("printf '(9 x\\n\\n' | cat data - > bad; train -m model");
    desk.refuses("DATA=bad train -m x", 1, "bad:");
    desk.refuses("DATA=bad train -m x", 1, "; --skip-bad N leaves out N such ");
    const Result left_out = desk.sh("DATA=bad train -m other --skip-bad 1");
    INFO(left_out.err);
    CHECK(left_out.code == 0);
    CHECK(contains(left_out.err, "warning: bad:"));
    CHECK(contains(left_out.err, " is left out\n"));
    CHECK(desk.same_weights("other", "model"));
  });
}

TEST_CASE("programs that want plain text refuse markup") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    if (each.program.name == "parser") return;
    desk.must(
        "train -m model; printf '1\\tthe\\t_\\tDET\\t_\\t_\\t0\\troot\\t_\\t_\\n' > a.conllu");
    desk.refuses("apply -i a.conllu", 1, "a.conllu:1: expected plain text, found CoNLL-U: ");
    desk.refuses("printf '\\nthe|DET cat|NOUN\\n' | apply", 1,
                 "standard input:2: expected plain text, found word|TAG: 'the|DET cat|NOUN'");
  });
}

TEST_CASE("tagger: every format of input and output") {
  const Desk desk(all_programs()[0], 40, "train -m model");
  // An untrained model gives one tag or another: what matters is where it stands.
  const std::string tag = desk.must("echo the | apply --format columns | cut -f2 | head -1");
  desk.write(
      "a.conllu",
      "# text = It's\n1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIt\tit\t_\tPRP\t_\t2\tnsubj\t_\tX=Y\n"
      "2\t's\tbe\t_\tVBZ\t_\t0\troot\t_\t_\n\n");
  const std::string filled = desk.must("apply --format conllu -i a.conllu");
  CHECK(contains(filled, "# text = It's\n1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIt\tit\t"));
  CHECK(contains(filled, "\tPRP\t_\t2\tnsubj\t_\tX=Y\n2\t's\tbe\t"));
  CHECK(desk.must("apply --format conllu -i a.conllu | cut -sf4 | grep -c '[A-Z]'") == "2\n");
  CHECK(desk.must(
            "apply --format conllu --column XPOS -i a.conllu | cut -sf4 | grep -c '[A-Z]' || :") ==
        "0\n");
  CHECK(contains(desk.must("apply --input-format conllu -i a.conllu"), "It|"));
  CHECK(contains(desk.must("printf 'It X\\n\\nis Y\\n' | apply --input-format columns"), "\nis|"));
  CHECK(contains(desk.must("echo It | apply --format json"), R"({"words":["It"],"tags":[")"));
  CHECK(desk.must("printf 'a b\\n\\nc\\n' | apply --format columns | cut -f1") == "a\nb\n\nc\n\n");
  desk.refuses("apply --format xml", 1, "unknown format 'xml'");
  desk.refuses("apply --input-format xml", 1, "unknown input format 'xml'");
  desk.refuses("apply --format text", 1, "--format text is for models that restore text");
  desk.refuses("apply -i a.conllu", 1, "expected plain text, found CoNLL-U");
}

TEST_CASE("tagger: tags with bars come back from what it writes") {
  const Desk desk(all_programs()[0]);
  desk.must("printf 'the\\tA|B\\ncat\\tC|D=E\\n\\n' > bars; DATA=bars train -m model");
  CHECK(contains(desk.must("echo the cat | apply > out.pipe; cat out.pipe"), "\\|"));
  desk.must("DATA=out.pipe train -m other");
}

TEST_CASE("tagger: a long line is tagged in pieces, and a short one as ever") {
  const Desk desk(all_programs()[0]);
  desk.must("train -m model; yes 'the cat sleeps' | head -n 2000 | tr '\\n' ' ' > long");
  const std::string tags = desk.must("apply --format columns -i long | cut -f2 | head -n 3000");
  // A word 100 or more words from the cuts sees the same neighbours as at the beginning.
  const std::string some = "sed -n '301,1500p'";
  CHECK(desk.must("apply --format columns -i long | cut -f2 | " + some) ==
        desk.must("apply --format columns -i long | cut -f2 | sed -n '2301,3500p'"));
  CHECK(desk.must("apply --format columns -i long | grep -c .") == "6000\n");
  desk.refuses("{ echo; cat long; } | apply --nbest 2", 1,
               "standard input:2: the best tags of a sentence are found for at most 2,000 words");
}

TEST_CASE("programs report unknown tags and labels once, with their line") {
  const Desk tagger(all_programs()[0]);
  const std::string tags =
      "warning: odd:2: the model does not know the tag 'Q', one of 2 such cases";
  tagger.must("train -m model; printf 'the|DET\\ncat|Q\\ncat|Q\\n' > odd");
  CHECK(contains(tagger.sh("p eval -m model -d odd").err, tags));
  CHECK(contains(tagger.sh("train -m x --dev odd").err, tags));
  CHECK_FALSE(contains(tagger.sh("p eval -m model -d data").err, "warning"));

  const Desk parser(all_programs()[3]);
  parser.must(
      "train -m model; sed 's/NOUN/_/; s/nsubj/odd/' data > odd; sed 's/[A-Z]\\+/_/' data > none");
  const Result scored = parser.sh("p eval -m model -d odd");
  CHECK(scored.code == 0);
  CHECK(contains(scored.err, "warning: odd:2: the model does not know the tag '_', one of 40"));
  CHECK(contains(scored.err, "warning: odd:2: the model does not know the label 'odd', one of 40"));
  CHECK(contains(parser.sh("apply -i odd").err, "warning: odd:2: the model does not know the tag"));
  const Desk classifier(all_programs()[4]);
  classifier.must("train -m model; sed 's/^asleep/dreaming/' data > odd");
  CHECK(contains(classifier.sh("p eval -m model -d odd").err,
                 "the model does not know the label 'dreaming', one of 40"));
  parser.refuses("apply -i none", 1,
                 "none: the model knows none of the tags (column 4, UPOS), such as '_'");
}

TEST_CASE("from text to trees: the parser takes its tags from a tagger") {
  const Desk desk(all_programs()[3]);
  const std::string tagger = std::string("'") + TAGGER_BINARY + "'";
  desk.must("train -m model; " + tagger +
            " train --train data --model t --features word:8 --hidden 8 --epochs 30 --patience 0");
  desk.must("sed 's/DET\\|NOUN\\|VERB/_/' data > bare; apply -i bare --tagger t > tagged");
  CHECK(desk.must("cut -f1-5 tagged") == desk.must("cut -f1-5 data"));
  CHECK(desk.must("apply -i data") == desk.must("cat tagged"));
  CHECK(desk.must(
            "printf 'the cat sleeps\\n\\n' | apply --input-format words --tagger t | cut -f2,4") ==
        "the\tDET\ncat\tNOUN\nsleeps\tVERB\n\n");
  CHECK(contains(desk.must("p score --gold data --system tagged"),
                 "UPOS        100.00 %   100.00 %   100.00 %   100.00 %\n"));
  desk.refuses("p score --gold data", 2, "--system is required");
  desk.refuses("p score --system data", 2, "--gold is required");
  desk.refuses("apply --input-format words < data", 1, "--input-format words has no tags");
  desk.must("{ printf 'the cat\\n\\n'; yes x | head -n 10002 | tr '\\n' ' '; } > long");
  const Result cut =
      desk.sh("apply --input-format words --tagger t -i long | cut -f1 | grep -c '^1$'");
  CHECK(cut.out == "3\n");
  CHECK(contains(cut.err,
                 "warning: long:3: a sentence of 10,002 words begins here and is cut into "
                 "pieces of 10,000\n"));
}

TEST_CASE("Empty input: nothing in, nothing out, nothing to learn from or to be scored on") {
  on_desks("", [](const AnyProgram& each, const Desk& desk) {
    desk.must("train --model model; touch empty; echo old > out");
    CHECK(desk.must("apply < /dev/null").empty());
    CHECK(desk.must("apply -i empty").empty());
    CHECK(desk.must("apply -i empty -o out; cat out").empty());
    // Blank lines are no sentences either.
    desk.must("printf '\\n\\n' | apply > out");
    if (each.program.name != "rnnlm") CHECK(desk.must("tr -d '\\n' < out").empty());
    // Nor can anything be learned from it.
    desk.must("printf '\\n \\n' > blank");
    for (const std::string none : {"empty", "blank"}) {
      desk.refuses("DATA=" + none + " train --model new", 1, none + " holds no ");
      desk.refuses("train --dev " + none + " --model new", 1, none + " holds no ");
      desk.refuses("train --test " + none + " --model new", 1, none + " holds no ");
      desk.refuses("p eval -m model -d " + none, 1, none + " holds no ");
    }
  });
}
