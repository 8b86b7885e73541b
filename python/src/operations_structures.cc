#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "operations.h"

// Attention and distributions over structures, in addition to DyNet's functions.

namespace dynet::python {
namespace {

using namespace nb::literals;
using E = const Expression&;
using List = std::vector<std::int64_t>;
using Labels = std::variant<List, std::vector<List>>;

void bind_attention(nb::module_& m) {
  m.def(
      "attention",
      [](E queries, E keys, E values, const std::optional<Expression>& biases, unsigned heads,
         unsigned key_heads, double scale, Flag causal, const std::vector<unsigned>& lengths) {
        const AttentionSettings settings{heads, key_heads, scale, causal, lengths};
        return biases ? attention(queries, keys, values, *biases, settings, here())
                      : attention(queries, keys, values, settings, here());
      },
      "queries"_a, "keys"_a, "values"_a, "biases"_a = nb::none(), "heads"_a = 1, "key_heads"_a = 0,
      "scale"_a = 0.0, "causal"_a = false, "key_lengths"_a = std::vector<unsigned>(),
      "y_i = sum_j p_ij v_j, p_ij = softmax over j of scale q_i' k_j, for each head (Vaswani et "
      "al.\n"
      "2017): {d*heads,m}, {d*key_heads,n} and {e*key_heads,n} give {e*heads,m}. `scale` 0 is\n"
      "1 / sqrt(d), `key_heads` 0 as many as `heads`. With `causal` the last query sees all keys;\n"
      "`key_lengths`: how many keys each batch element has. `biases` {2*r+1,heads} are added by "
      "the\n"
      "distance of key and query. ValueError for other shapes and settings.\n\n"
      ">>> queries, keys, values = dy.zeros((8, 3)), dy.zeros((8, 5)), dy.zeros((6, 5))\n"
      ">>> dy.attention(queries, keys, values, heads=2).dim()\n"
      "((6, 3), 1)");
}

struct ChainFunction {
  const char* name;
  Expression (*function)(E, E, E, E, SourceLocation);
  const char* first;
  const char* doc;
};
constexpr ChainFunction kChains[] = {
    {"crf_log_partition", dynet::crf_log_partition, "emissions",
     "log Z of a linear chain (Lafferty, McCallum, Pereira 2001): emissions {K,T}, transitions "
     "from\n"
     "row to column {K,K}, start and stop {K} give {1}."},
    {"crf_marginals", dynet::crf_marginals, "emissions",
     "The probability of each tag at each position of a linear chain: {K,T}."},
    {"crf_entropy", dynet::crf_entropy, "emissions",
     "The entropy of the distribution over the tag sequences of a linear chain: {1}."},
    {"semi_crf_log_partition", dynet::semi_crf_log_partition, "scores",
     "log Z of a semi-Markov chain (Sarawagi, Cohen 2004): scores {K*L,T} of segments by length,\n"
     "label and last word, transitions {K,K}, start and stop {K} give {1}."},
    {"semi_crf_marginals", dynet::semi_crf_marginals, "scores",
     "The probability of each segment, at the place of its score: {K*L,T}."},
    {"semi_crf_entropy", dynet::semi_crf_entropy, "scores",
     "The entropy of the distribution over segmentations: {1}."},
};

void bind_chains(nb::module_& m) {
  for (const ChainFunction& c : kChains)
    m.def(
        c.name,
        [f = c.function](E x, E transitions, E start, E stop) {
          return f(x, transitions, start, stop, here());
        },
        nb::arg(c.first), "transitions"_a, "start"_a, "stop"_a, c.doc);
  m.def(
      "crf_log_prob",
      [](E emissions, E transitions, E start, E stop, const List& tags) {
        return crf_log_prob(emissions, transitions, start, stop, partly_known("crf_log_prob", tags),
                            here());
      },
      "emissions"_a, "transitions"_a, "start"_a, "stop"_a, "tags"_a,
      "The log-probability of the tags of a linear chain, T for each batch element: {1}. -1 is a "
      "tag\n"
      "that is not known; what agrees with the others is summed up.");
  m.def(
      "semi_crf_log_prob",
      [](E scores, E transitions, E start, E stop,
         const std::vector<std::pair<unsigned, unsigned>>& segments) {
        std::vector<Segment> list;
        for (const auto& [label, length] : segments) list.push_back({label, length});
        return semi_crf_log_prob(scores, transitions, start, stop, list, here());
      },
      "scores"_a, "transitions"_a, "start"_a, "stop"_a, "segments"_a,
      "The log-probability of segments (label, length) whose lengths add up to T: {1}.");
}

std::vector<std::vector<unsigned>> lists_of(const char* who, const std::vector<List>& lists) {
  std::vector<std::vector<unsigned>> result;
  for (const List& list : lists) result.push_back(indices_of(who, list));
  return result;
}

/// Adds a CTC function that takes one list of labels, or a list per batch element.
template <class F>
void def_ctc(nb::module_& m, const char* name, F f, const char* doc) {
  m.def(
      name,
      [name, f](E log_probs, const Labels& labels, unsigned blank, Flag zero_infinity) {
        const CtcSettings settings{blank, zero_infinity};
        if (const auto* one = std::get_if<List>(&labels))
          return f(log_probs, std::span<const unsigned>(indices_of(name, *one)), settings);
        const auto lists = lists_of(name, std::get<std::vector<List>>(labels));
        return f(log_probs, std::span<const std::vector<unsigned>>(lists), settings);
      },
      "log_probs"_a, "labels"_a, "blank"_a = 0, "zero_infinity"_a = false, doc);
}

void bind_ctc(nb::module_& m) {
  def_ctc(
      m, "ctc_loss",
      [](E x, auto labels, const CtcSettings& s) { return ctc_loss(x, labels, s, here()); },
      "Minus the log-probability of labels under connectionist temporal classification (Graves et\n"
      "al. 2006): log_probs {V,T} gives {1}. `labels`: a list, or one for each batch element. "
      "With\n"
      "`zero_infinity` 0 where no alignment is possible.");
  def_ctc(
      m, "ctc_alignment",
      [](E x, auto labels, const CtcSettings& s) { return ctc_alignment(x, labels, s, here()); },
      "The probability of each symbol at each frame, the labels given: {V,T}.");
  def_ctc(
      m, "ctc_entropy",
      [](E x, auto labels, const CtcSettings& s) { return ctc_entropy(x, labels, s, here()); },
      "The entropy of the distribution over the alignments of the labels: {1}.");
}

struct TreeFunction {
  const char* name;
  Expression (*function)(E, DependencyRules, SourceLocation);
  const char* doc;
};
constexpr TreeFunction kTrees[] = {
    {"dependency_log_partition", dynet::dependency_log_partition,
     "log Z over dependency trees: arcs {n+1,n+1}, from head to dependent, 0 being the root, give\n"
     "{1}. `projective`: trees whose arcs do not cross (Eisner 1996), else all (Koo et al. 2007).\n"
     "`single_root`: one word depends on the root."},
    {"dependency_marginals", dynet::dependency_marginals,
     "The probability of each arc: {n+1,n+1}."},
    {"dependency_entropy", dynet::dependency_entropy,
     "The entropy of the distribution over dependency trees: {1}."},
};

void bind_trees(nb::module_& m) {
  for (const TreeFunction& t : kTrees)
    m.def(
        t.name,
        [f = t.function](E arcs, Flag projective, Flag single_root) {
          return f(arcs, {.projective = projective, .single_root = single_root}, here());
        },
        "arcs"_a, "projective"_a = DependencyRules().projective,
        "single_root"_a = DependencyRules().single_root, t.doc);
  m.def(
      "dependency_log_prob",
      [](E arcs, const List& heads, Flag projective, Flag single_root) {
        return dependency_log_prob(arcs, indices_of("dependency_log_prob", heads),
                                   {.projective = projective, .single_root = single_root}, here());
      },
      "arcs"_a, "heads"_a, "projective"_a = DependencyRules().projective,
      "single_root"_a = DependencyRules().single_root,
      "The log-probability of the tree in which word i + 1 has the head heads[i], 0 for the root:\n"
      "{1}; minus infinity for heads that are no tree.");
  m.def(
      "span_log_partition", [](E spans) { return span_log_partition(spans, here()); }, "spans"_a,
      "log Z over binary trees with labels: scores {n,n,K} of spans from row to column give {1}.");
  m.def(
      "span_log_prob",
      [](E spans, const std::vector<std::tuple<unsigned, unsigned, std::int64_t>>& tree) {
        std::vector<LabelledSpan> list;
        for (const auto& [first, last, label] : tree)
          list.push_back({first, last, label == -1 ? kAnyLabel : static_cast<unsigned>(label)});
        return span_log_prob(spans, list, here());
      },
      "spans"_a, "tree"_a,
      "The log-probability of the tree with these 2n - 1 spans (first, last, label): {1}. The "
      "label\n"
      "-1 is one that is not known.");
  m.def(
      "span_marginals", [](E spans) { return span_marginals(spans, here()); }, "spans"_a,
      "The probability of each label of each span: the shape of `spans`.");
  m.def(
      "span_entropy", [](E spans) { return span_entropy(spans, here()); }, "spans"_a,
      "The entropy of the distribution over trees with labels: {1}.");
}

}  // namespace

void bind_structures(nb::module_& m) {
  bind_attention(m);
  bind_chains(m);
  bind_ctc(m);
  bind_trees(m);
}

}  // namespace dynet::python
