// The forms of input and output of `annotate run`, and what `annotate eval` takes as given.

#ifdef ANNOTATE_BINARY

#include "tests/examples/annotated.h"

class AnnotateFolder : public AnnotatedFolder {
 public:
  /// Lines that `run` prints of an input.
  Strings run(const std::string& options, const std::string& input) const {
    write("in", input);
    return split_fields(must("p run -m model " + options + " in"), '\n');
  }
  /// ID, form, UPOS and MISC of each line that is no comment.
  std::string rows(const std::string& options, const std::string& input) const {
    std::string found;
    for (const std::string& line : run(options, input)) {
      const Strings f = split_fields(line, '\t');
      if (f.size() == 10) found += f[0] + " " + f[1] + " " + f[3] + " " + f[9] + "/";
    }
    return found;
  }
  Strings comments(const std::string& options, const std::string& input) const {
    Strings found;
    for (const std::string& line : run(options, input))
      if (!line.empty() && line[0] == '#') found.push_back(line);
    return found;
  }
};

std::string bare(const Strings& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += std::to_string(i + 1) + "\t" + words[i] + "\t_\t_\t_\t_\t_\t_\t_\t_\n";
  return text + "\n";
}

TEST_CASE("annotate run: the same words in every form of input") {
  const AnnotateFolder folder;
  const std::string words = "1 Cats NOUN _/2-3 don't _ _/2 do AUX _/3 n't PART _/4 sleep VERB ";
  CHECK(folder.rows("", "Cats don't sleep.") == words + "SpaceAfter=No/5 . PUNCT SpaceAfter=No/");
  CHECK(folder.rows("--ranges --input-format lines", "Cats don't sleep.\n") ==
        "1 Cats NOUN TokenRange=0:4/2-3 don't _ TokenRange=5:10/2 do AUX _/3 n't PART _/"
        "4 sleep VERB SpaceAfter=No|TokenRange=11:16/"
        "5 . PUNCT SpacesAfter=\\n|TokenRange=16:17/");
  CHECK(folder.rows("--input-format words", "Cats don't sleep .\n") == words + "_/5 . PUNCT _/");
  CHECK(folder.rows("--input-format columns", "Cats\tx\ndon't\nsleep\n.\n") ==
        words + "_/5 . PUNCT _/");
  CHECK(folder.rows("--input-format conllu", bare({"Cats", "don't", "sleep", "."})) ==
        words + "_/5 . PUNCT _/");
  for (const std::string options : {"", "--input-format words", "--input-format conllu"}) {
    const std::string input =
        contains(options, "conllu") ? bare({"Cats", "don't"}) : "Cats don't\n";
    Strings forms;
    for (const std::string& row : split_fields(folder.rows(options + " --no-mwt", input), '/'))
      if (!row.empty()) forms.push_back(split_words(row)[0] + " " + split_words(row)[1]);
    CHECK(forms == Strings{"1 Cats", "2 don't"});
  }
}

TEST_CASE("annotate run: comments name the model, documents, paragraphs and sentences") {
  const AnnotateFolder folder;
  const std::string first = "# generator = annotate " + std::string(dynet::version());
  const std::string input = "Cats sleep.\nDogs sleep.\n\nCats sleep.";
  CHECK(folder.comments("--input-format lines", input) ==
        Strings{first, "# model = Cats 1.0", "# newdoc id = in", "# newpar", "# sent_id = 1",
                "# text = Cats sleep.", "# sent_id = 2", "# text = Dogs sleep.", "# newpar",
                "# sent_id = 3", "# text = Cats sleep."});
  const Strings two = folder.comments("--input-format lines --output out in", input + "\n");
  CHECK(two.empty());
  CHECK(contains(folder.read("out"), "# newdoc id = in\n# newpar\n# sent_id = 4\n"));
  // Without a file there is no document.
  CHECK_FALSE(contains(folder.must("p run -m model < in"), "newdoc"));
  // The text of words is what MISC says.
  CHECK(folder.comments("--input-format words", "Cats sleep .\n").back() ==
        "# text = Cats sleep .");
  CHECK(folder.comments("--input-format words", "Cats\u00a0sleep .\n").back() ==
        "# text = Cats\u00a0sleep .");
  // Comments of CoNLL-U stay.
  const std::string own = "# newdoc id = d\n# sent_id = s\n# text = Cats\n";
  CHECK(folder.comments("--input-format conllu", own + bare({"Cats"})) ==
        Strings{first, "# model = Cats 1.0", "# newdoc id = d", "# sent_id = s", "# text = Cats"});
}

TEST_CASE("annotate run: fields of CoNLL-U that are filled stay, and ids are moved") {
  const AnnotateFolder folder;
  CHECK(folder.rows("--input-format conllu",
                    "1\tCats\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
                    "2.1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n3-4\tsleep.\t_\t_\t_\t_\t_\t_\t_\tA=b\n"
                    "3\tsleep\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n") ==
        "1 Cats NOUN _/2-3 don't _ _/2 do AUX _/3 n't PART _/3.1 x X _/4-5 sleep. _ A=b/"
        "4 sleep VERB _/5 . PUNCT _/");
  const Strings kept = folder.run("--input-format conllu",
                                  "1\tdon't\tmine\tX\t_\t_\t_\t_\t_\t_\n"
                                  "2\tsleep\t_\t_\t_\tA=B\t_\t_\t_\t_\n\n");
  const auto fields = [&](std::size_t line) { return split_fields(kept[line], '\t'); };
  const std::size_t at = kept.size() - 4;
  CHECK(kept[at].starts_with("1\tdon't\tmine\tX\t"));
  CHECK(fields(at)[5] == "_");
  CHECK(fields(at + 1)[2] == "sleep");
  CHECK(fields(at + 1)[5] == "A=B");
  CHECK(fields(at)[7] != "_");
  const Strings tree =
      folder.run("--input-format conllu",
                 "1\tCats\t_\t_\t_\t_\t2\tx\t_\t_\n2\tsleep\t_\t_\t_\t_\t0\troot\t_\t_\n\n");
  CHECK(contains(tree[tree.size() - 4], "\t2\tx\t"));
}

TEST_CASE("annotate run: sentences before an error are written") {
  const AnnotateFolder folder;
  const auto check = [&](const std::string& format, const std::string& input,
                         const std::string& message) {
    folder.write("in", input);
    const Result result = folder.sh("p run -m model --input-format " + format + " in");
    CHECK(result.code == kFailed);
    CHECK(contains(result.out, "\tCats\t"));
    CHECK(contains(result.err, message));
  };
  check("conllu", bare({"Cats"}) + "1\tx\n\n", "in:3: expected the 10 tab-separated columns");
  check("conllu", bare({"Cats"}) + "1\ta\t_\t_\t_\t_\t_\t_\t_\tSpacesInToken=b\n\n",
        "in:3: SpacesInToken (column 10, MISC) is not the form 'a'");
  check("conllu", bare({"Cats"}) + "1\ta\t_\t_\t_\t_\t7\tx\t_\t_\n\n",
        "in:3: expected a word number from 0 to 1 in column 7, HEAD, found '7'");
  check("text", "Cats sleep.\n\n\xff\n", "in:3: ");
  folder.refuses("p train --train data --model new --name 'a\nb'", kFailed,
                 "--name has several lines");
  folder.refuses("p run -m model --input-format x data", kFailed, "unknown input format 'x'");
  folder.refuses("p run -m model --input-format words --ranges data", kFailed,
                 "--ranges needs text");
  folder.refuses("p run -m model --output data in data", kWrongUsage, "data");
}

TEST_CASE("annotate run: JSON has what CoNLL-U has") {
  const AnnotateFolder folder;
  const Strings lines = folder.run("--json --ranges", "Cats don't sleep.\n");
  REQUIRE(lines.size() == 2);
  const Json object = Json::parse(lines[0]);
  CHECK(object.at("comments").back() == "# text = Cats don't sleep.");
  const Json& cats = object.at("words").at(0);
  CHECK(cats == Json::parse(R"({"id": 1, "form": "Cats", "lemma": "cat", "upos": "NOUN",
      "xpos": "N", "feats": {"Number": "Plur"}, "head": 4, "deprel": "nsubj",
      "misc": {"TokenRange": "0:4"}})"));
  CHECK(object.at("words").size() == 5);
  CHECK(object.at("multiword") == Json::parse(R"([{"first": 2, "last": 3, "form": "don't",
      "misc": {"TokenRange": "5:10"}}])"));
  const std::string given = "1\tCats\t_\tX\t_\tA\t0\tr\t_\tB\n\n";
  const Json kept = Json::parse(folder.run("--json --input-format conllu", given)[0]);
  CHECK(kept.at("words").at(0).at("deprel") == "r");
  CHECK(kept.at("words").at(0).at("feats") == Json{{"A", true}});
}

TEST_CASE("annotate run: a lexicon takes precedence") {
  const AnnotateFolder folder;
  const auto sleep = [&](const std::string& lexicon, const std::string& form = "sleep") {
    folder.write("lexicon", lexicon);
    const Strings lines = folder.run("--input-format words --lexicon lexicon", "Cats " + form);
    const Strings fields = split_fields(lines[lines.size() - 3], '\t');
    return fields[2] + " " + fields[3] + " " + fields[5];
  };
  CHECK(sleep("# nothing\n\n") == "sleep VERB _");
  CHECK(sleep("sleep\tNOUN\tnap\tNumber=Sing\n") == "nap NOUN Number=Sing");
  CHECK(sleep("sleep\t_\tnap\n") == "nap VERB _");
  CHECK(sleep("sleep\tNEW\t_\n") == "sleep NEW _");
  // The model chooses among several.
  CHECK(sleep("sleep\tNOUN\ta\nsleep\tVERB\tb\nsleep\tX\tc\n") == "b VERB _");
  CHECK(sleep("sleep\tVERB\tb\nsleep\tVERB\tsleep\tA=B\n") == "sleep VERB A=B");
  CHECK(sleep("sleep\tVERB\tsleep\tA=B\nsleep\tVERB\tb\n") == "sleep VERB A=B");
  CHECK(sleep("Sleep\tX\tb\nsleep\tX\tc\n") == "c X _");
  CHECK(sleep("Sleep\tX\tb\nsleep\tX\tc\n", "Sleep") == "b X _");
  CHECK(sleep("sleep\tX\tc\n", "SLEEP").starts_with("c X "));
  folder.write("lexicon", "sleep\tNOUN\n");
  folder.refuses("p run -m model --lexicon lexicon in", kFailed,
                 "lexicon:1: expected form, UPOS, lemma and perhaps features");
  for (const std::string wrong :
       {"A B\tnap", "X\tnap\tA", "X\tnap\tA=", "X\tnap\t=B", "X\tnap\tA=B|C", "X\tnap\tA=B C"}) {
    folder.write("lexicon", "sleep\t" + wrong + "\n");
    folder.refuses("p run -m model --lexicon lexicon in", kFailed,
                   wrong[0] == 'A'
                       ? "lexicon:1: expected a UPOS, found 'A B'"
                       : "lexicon:1: expected features as Name=Value|Name=Value, found");
  }
}

TEST_CASE("annotate run: a sentence of thousands of words has one tree") {
  const AnnotateFolder folder;
  std::string line;
  for (int i = 0; i < 2500; ++i) line += i % 7 ? "sleep " : "Cats ";
  std::size_t words = 0, roots = 0;
  for (const std::string& row : folder.run("--input-format words", line + "\n")) {
    const Strings fields = split_fields(row, '\t');
    if (fields.size() != 10) continue;
    ++words;
    roots += fields[6] == "0";
    CHECK(fields[0] == std::to_string(words));
    CHECK(fields[6] != fields[0]);
    CHECK((fields[6] == "0") == (fields[7] == "root"));
    CHECK(std::stoul(fields[6]) <= 2500);
    if (words > 2000) CHECK((std::stoul(fields[6]) > 2000 || fields[7] == "parataxis"));
  }
  CHECK(words == 2500);
  CHECK(roots == 1);
}

TEST_CASE("annotate train: one stage alone, all others stay") {
  const AnnotateFolder folder;
  const auto weights = [&](const std::string& model) {
    std::map<std::string, std::string> all;
    for (const NamedTensor& t : dynet::read_tensors(folder.path(model))) all[t.name] = t.bytes;
    return all;
  };
  // Another treebank, with another label, tag and letter.
  std::string other = folder.read("data");
  for (const auto& [from, to] :
       {std::pair("nsubj", "subject"), {"NOUN", "N"}, {"Dogs", "D\u00fcgs"}})
    for (std::size_t at; (at = other.find(from)) != other.npos;)
      other.replace(at, std::strlen(from), to);
  folder.write("other", other);
  const auto before = weights("model");
  for (const std::string stage : {"segmenter", "tagger", "parser"}) {
    CAPTURE(stage);
    const std::string train =
        "p train --train other --learning-rate 0.02 --batch 4 -m " + stage + " --only " + stage;
    folder.must(train + " --from model --epochs 3 --tree-hidden 6");
    std::size_t changed = 0;
    for (const auto& [name, bytes] : weights(stage)) {
      CAPTURE(name);
      const bool own = name.starts_with(stage + "/");
      if (!own) CHECK(bytes == before.at(name));
      changed += own;
    }
    CHECK(changed > 3);
    const std::string found = folder.must("echo Cats don\\'t sleep. | p run -m " + stage);
    CHECK(contains(found, "subject") == (stage == "parser"));
    CHECK(contains(found, "\tN\tN\t") == (stage == "tagger"));
    // A resumed run needs the other model no more.
    folder.must(
        "p train --train other --learning-rate 0.02 --batch 4 -m whole --force --epochs 4 "
        "--from model --tree-hidden 6 --only " +
        stage);
    folder.must(train + " --epochs 4 --resume");
    CHECK(folder.same_weights("whole", stage));
    folder.refuses("p train --train other -m whole --epochs 3 --resume --only all", kFailed,
                   "began with --only " + stage);
  }
  CHECK(contains(folder.sh("p train --train data -m alone --only parser --epochs 1").err,
                 "warning: without --from all but the parser stays at random"));
  // A sentence that is no tree may be left out.
  folder.write("wrong", folder.read("data") + "1\tHi\t_\t_\t_\t_\t7\tx\t_\t_\n\n");
  folder.refuses("p train --train wrong -m new", kFailed, "found '7'; --skip-bad N leaves out");
  folder.must("p train --train wrong -m skipped --only parser --epochs 1 --skip-bad 1");
  folder.write("words", bare({"Cats", "sleep"}));
  folder.refuses("p train --train words -m new --from model --only parser", kFailed,
                 "words has no trees, which --only parser learns from");
  folder.refuses("p train --train data -m new --from model", kFailed, "--from needs --only");
  folder.refuses("p train --train data -m new --only x", kFailed, "unknown stage 'x'");
}

TEST_CASE("annotate train: a small treebank has small updates, smaller steps and more epochs") {
  const AnnotateFolder folder;
  const std::string small =
      "p train --train data -m new --force --max-seconds 1e-9 --report report --letter-hidden 4 "
      "--word 4 --hidden 4 --tree-hidden 4 --char 4 --mlp 4 --arc 4 --label 4";
  const auto settings = [&](const std::string& options) {
    folder.must(small + options);
    const Json all = Json::parse(split_fields(folder.read("report"), '\n')[0]).at("settings");
    std::string text;
    for (const char* const name : {"batch", "decay", "epochs", "patience"})
      text += all.at(name).dump() + " ";
    return text;
  };
  const auto repeat = [&](int times, const std::string& sentence) {
    std::string data;
    for (int i = 0; i < times; ++i) data += sentence;
    folder.write("data", data);
  };
  CHECK(settings("") == "2 0.964365 60 10 ");
  CHECK(settings(" --batch 5 --decay 0.5 --epochs 7 --patience 3") == "5 0.5 7 3 ");
  const std::string sentence = "1\tCats\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n\n";
  for (const auto& [sentences, expected] :
       {std::pair(1999, "3 0.964365 60 10 "), {2000, "4 0.93 30 5 "}, {9000, "16 0.93 30 5 "}}) {
    repeat(sentences, sentence);
    CHECK(settings("") == expected);
  }
}

TEST_CASE("annotate train: word vectors") {
  const AnnotateFolder folder;
  folder.write("v.vec", "3 3\nCats 1 2 3\nzebra 4 5 6\nDogs 7 8 9\n");
  const std::string train = "p train --train data -m new --force --epochs 1 --vectors v.vec ";
  const std::string small =
      "--letter-hidden 4 --hidden 4 --tree-hidden 4 --char 4 --mlp 4 --arc 4 --label 4";
  CHECK(contains(folder.must(train + small),
                 "vectors: 3 words of 3 numbers, for 33.33 % of the 6 words of the training data"));
  // The vector of a word that training lacks is known, and stays.
  bool has_zebra = false;
  const Floats zebra = {4, 5, 6};
  for (const NamedTensor& t : dynet::read_tensors(folder.path("new")))
    has_zebra = has_zebra || (t.name == "words" && t.bytes.size() >= 12 &&
                              std::memcmp(&t.bytes[t.bytes.size() - 12], zebra.data(), 12) == 0);
  CHECK(has_zebra);
  folder.refuses(train + "--init model", kFailed, "--vectors is for new models");
}

TEST_CASE("annotate eval: words or tags are given") {
  const AnnotateFolder folder;
  const auto eval = [&](const std::string& from) {
    return Json::parse(folder.must("p eval -m model -d data --json --from " + from)).at("model");
  };
  folder.write("data", folder.read("data") + bare({"Cats.", "sleep", "?!"}));
  const Json text = eval("text"), words = eval("words"), tags = eval("tags");
  CHECK(text.at("Words") < 1);
  CHECK(words.at("Words") == 1);
  CHECK(words.at("UPOS") < 1);
  CHECK(tags.at("UPOS") == 1);
  CHECK(tags.at("Lemmas") == 1);
  CHECK(words.at("LAS") == tags.at("LAS"));
  CHECK(words.at("LAS") < 1);
  folder.refuses("p eval -m model -d data --from x", kFailed, "unknown --from 'x'");
}

#endif
