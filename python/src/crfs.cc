#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "layers.h"

namespace dynet::python {

/// `follows[i][j]`: true if tag j may follow tag i; then whether each tag may begin or end a
/// sequence.
using AllowedTags =
    std::tuple<std::vector<std::vector<bool>>, std::vector<bool>, std::vector<bool>>;

template <>
struct AsPython<TagConstraints> {
  using Type = std::optional<AllowedTags>;
  static TagConstraints read(const Type& allowed) {
    if (!allowed) return {};
    const auto& [follows, begins, ends] = *allowed;
    const std::size_t n = follows.size();
    TagConstraints c{static_cast<unsigned>(n), std::vector<bool>(n * n), begins, ends};
    for (std::size_t i = 0; i < n; ++i) {
      if (follows[i].size() != n || n != begins.size() || n != ends.size())
        nn_detail::fail("ChainCrf", "`allowed` needs rows and lists of one size", here());
      for (std::size_t j = 0; j < n; ++j) c.follows[i + n * j] = follows[i][j];
    }
    return c;
  }
  static Type shown(const TagConstraints& c) {
    if (c.tags == 0) return std::nullopt;
    std::vector<std::vector<bool>> follows(c.tags, std::vector<bool>(c.tags));
    for (std::size_t i = 0; i < c.tags; ++i)
      for (std::size_t j = 0; j < c.tags; ++j) follows[i][j] = c.follows[i + c.tags * j];
    return AllowedTags{follows, c.begins, c.ends};
  }
};

namespace {

using namespace nb::literals;
using Pairs = std::vector<std::pair<unsigned, unsigned>>;

TagScheme scheme_of(const std::string& name) {
  if (name == "bio") return TagScheme::bio;
  if (name == "iob1") return TagScheme::iob1;
  if (name == "bioes") return TagScheme::bioes;
  if (name == "bmes") return TagScheme::bmes;
  nn_detail::fail("tag_constraints",
                  "scheme is \"bio\", \"iob1\", \"bioes\" or \"bmes\", not \"" + name + "\"",
                  here());
}

// Methods of both kinds of CRF.
template <class L>
void def_sums(nb::class_<Layer<L>>& c, const char* marginals) {
  c.def(
       "log_partition",
       [](Layer<L>& l, const Expression& scores) {
         return l.in_graph().log_partition(scores, here());
       },
       "scores"_a, "log Z: {1}.")
      .def(
          "marginals",
          [](Layer<L>& l, const Expression& scores) {
            return l.in_graph().marginals(scores, here());
          },
          "scores"_a, marginals)
      .def(
          "entropy",
          [](Layer<L>& l, const Expression& scores) {
            return l.in_graph().entropy(scores, here());
          },
          "scores"_a, "The entropy of the distribution, in nats: {1}.");
}

void bind_chain_crf(nb::module_& m) {
  using S = ChainCrf::Settings;
  m.def(
      "tag_constraints",
      [](const std::string& scheme, const std::vector<std::string>& tags) {
        return *AsPython<TagConstraints>::shown(tag_constraints(scheme_of(scheme), tags));
      },
      "scheme"_a, "tags"_a,
      "What a scheme of tags such as B-X allows, for `ChainCrf`: (follows, begins, ends), where\n"
      "follows[i][j] says whether tag j may follow tag i. Schemes: \"bio\" (IOB2), \"iob1\",\n"
      "\"bioes\" (or BILOU), \"bmes\". ValueError for a name that the scheme does not have.");
  auto c = add_layer<ChainCrf>(
      m, "ChainCrf",
      "A linear-chain CRF (Lafferty, McCallum, Pereira 2001) on scores {tags,T} of a sentence:\n"
      "a sequence y has the probability e^s / Z,\n"
      "s = start[y_1] + sum_t scores[y_t,t] + sum_(t>1) transitions[y_(t-1),y_t] + stop[y_T].\n"
      "Its parameters, transitions {tags,tags}, start and stop {tags}, begin with 0.\n\n"
      ">>> crf = dy.ChainCrf(pc, tags=2)\n"
      ">>> scores = dy.inputTensor([[1, 0, 3], [0, 2, 0]])\n"
      ">>> crf.best(scores)\n"
      "[0, 1, 0]",
      "`allowed`: what `tag_constraints` gives; the rest has the score minus infinity. ValueError\n"
      "for no tags, and for constraints of another number of tags.",
      needed("tags", &S::tags), optional("allowed", &S::allowed));
  def_sums(c, "The probability of each tag of each word: {tags,T}.");
  c.def(
       "log_prob",
       [](Layer<ChainCrf>& l, const Expression& scores, const std::vector<std::int64_t>& tags) {
         return l.in_graph().log_prob(scores, partly_known("log_prob", tags), here());
       },
       "scores"_a, "tags"_a,
       "The log-probability of the tags, T for each batch element: {1}. -1 is a tag that is not\n"
       "known; what agrees with the others is summed up. Its negative is the loss of training.\n"
       "IndexError for a tag that there is not, ValueError for another number of them.\n\n"
       ">>> crf = dy.ChainCrf(pc, tags=2)\n"
       ">>> round(crf.log_prob(dy.zeros((2, 3)), [0, 1, 0]).value(), 4)\n"
       "-2.0794")
      .def(
          "best",
          [](Layer<ChainCrf>& l, const Expression& scores) {
            const ChainCrf& crf = l.in_graph();
            return without_lock([&, at = here()] { return crf.best(scores, at); });
          },
          "scores"_a,
          "The most probable tags; of equal ones the lexicographically first. Empty if all are\n"
          "forbidden. ValueError for a batch: decode its elements one by one.")
      .def(
          "best",
          [](Layer<ChainCrf>& l, const Expression& scores, std::size_t n) {
            const ChainCrf& crf = l.in_graph();
            return pairs_of(without_lock([&, at = here()] { return crf.best(scores, n, at); }),
                            [](const ScoredTags& s) { return s.tags; });
          },
          "scores"_a, "n"_a,
          "The n most probable sequences, as far as there are so many: (tags, s), the best first.")
      .def(
          "sample",
          [](Layer<ChainCrf>& l, const Expression& scores, std::uint64_t key) {
            const ChainCrf& crf = l.in_graph();
            return without_lock([&, at = here()] { return crf.sample(scores, key, at); });
          },
          "scores"_a, "key"_a,
          "Tags drawn with their probability: the same ones for the same key. Errors as `best`.");
}

Pairs pairs(const std::vector<Segment>& segments) {
  Pairs result;
  for (const Segment& s : segments) result.emplace_back(s.label, s.length);
  return result;
}

void bind_semi_crf(nb::module_& m) {
  using S = SemiCrf::Settings;
  auto c = add_layer<SemiCrf>(
      m, "SemiCrf",
      "A semi-Markov CRF (Sarawagi, Cohen 2004) over segments (label, length), on scores\n"
      "{labels*longest,T}: row (l-1)*labels + j, column t is a segment of label j and length l\n"
      "that ends at word t. Its parameters, transitions {labels,labels}, start and stop\n"
      "{labels}, begin with 0.",
      "`longest`: words of a segment, at most. ValueError if either is 0.",
      needed("labels", &S::labels), needed("longest", &S::longest));
  def_sums(c, "The probability of each segment, at the place of its score: {labels*longest,T}.");
  c.def(
       "log_prob",
       [](Layer<SemiCrf>& l, const Expression& scores, const Pairs& segments) {
         std::vector<Segment> list;
         for (const auto& [label, length] : segments) list.push_back({label, length});
         return l.in_graph().log_prob(scores, list, here());
       },
       "scores"_a, "segments"_a,
       "The log-probability of segments (label, length) whose lengths add up to T: {1}.")
      .def(
          "best",
          [](Layer<SemiCrf>& l, const Expression& scores) {
            const SemiCrf& crf = l.in_graph();
            return pairs(without_lock([&, at = here()] { return crf.best(scores, at); }));
          },
          "scores"_a,
          "The most probable segments; of equal ones the lexicographically first. Empty if all\n"
          "are forbidden. ValueError for a batch: decode its elements one by one.")
      .def(
          "best",
          [](Layer<SemiCrf>& l, const Expression& scores, std::size_t n) {
            const SemiCrf& crf = l.in_graph();
            return pairs_of(without_lock([&, at = here()] { return crf.best(scores, n, at); }),
                            [](const ScoredSegments& s) { return pairs(s.segments); });
          },
          "scores"_a, "n"_a,
          "The n most probable ways to cut the sentence: (segments, score), the best first.")
      .def(
          "sample",
          [](Layer<SemiCrf>& l, const Expression& scores, std::uint64_t key) {
            const SemiCrf& crf = l.in_graph();
            return pairs(without_lock([&, at = here()] { return crf.sample(scores, key, at); }));
          },
          "scores"_a, "key"_a,
          "Segments drawn with their probability: the same ones for the same key.");
}

}  // namespace

void bind_crfs(nb::module_& m) {
  bind_chain_crf(m);
  bind_semi_crf(m);
}

}  // namespace dynet::python
