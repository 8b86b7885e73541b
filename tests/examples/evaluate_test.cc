// The tagger: views of a word; accuracy, span F1, marks, and the most frequent tag per word.

#include "examples/nlp/tagger/evaluate.h"

#include "examples/nlp/tagger/features.h"
#include "tests/examples/helpers.h"

namespace evaluate_test {

using namespace nlp;
using namespace tagger;

Strings tags(const std::string& text) { return split_words(text); }

FoundScore spans(const std::string& gold, const std::string& predicted) {
  Scores scores;
  scores.kind = TagKind::kSpans;
  scores.add(tags(gold), tags(predicted));
  return scores.spans;
}

TEST_CASE("Views of words") {
  CHECK(view_of("McDonald's", "word") == "McDonald's");
  CHECK(view_of("McDonald's", "lower") == "mcdonald's");
  CHECK(view_of("McDonald's", "shape") == "XxXx'x");
  CHECK(view_of("1,234.5", "shape") == "9,9.9");
  CHECK(view_of("a-b-c-d-e-f-g", "shape").size() == 10);
  CHECK(view_of("Running", "suffix3") == "ing");
  CHECK(view_of("Running", "prefix2") == "ru");
  CHECK(view_of("at", "suffix3") == "at");
  CHECK(view_of("caf\xC3\xA9", "suffix1") == "\xC3\xA9");
  CHECK(view_of("\xC3\xA9t\xC3\xA9", "prefix2") == "\xC3\xA9t");
  CHECK(view_of("", "suffix3") == "");
}

TEST_CASE("Lists of features") {
  const auto features = parse_features("word:100,suffix3,shape:8");
  REQUIRE(features.size() == 3);
  CHECK(features[0].dim == 100);
  CHECK(features[1].dim == 32);
  CHECK(features_text(features) == "word:100,suffix3:32,shape:8");
  CHECK(features_text(parse_features("char,charcnn:20")) == "charlstm:50,charcnn:20");
  CHECK(contains(error_from([&] { parse_features("word,stem"); }), "unknown feature 'stem'"));
  CHECK(contains(error_from([&] { parse_features("suffix0"); }), "unknown feature"));
  CHECK(contains(error_from([&] { parse_features(""); }), "unknown feature ''"));
  CHECK(contains(error_from([&] { parse_features("word:0"); }), "must not be 0"));
  CHECK(contains(error_from([&] { parse_features("word:9999"); }), "from 0 to 4096"));
  CHECK(contains(error_from([&] { parse_features("word:x"); }), "not 'x'"));
  CHECK(contains(error_from([&] { parse_features("word,word"); }), "named twice"));
  CHECK(contains(error_from([&] { parse_features("charlstm,char"); }), "named twice"));
}

TEST_CASE("Spans of BIO tags") {
  CHECK(spans_of(tags("B-A I-A O B-B")) == std::vector<Span>{{0, 2, "A"}, {3, 4, "B"}});
  CHECK(spans_of(tags("B-A B-A I-A")) == std::vector<Span>{{0, 1, "A"}, {1, 3, "A"}});
  // Without B, as in IO data: a new type or a gap begins a new span.
  CHECK(spans_of(tags("I-A I-A I-B O I-B")) ==
        std::vector<Span>{{0, 2, "A"}, {2, 3, "B"}, {4, 5, "B"}});
  CHECK(spans_of(tags("B-A I-B")) == std::vector<Span>{{0, 1, "A"}, {1, 2, "B"}});
  CHECK(spans_of(tags("O O")).empty());
  CHECK(spans_of({}).empty());
}

TEST_CASE("Spans of other schemes") {
  const std::vector<Span> wanted = {{0, 1, "A"}, {1, 4, "A"}, {4, 5, "A"}, {6, 8, "B"}};
  CHECK(spans_of(tags("S-A B-A I-A E-A S-A O B-B E-B")) == wanted);  // BIOES
  CHECK(spans_of(tags("U-A B-A I-A L-A U-A O B-B L-B")) == wanted);  // BILOU
  CHECK(spans_of(tags("S-A B-A M-A E-A S-A O B-B E-B")) == wanted);  // BMES
  // Tags that no scheme allows: spans end where they must.
  CHECK(spans_of(tags("E-A E-A I-A O L-B")) ==
        std::vector<Span>{{0, 1, "A"}, {1, 2, "A"}, {2, 3, "A"}, {4, 5, "B"}});
  CHECK(spans_of(tags("B-A E-B I-B")) == std::vector<Span>{{0, 1, "A"}, {1, 2, "B"}, {2, 3, "B"}});
  CHECK(are_span_tags(tags("S-A O B-B E-B")));
  CHECK(are_span_tags(tags("U-A O B-B L-B")));
}

TEST_CASE("Which tags are BIO") {
  CHECK(are_span_tags(tags("B-A I-A O")));
  CHECK(are_span_tags(tags("I-creative-work O")));
  CHECK_FALSE(are_span_tags(tags("O O")));
  CHECK_FALSE(are_span_tags(tags("NOUN B-A")));
  CHECK_FALSE(are_span_tags(tags("B- O")));
  CHECK_FALSE(are_span_tags(tags("X-A O")));
}

TEST_CASE("Span F1 of known cases") {
  struct Known {
    const char *gold, *predicted;
    double precision, recall, f1;
  };
  for (const auto& [gold, predicted, precision, recall, f1] :
       {Known{"B-A I-A O B-B", "B-A I-A O B-B", 1, 1, 1},
        {"B-A I-A O B-B", "B-A I-A B-C O", 0.5, 0.5, 0.5},
        // Right words but a wrong end, or a wrong type, count nothing.
        {"B-A I-A O", "B-A O O", 0, 0, 0},
        {"B-A I-A O", "B-B I-B O", 0, 0, 0},
        {"B-A B-A B-A", "B-A O O", 1, 1.0 / 3, 0.5},
        {"O O", "O O", 0, 0, 0},
        {"B-A O", "O O", 0, 0, 0}}) {
    CAPTURE(gold, predicted);
    const FoundScore score = spans(gold, predicted);
    CHECK(score.precision() == Approx(precision));
    CHECK(score.recall() == Approx(recall));
    CHECK(score.f1() == Approx(f1));
  }
  CHECK(spans("O B-A I-A B-A", "B-A I-A O B-A").correct == 1);
}

TEST_CASE("Case and marks are scored apart") {
  Scores scores;
  scores.kind = TagKind::kMarks;
  scores.add(tags("Title lower, (lower lower."), tags("lower lower, lower lower;"));
  CHECK(scores.all.right == 1);
  CHECK(scores.casing.right == 3);
  CHECK(scores.marks.wanted == 3);
  CHECK(scores.marks.found == 2);
  CHECK(scores.marks.correct == 1);
  CHECK(scores.marks.f1() == Approx(0.4));
}

TEST_CASE("The most frequent tag per word") {
  const Corpus train = {{{"the", "run", "the"}, {"DET", "NOUN", "DET"}, ""},
                        {{"run", "run", "cat"}, {"VERB", "VERB", "NOUN"}, ""},
                        {{"so", "so"}, {"CONJ", "ADV"}, ""},
                        {{"x"}, {"NOUN"}, ""}};
  const Baseline baseline(train);
  CHECK(baseline.tag("the") == "DET");
  CHECK(baseline.tag("run") == "VERB");
  CHECK(baseline.tag("so") == "ADV");  // a tie: the alphabet decides
  CHECK(baseline.tag("dog") == "NOUN");
  CHECK(baseline.knows("cat"));
  CHECK_FALSE(baseline.knows("dog"));

  Report report("test", TagKind::kPlain);
  report.add({{"the", "dog"}, {"DET", "VERB"}, ""}, {"DET", "VERB"}, baseline);
  CHECK(report.model.all.value() == Approx(1.0));
  CHECK(report.baseline.all.value() == Approx(0.5));
  CHECK(report.model.unknown_words.total == 1);
  std::ostringstream out;
  report.print(out);
  CHECK(out.str() ==
        "test: 1 sentences, 2 words, 1 of them not in training\n"
        "                           accuracy  unknown words\n"
        "  tagger                   100.00 %       100.00 %\n"
        "  most frequent tag/word    50.00 %         0.00 %\n");
}

TEST_CASE("The baseline of English-EWT is the known one") {
  const std::string data = data_folder("ud-ewt");
  if (data.empty()) return;
  const std::string folder = data + "/ud-ewt/";
  const Baseline baseline(read_corpus(folder + "train.conllu").corpus);
  Scores scores;
  for (const Sentence& sentence : read_corpus(folder + "test.conllu").corpus) {
    scores.add(sentence.tags, baseline.tag(sentence.words));
  }
  CHECK(100 * scores.all.value() == Approx(86.2).margin(0.05));
}

}  // namespace evaluate_test
