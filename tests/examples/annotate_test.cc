// Text of treebanks, and what annotating keeps of a text.

#include "examples/nlp/annotate/model.h"
#include "examples/nlp/annotate/pipeline.h"
#include "examples/nlp/annotate/treebank.h"
#include "tests/examples/helpers.h"

namespace annotate_test {

using namespace annotate;

/// Lines of words as "id form misc", with '/' between them.
std::string rows(const std::string& words) {
  std::string lines;
  for (const std::string& word : split_fields(words, '/')) {
    const Strings f = split_words(word);
    lines +=
        join({f[0], f[1], "_", "_", "_", "_", "_", "_", "_", f.size() > 2 ? f[2] : "_"}, "\t") +
        "\n";
  }
  return lines + "\n";
}

Treebank treebank(const std::string& lines) {
  const TemporaryFolder folder;
  folder.write("data", lines);
  return read_treebank(folder.path("data"));
}

std::string text(const Paragraph& paragraph) { return utf8(paragraph.letters); }

/// Surface tokens of a sentence, the words of multiword tokens in brackets.
std::string shown(const Paragraph& paragraph, const Tokens& sentence) {
  Strings all;
  for (const Token& token : sentence) {
    all.push_back(paragraph.text(token.begin, token.end));
    if (!token.words.empty()) all.back() += "(" + join(token.words, " ") + ")";
  }
  return join(all, " ");
}

const char* const kTree =
    "1\tA\ta\tDET\tD\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tN\tNumber=Sing\t3\tnsubj\t_\t_\n"
    "3\tsat\tsit\tVERB\tV\t_\t0\troot\t_\tSpaceAfter=No\n4\t.\t.\tPUNCT\tP\t_\t3\tpunct\t_\t_\n\n";

Description small(const Treebank& train) {
  Description chosen;
  ModelSettings& settings = chosen.settings;
  for (unsigned* size : {&settings.word, &settings.character, &settings.hidden,
                         &settings.tree_hidden, &settings.mlp, &settings.arc, &settings.label})
    *size = 4;
  chosen.segmenter.letter = chosen.segmenter.hidden = 4;
  return describe(chosen, train);
}

TEST_CASE("annotate: the text of a treebank, with its spaces, paragraphs and multiword tokens") {
  const Treebank data =
      treebank("# newdoc\n" + rows("1-2 don't/1 do/2 n't/3 go SpaceAfter=No/4 !") +
               rows("1-2 du SpaceAfter=No/1 de/2 le/3 (/4 Été SpaceAfter=No/5 )") + "# newpar\n" +
               rows("1 Go"));
  REQUIRE(data.paragraphs.size() == 2);
  const Paragraph& first = data.paragraphs[0];
  CHECK(text(first) == "don't go! du( Été)");
  REQUIRE(first.sentences.size() == 2);
  CHECK(shown(first, first.sentences[0]) == "don't(do n't) go !");
  CHECK(shown(first, first.sentences[1]) == "du(de le) ( Été )");
  CHECK(text(data.paragraphs[1]) == "Go");
  CHECK(data.places[2].paragraph == 1);
  CHECK(data.places[2].sentence == 0);
  // Nothing says where spaces are.
  CHECK(text(treebank(rows("1 Go/2 (/3 now/4 )/5 !")).paragraphs[0]) == "Go (now)!");
}

TEST_CASE("annotate: columns and trees may be missing, but not be wrong") {
  CHECK(treebank(rows("1 Go")).sentences[0].heads.empty());
  CHECK(treebank(kTree).sentences[0].heads == std::vector<unsigned>{2, 3, 0, 3});
  for (const auto& [lines, message] :
       {std::pair(std::string("1\ta\t_\t_\t_\t_\t1\tx\t_\t_\n\n"), "run in a circle"),
        {rows("1 Hi SpacesInToken="), "is blank"},
        {rows("1 Hi SpacesInToken=Ho"), "is not the form 'Hi'"},
        {rows("1 Hi SpacesAfter=x"), "expected white space"}})
    CHECK(contains(error_from([&, text = lines] { treebank(text); }), message));
  const Description description = small(treebank(rows("1 Go")));
  CHECK(description.labels.empty());
  for (const auto& classes : description.classes) CHECK(classes == Strings{"_"});
}

TEST_CASE("annotate: columns that a file does not say are not learned") {
  const Treebank train = treebank(std::string(kTree) + rows("1 Go/2 on"));
  const Description description = small(train);
  CHECK(description.classes[kUpos] == Strings{"DET", "NOUN", "PUNCT", "VERB"});
  CHECK(description.classes[kFeats] == Strings{"Number=Sing", "_"});
  CHECK(description.classes[kLemma] == Strings{"l0,0,0,0,0:"});
  Model model(description, 1);
  const Encoded encoded = model.encode(train.sentences[1]);
  for (const auto& classes : encoded.classes)
    CHECK(classes == std::vector<unsigned>{Encoded::kNothing, Encoded::kNothing});
  // Rules that were seen once are left out; then the lemma is the form.
  const Description once = small(treebank("1\tsat\tsit\tVERB\t_\t_\t_\t_\t_\t_\n\n"));
  Model other(once, 1);
  ComputationGraph graph;
  const std::vector<Strings> ran = {{"ran"}};
  CHECK(other.annotate(graph, ran)[0].columns[kLemma] == Strings{"ran"});
  // A treebank without trees can be scored; none of its heads is right.
  const Report report = evaluate(model, train, "data");
  CHECK(report.scores.uas.gold == 6);
  CHECK(evaluate(other, train, "data").scores.las.correct == 0);
}

TEST_CASE("annotate: the tags of a word are a combination of the treebank") {
  const Treebank train = treebank(kTree);
  const Strings words = {"A", "cat", "sat", ".", "b", "c", "dd", "ee", "x1", "-"};
  std::set<std::string> seen;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Model model(small(train), seed);
    for (const std::string& line :
         conllu_lines({}, Tokens(words.size()), annotate_words(model, {words}, "")[0])) {
      const auto fields = split_fields(line, '\t');
      seen.insert(fields[3] + " " + fields[4] + " " + fields[5]);
    }
  }
  for (const std::string& tags : seen)
    CHECK(std::set<std::string>{"DET D _", "NOUN N Number=Sing", "VERB V _", "PUNCT P _"}.count(
              tags) == 1);
  CHECK(seen.size() > 1);
  // No word has all of them: each column for itself.
  const Treebank apart = treebank(
      "1\tA\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n"
      "3\tsat\t_\t_\tV\t_\t_\t_\t_\t_\n4\t.\t_\t_\tP\t_\t_\t_\t_\t_\n\n");
  CHECK(small(apart).tags.empty());
  Model model(small(apart), 1);
  CHECK(annotate_words(model, {words}, "")[0].columns[kUpos].size() == words.size());
  for (std::size_t output = 0; output < 3; ++output) {
    Description damaged = small(train);
    damaged.tags[0][output] = static_cast<unsigned>(damaged.classes[output].size());
    CHECK_THROWS_WITH(damaged.check(), Catch::Contains("a tag without a class"));
  }
}

TEST_CASE("annotate: a stage that is trained alone takes some fields of its data, not all") {
  const Description old;
  Description now;
  now.treebank = "now";
  now.settings = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5f};
  now.segmenter.hidden = 3;
  now.words = now.characters = now.labels = {"a"};
  now.classes[kLemma] = {"b"};
  now.tags = {{0, 0, 0}};
  now.crossing = true;
  const auto taken = [&](Stage stage) {
    const Description d = with_stage(old, now, stage);
    const ModelSettings &s = d.settings, &n = now.settings;
    std::string names;
    for (const auto& [name, is_taken] :
         {std::pair("treebank", d.treebank == now.treebank),
          {"segmenter", d.segmenter.hidden == 3},
          {"words", d.words == now.words && s.word == n.word && s.hidden == n.hidden},
          {"characters", d.characters == now.characters && s.character == n.character},
          {"layers", s.layers == n.layers && s.dropout == n.dropout},
          {"mlp", s.mlp == n.mlp},
          {"classes", d.classes == now.classes && d.tags == now.tags},
          {"trees", s.tree_hidden == n.tree_hidden && s.tree_layers == n.tree_layers},
          {"arcs", s.arc == n.arc && s.label == n.label},
          {"labels", d.labels == now.labels && d.crossing}})
      if (is_taken) names += std::string(" ") + name;
    return names;
  };
  CHECK(taken(Stage::kAll) ==
        " treebank segmenter words characters layers mlp classes trees arcs labels");
  CHECK(taken(Stage::kSegmenter) == " treebank segmenter");
  CHECK(taken(Stage::kTagger) == " treebank mlp classes");
  CHECK(taken(Stage::kParser) == " treebank trees arcs labels");
}

TEST_CASE("annotate: the root has the label root, and no other word has it") {
  const auto labels = [](const std::string& label) {
    Model model(small(treebank("1\tHi\t_\tX\t_\t_\t0\t" + label + "\t_\t_\n\n")), 1);
    ComputationGraph graph;
    const Strings words = {"a", "b", "c"};
    const Annotation found = model.annotate(graph, {&words, 1})[0];
    REQUIRE(found.heads.size() == 3);
    Strings others;
    for (std::size_t i = 0; i < 3; ++i)
      if (found.heads[i] == 0)
        CHECK(found.labels[i] == "root");
      else
        others.push_back(found.labels[i]);
    return join(others, " ");
  };
  CHECK(labels("root") == "dep dep");
  CHECK(labels("x") == "x x");
}

TEST_CASE("annotate: every letter of a text is in one token, whatever a model knows") {
  const Treebank train =
      treebank(std::string(kTree) + rows("1-2 don't/1 do/2 n't") + rows("1-2 won't/1 wo/2 n't"));
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    Model model(small(train), seed);
    dynet::RandomStream random(seed);
    std::vector<Paragraph> paragraphs;
    const std::u32string letters = U"aAt.'n  \n1\u00e9\u4e2d\U0001F600-";
    for (const std::size_t size : {1, 2, 30, 9000}) {
      paragraphs.emplace_back();
      for (std::size_t i = 0; i < size; ++i)
        paragraphs.back().letters += letters[random.bits(i + 10000 * size) % letters.size()];
    }
    std::u32string all;
    for (Paragraph& paragraph : paragraphs) {
      paragraph.letters += U"x";  // so that it is not blank
      if (random.bits(all.size()) % 2) paragraph.letters += U" \r\n\n";
      all += paragraph.letters;
    }
    segment(model, paragraphs);
    const Annotated found = annotate_text(model, paragraphs, "");
    std::string file;
    auto annotation = found.sentences.begin();
    for (const Paragraph& paragraph : found.paragraphs) {
      file += "# newpar\n";
      for (const Tokens& sentence : paragraph.sentences) {
        CHECK(annotation->words == words_of(paragraph, sentence));
        file += join(conllu_lines(paragraph, sentence, *annotation++), "\n") + "\n\n";
      }
    }
    CHECK(annotation == found.sentences.end());
    // It is CoNLL-U with trees of one root, and has the text.
    const Treebank back = treebank(file);
    std::u32string again;
    for (const Paragraph& paragraph : back.paragraphs) again += paragraph.letters;
    CHECK(utf8(again) == utf8(all));
    REQUIRE(back.sentences.size() == found.sentences.size());
    for (std::size_t i = 0; i < back.sentences.size(); ++i) {
      CHECK(back.sentences[i].heads == found.sentences[i].heads);
      CHECK(back.sentences[i].columns == found.sentences[i].columns);
    }
  }
}

TEST_CASE("annotate: a token that goes on in the next graph has the words of the whole token") {
  const Treebank train =
      treebank(std::string(kTree) + rows("1-2 don't/1 do/2 n't") + rows("1-2 won't/1 wo/2 n't"));
  std::size_t split = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Model model(small(train), seed);
    dynet::RandomStream random(seed);
    Paragraph paragraph;
    for (std::size_t i = 0; i < 8200; ++i)  // a graph ends after 2048 letters without white space
      paragraph.letters += U"aAt.'n1"[random.bits(i) % 7];
    ComputationGraph graph;
    const auto found = model.segmenter().segment(graph, {&paragraph, 1});
    for (const Tokens& sentence : found[0])
      for (const Token& token : sentence) {
        if (token.words.empty()) continue;
        ++split;
        CHECK(join(token.words, "") == paragraph.text(token.begin, token.end));
      }
  }
  CHECK(split > 0);
}

TEST_CASE("annotate: a token that training has twice is split by itself, others by their letters") {
  const std::string twice = rows("1-2 don't/1 do/2 n't") + rows("1-2 don't/1 do/2 n't");
  const Treebank train = treebank(std::string(kTree) + twice + rows("1-2 won't/1 wo/2 n't"));
  Model model(small(train), 1);
  CHECK(model.description().segmenter.scripts.size() == 1);
  CHECK(model.description().segmenter.tokens == Strings{"don't"});
  CHECK(small(treebank(std::string(kTree) + kTree)).segmenter.tokens.empty());
  for (dynet::Parameter p : model.parameters().parameters_list()) {
    Floats values(p.dim().size(), 0.0f);
    // Columns of weights of the two classes: no script, the script.
    for (std::size_t i = 1; i < values.size() && p.get_fullname() == "/segmenter/token-weight";
         i += 2)
      values[i] = 1;
    p.set_value(values);
  }
  for (dynet::LookupParameter table : model.parameters().lookup_parameters_list())
    if (table.get_fullname() == "/segmenter/tokens") table.initialize(0, {1, 1, 1, 1});
  Paragraph paragraph{U"don't won't", {{{0, 5}, {6, 11}}}};
  ComputationGraph graph;
  const auto found = model.segmenter().segment(graph, {&paragraph, 1}, Find::kWords);
  CHECK(shown(paragraph, found[0][0]) == "don't(do n't) won't");
}

TEST_CASE("annotate: a paragraph is cut in the same way in any company") {
  const Treebank train =
      treebank(std::string(kTree) + rows("1-2 don't/1 do/2 n't") + rows("1-2 won't/1 wo/2 n't"));
  Model model(small(train), 1);
  std::vector<Paragraph> paragraphs;
  for (const std::size_t size : {50, 0, 7, 9000, 1, 8192, 300, 17000, 3}) {
    paragraphs.emplace_back();
    dynet::RandomStream random(size);
    for (std::size_t i = 0; i < size; ++i)
      paragraphs.back().letters += U"aA .'n"[random.bits(i) % 6];
  }
  ComputationGraph graph;
  for (const Find find : {Find::kSentences, Find::kTokens}) {
    const std::vector<std::vector<Tokens>> all = model.segmenter().segment(graph, paragraphs, find);
    for (std::size_t i = 0; i < paragraphs.size(); ++i) {
      CAPTURE(i);
      CHECK(model.segmenter().segment(graph, {&paragraphs[i], 1}, find)[0] == all[i]);
      if (find == Find::kTokens) CHECK(all[i].size() == (paragraphs[i].letters.empty() ? 0 : 1));
      // The words of tokens that are given are those of tokens that are found.
      Paragraph given = paragraphs[i];
      given.sentences = all[i];
      CHECK(model.segmenter().segment(graph, {&given, 1}, Find::kWords)[0] == all[i]);
    }
  }
}

TEST_CASE("annotate: white space in MISC, and where tokens are") {
  std::vector<Paragraph> paragraphs = {{U"  a b\t c|\\ d\n", {}}};
  paragraphs[0].sentences = {{{2, 3}, {4, 5}, {7, 10}}, {{11, 12}}};
  Annotation annotation;
  annotation.words = {"a", "b", "c|\\"};
  for (auto& column : annotation.columns) column.assign(3, "_");
  const auto misc = [&](std::optional<std::size_t> offset) {
    Strings all;
    for (const std::string& line :
         conllu_lines(paragraphs[0], paragraphs[0].sentences[0], annotation, offset))
      all.push_back(split_fields(line, '\t')[nlp::conllu::kMisc]);
    return all;
  };
  CHECK(misc({}) == Strings{"SpacesBefore=\\s\\s", "SpacesAfter=\\t\\s", "_"});
  CHECK(misc(100) == Strings{"SpacesBefore=\\s\\s|TokenRange=102:103",
                             "SpacesAfter=\\t\\s|TokenRange=104:105", "TokenRange=107:110"});
  CHECK(escaped(U" \t\r\n|\\x") == "\\s\\t\\r\\n\\p\\\\x");
  CHECK(unescaped(escaped(U" \t\r\n|\\x\\s")) == U" \t\r\n|\\x\\s");
  CHECK(unescaped("\\") == U"\\");
  CHECK(escaped(U"\u00a0\u3000") == "\\u00a0\\u3000");
  CHECK(unescaped("\\u00a0\\u0041\\u12") == U"\u00a0\\u0041\\u12");
  // A token with spaces in it has them once in its form.
  paragraphs[0] = {U"a \n b", {{{0, 5}}}};
  annotation.words = words_of(paragraphs[0], paragraphs[0].sentences[0]);
  CHECK(annotation.words == Strings{"a b"});
  const Strings lines = conllu_lines(paragraphs[0], paragraphs[0].sentences[0], annotation);
  CHECK(lines[0] == "1\ta b\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|SpacesInToken=a\\s\\n\\sb");
  CHECK(text(treebank(lines[0] + "\n\n").paragraphs[0]) == "a \n b");
}

TEST_CASE("annotate: lines of CoNLL-U") {
  const Treebank data = treebank(rows("1-2 du/1 de/2 le/3 go SpaceAfter=No/4 !"));
  Annotation annotation;
  annotation.words = {"de", "le", "go", "!"};
  for (std::size_t output = 0; output < kOutputs; ++output)
    annotation.columns[output] = {"a", "b", "c", std::to_string(output)};
  annotation.heads = {3, 1, 0, 3};
  annotation.labels = {"case", "det", "root", "punct"};
  const Paragraph& paragraph = data.paragraphs[0];
  CHECK(conllu_lines(paragraph, paragraph.sentences[0], annotation) ==
        Strings{"1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_", "1\tde\ta\ta\ta\ta\t3\tcase\t_\t_",
                "2\tle\tb\tb\tb\tb\t1\tdet\t_\t_", "3\tgo\tc\tc\tc\tc\t0\troot\t_\tSpaceAfter=No",
                "4\t!\t3\t0\t1\t2\t3\tpunct\t_\tSpaceAfter=No"});
  CHECK(text_of(paragraph, paragraph.sentences[0]) == "du go!");
}

}  // namespace annotate_test
