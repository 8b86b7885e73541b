// Properties that chains, segments, trees and alignments have in common: each is a distribution
// over structures, with a log-partition, log-probabilities, marginals and an entropy.
#include "tests/ops/sequences.h"
#include "tests/support/all_trees.h"
#include "tests/support/all_values.h"

namespace structures_test {

using namespace dynet;
using namespace dynet::test;

namespace {

using Places = std::vector<std::size_t>;
using Operands = std::vector<Expression>;

/// The operations on the scores of one sentence.
struct Structures {
  std::string name;
  Dim scores;               ///< shape of the first operand
  std::vector<Dim> shared;  ///< shapes of the operands that all sentences share
  /// The log-partition, a log-probability, the marginals and the entropy.
  std::function<Operands(const Operands&)> build;
  Places parts;                ///< scores of what the log-probability is of, if there is one
  std::vector<Places> groups;  ///< of each of these scores a structure has one
};

Structures segments(unsigned labels, unsigned longest, unsigned words) {
  Structures s;
  s.name = "segments of " + std::to_string(labels) + " labels";
  s.scores = Dim({labels * longest, words});
  s.shared = {{labels, labels}, {labels}, {labels}};
  s.groups.resize(words);
  const auto place = [=](unsigned end, unsigned length, unsigned label) {
    return (std::size_t{end} * longest + length - 1) * labels + label;
  };
  for (unsigned word = 0; word < words; ++word)
    for (unsigned end = word; end < words; ++end)
      for (unsigned length = end - word + 1; length <= std::min(longest, end + 1); ++length)
        for (unsigned k = 0; k < labels; ++k) s.groups[word].push_back(place(end, length, k));
  std::vector<Segment> way;
  for (unsigned t = 0; t < words; t += way.back().length) {
    way.push_back({(t + words) % labels, std::min(1 + (t + words) % longest, words - t)});
    s.parts.push_back(place(t + way.back().length - 1, way.back().length, way.back().label));
  }
  s.build = [way](const Operands& x) {
    return Operands{semi_crf_log_partition(x[0], x[1], x[2], x[3]),
                    semi_crf_log_prob(x[0], x[1], x[2], x[3], way),
                    semi_crf_marginals(x[0], x[1], x[2], x[3]),
                    semi_crf_entropy(x[0], x[1], x[2], x[3])};
  };
  return s;
}

/// Some tags are not known if the number of words is odd.
Structures chain(unsigned tags, unsigned words) {
  Structures s = segments(tags, 1, words);
  s.name = "a chain of " + std::to_string(tags) + " tags";
  std::vector<unsigned> y;
  for (unsigned t = 0; t < words; ++t)
    y.push_back(words % 2 && t % 3 ? kAnyTag : (t + words) % tags);
  s.build = [y](const Operands& x) {
    return Operands{crf_log_partition(x[0], x[1], x[2], x[3]),
                    crf_log_prob(x[0], x[1], x[2], x[3], y), crf_marginals(x[0], x[1], x[2], x[3]),
                    crf_entropy(x[0], x[1], x[2], x[3])};
  };
  return s;
}

/// The distribution is that over the alignments of given labels, without a log-probability.
Structures alignments(unsigned symbols, unsigned frames) {
  Structures s;
  s.name = "alignments";
  s.scores = Dim({symbols, frames});
  s.groups.resize(frames);
  for (std::size_t k = 0; k < s.scores.size(); ++k) s.groups[k / symbols].push_back(k);
  std::vector<unsigned> y;
  for (unsigned k = 0; k < frames * (frames % 3) / 4; ++k)
    y.push_back(1 + k * frames % (symbols - 1));
  s.build = [y](const Operands& x) {
    return Operands{-ctc_loss(x[0], y), -ctc_loss(x[0], y, {.zero_infinity = true}),
                    ctc_alignment(x[0], y), ctc_entropy(x[0], y)};
  };
  return s;
}

/// Labels are not known of trees over an even number of words.
Structures span_trees(unsigned words, unsigned labels) {
  Structures s;
  s.name = "trees of spans";
  s.scores = Dim({words, words, labels});
  s.groups.resize(words);
  for (unsigned i = 0; i < words; ++i)
    for (std::size_t k = 0; k < labels; ++k) s.groups[i].push_back((k * words + i) * words + i);
  std::vector<LabelledSpan> tree;
  const unsigned known = words % labels, label = words % 2 == 0 ? kAnyLabel : known;
  for (unsigned i = 0; i < words; ++i) tree.push_back({i, i, label});
  for (unsigned j = 1; j < words; ++j) tree.push_back({0, j, label});
  for (const LabelledSpan& y : tree)
    s.parts.push_back((std::size_t{known} * words + y.last) * words + y.first);
  s.build = [tree](const Operands& x) {
    return Operands{span_log_partition(x[0]), span_log_prob(x[0], tree), span_marginals(x[0]),
                    span_entropy(x[0])};
  };
  return s;
}

Structures dependency_trees(unsigned words, DependencyRules rules) {
  Structures s;
  s.name = std::string("trees of dependencies") + (rules.projective ? ", projective" : "") +
           (rules.single_root ? ", of one root" : "");
  const std::size_t nodes = words + 1;
  s.scores = Dim({words + 1, words + 1});
  s.groups.resize(words);
  Places roots;
  for (std::size_t d = 1; d < nodes; ++d) {
    for (std::size_t h = 0; h < nodes; ++h)
      if (h != d) s.groups[d - 1].push_back(d * nodes + h);
    roots.push_back(d * nodes);
    s.parts.push_back(d * nodes + d - 1);
  }
  if (rules.single_root && words > 0) s.groups.push_back(roots);
  std::vector<unsigned> heads(words);
  std::iota(heads.begin(), heads.end(), 0u);
  s.build = [heads, rules](const Operands& x) {
    return Operands{dependency_log_partition(x[0], rules), dependency_log_prob(x[0], heads, rules),
                    dependency_marginals(x[0], rules), dependency_entropy(x[0], rules)};
  };
  return s;
}

/// Each kind for a sentence of so many words.
using Kind = std::function<Structures(unsigned words)>;
std::vector<Kind> kinds() {
  std::vector<Kind> all = {
      [](unsigned n) { return chain(5, n); }, [](unsigned n) { return segments(3, 4, n); },
      [](unsigned n) { return alignments(9, n); }, [](unsigned n) { return span_trees(n, 3); }};
  for (const DependencyRules rules : kRules)
    all.push_back([rules](unsigned n) { return dependency_trees(n, rules); });
  return all;
}

/// The operands with scores that depend on the key, as parameters.
struct Sentence {
  ParameterCollection model;
  ComputationGraph g;
  std::vector<Parameter> parameters;
  Operands x, made;

  Sentence(const Structures& s, std::uint64_t key, const Places& places = {}, float more = 0) {
    const RandomStream random(key);
    std::uint64_t draws = 0;
    add(s.scores, some_scores(s.scores.size(), random, draws), places, more);
    for (const Dim& d : s.shared) add(d, some_scores(d.size(), random, draws), {}, 0);
    made = s.build(x);
  }
  void add(const Dim& d, std::vector<float> scores, const Places& places, float more) {
    for (const std::size_t place : places) scores[place] += more;
    parameters.push_back(model.add_parameters(d, ParameterInitFromVector(scores)));
    x.push_back(parameter(g, parameters.back()));
  }
};

}  // namespace

TEST_CASE("structures: the gradient of the log-partition is the marginals") {
  for (const Kind& kind : kinds())
    for (const unsigned words : {1u, 9u, 40u}) {
      const Structures s = kind(words);
      INFO(s.name << ", " << words << " words");
      Sentence made(s, 3);
      const std::vector<float> p = as_vector(made.made[2].value());
      made.g.backward(made.made[0]);
      const std::vector<float> d = as_vector(*made.parameters[0].gradients());
      for (std::size_t i = 0; i < p.size(); ++i)
        CHECK(d[i] == Approx(p[i]).epsilon(1e-5).margin(1e-7));
      for (const Places& group : s.groups) {
        double sum = 0;
        for (const std::size_t place : group) sum += static_cast<double>(p[place]);
        CHECK(sum == Approx(1).epsilon(1e-5));
      }
    }
}

TEST_CASE("structures: a constant added to scores of which all have one changes log Z alone") {
  for (const Kind& kind : kinds()) {
    const Structures s = kind(7);
    INFO(s.name);
    for (const Places& group : s.groups) {
      Sentence before(s, 8), after(s, 8, group, 2.5f);
      CHECK(as_scalar(after.made[0].value()) ==
            Approx(as_scalar(before.made[0].value()) + 2.5).epsilon(1e-6));
      check_equal(before.made[2], after.made[2]);
      check_equal(before.made[3], after.made[3], 1e-5);
    }
  }
}

TEST_CASE("structures: log-probabilities are never above zero, however sure the scores are") {
  for (const Kind& kind : kinds())
    for (unsigned key = 0; key < 100; ++key) {
      const Structures s = kind(11 + key % 2);
      if (s.parts.empty()) continue;
      INFO(s.name << ", key " << key);
      Sentence made(s, key, s.parts, 20.0f * static_cast<float>(key % 7));
      CHECK(as_scalar(made.made[1].value()) <= 0);
    }
}

TEST_CASE("structures: marginals, entropy and gradients are zero if all is forbidden") {
  for (const Kind& kind : kinds()) {
    const Structures s = kind(7);
    INFO(s.name);
    Sentence made(s, 6, s.groups[2], kForbidden);
    const Expression sum = sum_elems(made.made[2]);
    for (const Expression& e : {made.made[0], sum, made.made[3]}) {
      CHECK(as_scalar(e.value()) == (e.i == made.made[0].i ? kForbidden : 0));
      made.g.backward(e);
      for (const float d : test::all_gradients(made.model)) CHECK(d == 0);
      made.model.reset_gradient();
    }
  }
}

TEST_CASE("structures: gradients of more words and labels than a vector has lanes") {
  for (const Structures& s :
       {chain(17, 4), chain(130, 5), chain(512, 4), chain(513, 5), segments(9, 3, 8),
        alignments(19, 17), span_trees(8, 3), span_trees(17, 3)}) {
    INFO(s.name);
    Sentence made(s, 4);
    const Expression loss =
        made.made[3] + squared_norm(made.made[2]) - made.made[1] + 0.1f * made.made[0];
    const unsigned some = s.scores.size() > 2000 ? 1 : 20;
    const GradientReport report = check_gradients(loss, {.max_elements = some});
    INFO(report);
    CHECK(report.ok(1e-5));
  }
}

TEST_CASE("structures: sentences of all lengths are one batch, and the same bits alone") {
  constexpr unsigned kCount = 24;
  std::vector<Kind> all_kinds = kinds();
  all_kinds.push_back([](unsigned n) { return chain(130, 4 * n); });
  for (const Kind& kind : all_kinds) {
    ParameterCollection model;
    Sentences all{.batches = 4 + 2 * kCount + 10};
    std::vector<Structures> each;
    for (unsigned n = 0; n < kCount; ++n) {
      each.push_back(kind(n * 5 % kCount));
      all.own.emplace_back();
      if (const Dim& d = each[n].scores; d.size() > 0)
        all.own[n].push_back(model.add_parameters(d, ParameterInitNormal()));
    }
    for (const Dim& d : each[0].shared) all.shared.push_back(model.add_parameters(d));
    INFO(each[0].name);
    all.build = [&](ComputationGraph& g, unsigned n) {
      Operands x = {all.own[n].empty() ? zeros(g, each[n].scores) : parameter(g, all.own[n][0])};
      for (const Parameter& p : all.shared) x.push_back(parameter(g, p));
      return each[n].build(x);
    };
    check_alone_and_together(model, all);
  }
}

}  // namespace structures_test
