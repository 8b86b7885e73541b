// Parts of the translator: scores, tokens, pairs, networks.

#include "examples/nlp/common/training.h"
#include "examples/nlp/translate/attention_picture.h"
#include "examples/nlp/translate/model.h"
#include "examples/nlp/translate/scores.h"
#include "tests/examples/helpers.h"

namespace translate_test {

using namespace translate;

TranslationScores scores_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  TranslationScores scores;
  for (const auto& [translation, reference] : pairs) scores.add(translation, reference);
  return scores;
}

Corpus numbers(unsigned count, unsigned seed) {
  static const Strings kNames = {"zero", "one", "two", "three"};
  Dice dice(seed);
  Corpus corpus;
  for (unsigned i = 0; i < count; ++i) {
    Strings digits, names;
    for (unsigned k = 1 + dice.below(4); k > 0; --k) {
      const unsigned digit = dice.below(4);
      digits.push_back(std::to_string(digit));
      names.push_back(kNames[digit]);
    }
    corpus.push_back({join(digits, " "), join(names, " "), i + 1});
  }
  return corpus;
}

Description small(Kind kind, Attention attention = Attention::kGeneral) {
  Description d;
  d.network = {kind, attention, 8, 1, 2, 8, 0};
  d.tokens.min_count = 1;
  return d;
}

TEST_CASE("Translate: words as sacreBLEU finds them") {
  // Output of sacrebleu 2's Tokenizer13a.
  const auto joined = [](const char* text) { return join(tokenize_13a(text), " "); };
  CHECK(joined("a,,b 1,000.5 x.y 3-4 (a)&quot;b&quot; it's $5 <skipped>z") ==
        "a , , b 1,000.5 x . y 3 - 4 ( a ) \" b \" it's $ 5 z");
  CHECK(joined("Hello, \"world\"! -- 2.5% a-b 7.") == "Hello , \" world \" ! -- 2.5 % a-b 7 .");
  CHECK(joined("").empty());
}

TEST_CASE("Translate: scores as sacreBLEU and jiwer print them") {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"the cat sat on the mat .", "the cat is on the mat ."},
      {"a price of 1,000.5 dollars , or so", "a price of 1,000.5 dollars or so"},
      {"it 's \"quoted\" ( here ) &amp; there", "it 's \"quoted\" (here) & there"},
      {"", "nothing was said"},
      {"naïve café au lait costs 3-4 euros", "naïve café au lait costs 3 - 4 euros"},
      {"x", "x"}};
  const TranslationScores all = scores_of(pairs);
  CHECK(100 * all.bleu() == Approx(77.65978020148887).epsilon(1e-12));
  CHECK(100 * all.chrf() == Approx(79.01801381652439).epsilon(1e-12));
  CHECK(all.word_error_rate() == Approx(0.36363636363636365).epsilon(1e-12));
  CHECK(all.exact() == Approx(1.0 / 6).epsilon(1e-12));
  CHECK(all.sentences() == 6);
  CHECK(all.words() == 33);
  CHECK(100 * scores_of({pairs[0]}).bleu() == Approx(48.892302243490086).epsilon(1e-12));
  CHECK(100 * scores_of({pairs[1]}).chrf() == Approx(88.8102105680476).epsilon(1e-12));
  CHECK(100 * scores_of({{"a b c d e f g", "a c b x d e y"}}).bleu() ==
        Approx(16.515821590069034).epsilon(1e-12));
  CHECK(scores_of({{"a b c", "a b c"}}).bleu() == 0);  // no four words
  CHECK(scores_of({{"a b c d", "e f g h"}}).bleu() == 0);
  CHECK(scores_of({}).bleu() == 0);
  CHECK(scores_of({}).chrf() == 0);
}

TEST_CASE("Translate: pieces are what comes together most often") {
  const Pieces pieces({{"lower", 5}, {"low", 7}, {"newest", 6}, {"once", 1}}, 6);
  const std::string b = Pieces::kWordBegin;
  CHECK(pieces.split("low") == Strings{b + "low"});
  CHECK(pieces.split("lowest").front() == b + "low");
  CHECK(pieces.split("") == Strings{});
  CHECK(Pieces({{"ab", 1}}, 5).split("ab") == Strings{b + "a", "b"});
  for (const std::string text : {"lower the newest", "x", "été à ▁ la  mode"}) {
    const std::string normal = join(split_words(text), " ");
    for (const Unit unit : {Unit::kWord, Unit::kCharacter})
      CHECK(text_of(tokens_of(normal, unit, pieces), unit) == normal);
  }
  CHECK(text_of(tokens_of("lower the newest", Unit::kPiece, pieces), Unit::kPiece) ==
        "lower the newest");
  CHECK(tokens_of("a b", Unit::kCharacter, pieces) == Strings{"a", " ", "b"});
}

TEST_CASE("Translate: pairs in one file or in two") {
  const TemporaryFolder folder;
  const std::string tab = folder.write("tab", "a  b\tc\n\nd\te f\n");
  const Corpus corpus = read_pairs(tab, Format::kTab);
  REQUIRE(corpus.size() == 2);
  CHECK(corpus[0].source == "a b");
  CHECK(corpus[1].target == "e f");
  CHECK(corpus[1].line == 3);
  CHECK(count_words(corpus) == 6);
  const std::string one = folder.write("one", "a b\n\nd\n"),
                    two = folder.write("two", "c\n\ne f\n");
  CHECK(read_pairs(one + "," + two, Format::kParallel)[1].target == "e f");
  for (const char* const text : {"a b\n", "a\tb\tc\n", "\tb\n"})
    CHECK_THROWS_AS(read_pairs(folder.write("x", text), Format::kTab), nlp::LineError);
  CHECK_THROWS_AS(read_pairs(folder.write("x", "\n"), Format::kTab), nlp::UserError);
  const auto read_beside = [&](const std::string& translations) {
    read_pairs(one + "," + folder.write("x", translations), Format::kParallel);
  };
  CHECK_THROWS_AS(read_beside("c\n"), nlp::UserError);
  CHECK_THROWS_AS(read_beside("c\ng\nd\n"), nlp::LineError);
}

Expression loss_of(Model& model, const std::string& source, const std::string& target,
                   float smoothing) {
  const Source read = model.encode_source(source);
  return model.loss(read, model.encode_target(target, read), smoothing);
}

/// Every kind of network, made for the numbers, of which some are known only as what can be copied.
std::vector<Description> all_networks(const Corpus& corpus) {
  std::vector<Description> all;
  for (const Attention attention : {Attention::kDot, Attention::kGeneral, Attention::kAdditive})
    all.push_back(small(Kind::kLstm, attention));
  all.push_back(small(Kind::kTransformer));
  const std::string rare = corpus[0].target.substr(0, corpus[0].target.find(' '));
  for (const Attention attention : {Attention::kGeneral, Attention::kAdditive}) {
    all.push_back(small(Kind::kLstm, attention));
    all.back().network.copy = true;
  }
  for (Description& d : all) {
    d = describe(d, corpus);
    if (d.network.copy) std::erase(d.target, rare);
  }
  return all;
}

TEST_CASE("Translate: gradients of all networks") {
  const Corpus corpus = numbers(20, 1);
  for (const Description& description : all_networks(corpus)) {
    Model model(description, 1);
    for (const float smoothing : {0.0f, 0.1f}) {
      ComputationGraph graph;
      model.begin_graph(graph, false);
      const Expression loss = loss_of(model, corpus[0].source, corpus[0].target, smoothing) +
                              loss_of(model, corpus[1].source, corpus[1].target, smoothing);
      check_slopes(loss);
    }
  }
}

TEST_CASE("Translate: a search scores a translation as training does") {
  const Corpus corpus = numbers(20, 2);
  for (const Description& description : all_networks(corpus)) {
    Model model(description, 3);
    ComputationGraph graph;
    SearchSettings how;
    how.beam = how.n = 3;
    how.alpha = 0;
    Strings texts;
    for (std::size_t i = 0; i < 5; ++i) texts.push_back(corpus[i].source);
    const auto together = model.translate(graph, texts, how);
    REQUIRE(together.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto alone = model.translate(graph, {&texts[i], 1}, how)[0];
      REQUIRE(alone.size() == together[i].size());
      for (std::size_t k = 0; k < alone.size(); ++k) {
        CHECK(alone[k].text == together[i][k].text);
        CHECK(alone[k].score == together[i][k].score);
        CHECK(alone[k].attention == together[i][k].attention);
        if (alone[k].text.find(join({"<", "unk>"}, "")) != std::string::npos ||
            alone[k].text.find("</s>") != std::string::npos)
          continue;
        ComputationGraph other;
        model.begin_graph(other, false);
        const float loss = as_scalar(loss_of(model, texts[i], alone[k].text, 0).value());
        CHECK(-static_cast<double>(loss) == Approx(alone[k].score).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("Translate: how long a translation may be follows from those of training") {
  Description description = small(Kind::kLstm);
  const Corpus corpus = {{"1", "one", 1},
                         {"2 2", "two two two two two two two two two", 2},
                         {"1 2 1 2", "one two", 3}};
  description = describe(description, corpus);
  const Model model(description, 1);
  CHECK(model.most_tokens(1) == 12);
  CHECK(model.most_tokens(2) == 18);
  CHECK(model.most_tokens(3) == 18);
  CHECK(model.most_tokens(4) == 18);
  CHECK(model.most_tokens(100) == 210);
  // Files may say anything.
  description.longest = {5, kLongest};
  CHECK(Model(description, 1).most_tokens(1) == 200);
  CHECK(Model(description, 1).most_tokens(1000) == kLongest);
}

TEST_CASE("Translate: a token in place of the right one changes only the scores after it") {
  const Corpus corpus = numbers(20, 2);
  for (const Description& description : all_networks(corpus)) {
    if (description.network.copy) continue;
    Model model(description, 3);
    ComputationGraph graph;
    model.begin_graph(graph, false);
    const Source source = model.encode_source("1 2 3");
    const Ids target = {2, 3, 4};
    const Expression scores = model.scores(source, target);
    const auto loss = [&](const Ids& read) {
      return as_scalar(model.loss(source, target, 0, read).value());
    };
    float sum = 0;
    const Ids next = {2, 3, 4, kEndToken};
    for (unsigned t = 0; t < 4; ++t)
      sum += as_scalar(pickneglogsoftmax(pick(scores, t, 1), next[t]).value());
    CHECK(loss(beginnings(target)) == Approx(sum));
    CHECK(loss({kEndToken, 2, 3, 3}) != loss(beginnings(target)));
    CHECK(values(pick(model.scores(source, {2, 3, 3}), 2u, 1)) == values(pick(scores, 2u, 1)));
  }
}

TEST_CASE("Translate: dropout ends with training") {
  const Corpus corpus = numbers(20, 2);
  for (Description description : all_networks(corpus)) {
    description.network.dropout = 0.5f;
    description.network.layers = 2;
    Model model(description, 3);
    ComputationGraph graph;
    const auto loss = [&](bool training) {
      graph.clear();
      model.begin_graph(graph, training);
      return as_scalar(loss_of(model, corpus[0].source, corpus[0].target, 0).value());
    };
    const float before = loss(false);
    CHECK(loss(true) != before);
    CHECK(loss(false) == before);
  }
}

TEST_CASE("Translate: attention has a weight for each pair of tokens") {
  const Corpus corpus = numbers(20, 2);
  Model model(describe(small(Kind::kLstm), corpus), 3);
  ComputationGraph graph;
  const auto answer = model.translate(graph, {&corpus[0].source, 1}, {})[0][0];
  const auto source = model.source_tokens(corpus[0].source);
  REQUIRE(answer.attention.size() == answer.tokens.size() + 1);
  for (const Floats& weights : answer.attention) {
    REQUIRE(weights.size() == source.size());
    CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == Approx(1));
  }
  const std::string picture = attention_picture({{source, answer.tokens, answer.attention}});
  CHECK(occurrences(picture, "<rect x=") == source.size() * answer.attention.size());
  const auto width = [](const std::string& svg) {
    return std::stoul(svg.substr(svg.find("width=\"") + 7));
  };
  const Floats none(9, 0.0f);
  const Strings longer(9, "a");
  CHECK(width(attention_picture({{longer, {}, {none}}})) >
        width(attention_picture({{{"a"}, {}, {{0.0f}}}})));
  CHECK(attention_picture({{{"a<b"}, {}, {{0.0f}}}}).find("a&lt;b") != std::string::npos);
  // Two texts, with every coordinate.
  nlp::Fingerprint all;
  all.add(attention_picture({{{"ein", "Wort"}, {"word"}, {{0.25f, 0.75f}, {1, 0}}},
                             {{"ja"}, {"oh", "yes"}, {{1}, {0.5f}, {0}}}}));
  CHECK(all.value() == 0xe56a3636def6b988);
}

TEST_CASE("Translate: tokens that no vocabulary has are copied") {
  // Each text is repeated; the symbols of some come nowhere else.
  Corpus corpus;
  for (int i = 0; i < 60; ++i) {
    const auto digit = [&](int k) { return std::string(1, static_cast<char>('0' + (i * k) % 10)); };
    const std::string text =
        digit(3) + " " + (i % 2 ? "new" + std::to_string(i) : digit(7)) + " " + digit(1);
    corpus.push_back({text, text, static_cast<std::size_t>(i)});
  }
  Description description = small(Kind::kLstm);
  description.tokens.min_count = 2;
  description.network.copy = true;
  Model model(describe(description, corpus), 1);
  dynet::AdamTrainer trainer(model.parameters(), 0.01f);
  ComputationGraph graph;
  for (int epoch = 0; epoch < 40; ++epoch)
    for (std::size_t i = 0; i < corpus.size(); i += 10) {
      graph.clear();
      model.begin_graph(graph, true);
      std::vector<Expression> losses;
      for (std::size_t k = i; k < i + 10; ++k)
        losses.push_back(loss_of(model, corpus[k].source, corpus[k].target, 0.1f));
      graph.backward(dynet::sum(losses) / 10);
      trainer.update();
    }
  for (const std::string text : {"3 never 1", "8 zzz 5"})
    CHECK(model.translate(graph, {&text, 1}, {})[0][0].text == text);
}

}  // namespace translate_test
