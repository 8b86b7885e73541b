#include <nanobind/stl/tuple.h>

#include <functional>
#include <tuple>

#include "dynet-like/structures/ctc/ctc_decoding.h"
#include "held.h"
#include "layers.h"

// Best trees and label sequences, and samples.

namespace dynet::python {
namespace {

using namespace nb::literals;
using LabelList = std::vector<unsigned>;
using Tree = std::vector<std::tuple<unsigned, unsigned, unsigned>>;

// Values of arc scores. Throws ArgumentError for invalid shapes.
ArcScores arc_scores(const char* who, const Expression& arcs) {
  const SourceLocation at = here();
  const Dim d = arcs.dim(at);
  if (d.bd > 1 || d.rank() > 2 || d.rows() != d.cols() || d.rows() == 0)
    nn_detail::fail(who, "the arcs of one sentence are {n+1,n+1}, got " + to_string(d), at);
  return {d.rows() - 1, without_lock([&] { return as_vector(arcs.value(at)); })};
}

void bind_dependency_trees(nb::module_& m) {
  constexpr DependencyRules kRules;
  m.def(
      "best_tree",
      [](const Expression& arcs, Flag projective, Flag single_root) {
        const ArcScores scores = arc_scores("best_tree", arcs);
        return without_lock([&] { return best_tree(scores, {projective, single_root}); });
      },
      "arcs"_a, "projective"_a = kRules.projective, "single_root"_a = kRules.single_root,
      "The heads of words 1 to n, 0 for the root, of the dependency tree with the highest sum of\n"
      "arcs {n+1,n+1}, from head to dependent; of equal ones the lexicographically first; empty\n"
      "if all are forbidden. Projective trees by Eisner's algorithm (1996), others by Chu-Liu's\n"
      "and Edmonds' (1965, 1967). `single_root`: one word depends on the root. ValueError for\n"
      "other shapes and for a batch.");
  m.def(
      "best_trees",
      [](const Expression& arcs, std::size_t n, Flag projective, Flag single_root) {
        const ArcScores scores = arc_scores("best_trees", arcs);
        return pairs_of(without_lock([&] {
                          return best_trees(scores, n, {projective, single_root});
                        }),
                        [](const ScoredTree& t) { return t.heads; });
      },
      "arcs"_a, "n"_a, "projective"_a = kRules.projective, "single_root"_a = kRules.single_root,
      "The n best trees, or as many as there are: (heads, score), the best first.");
  m.def(
      "sample_tree",
      [](const Expression& arcs, std::uint64_t key, Flag projective, Flag single_root) {
        const ArcScores scores = arc_scores("sample_tree", arcs);
        return without_lock([&] { return sample_tree(scores, key, {projective, single_root}); });
      },
      "arcs"_a, "key"_a, "projective"_a = kRules.projective, "single_root"_a = kRules.single_root,
      "The heads of a tree drawn with its probability, see `dependency_log_prob`: the same one\n"
      "for the same key. Empty if all are forbidden.");
}

Tree tree(const std::vector<LabelledSpan>& spans) {
  Tree result;
  for (const LabelledSpan& s : spans) result.emplace_back(s.first, s.last, s.label);
  return result;
}

void bind_span_trees(nb::module_& m) {
  m.def(
      "best_span_tree",
      [](const Expression& spans) {
        return tree(
            without_lock([&, at = here()] { return best_span_tree(span_scores(spans, at)); }));
      },
      "spans"_a,
      "The binary tree with the highest sum of scores {n,n,K} of spans from row to column with a\n"
      "label: a list of (first, last, label), a span before its left and its right part; of equal\n"
      "ones the lexicographically first; empty if all are forbidden. {n,n} has one label.\n"
      "ValueError for other shapes and for a batch.");
  m.def(
      "best_span_trees",
      [](const Expression& spans, std::size_t n) {
        return pairs_of(
            without_lock([&, at = here()] { return best_span_trees(span_scores(spans, at), n); }),
            [](const ScoredSpans& t) { return tree(t.spans); });
      },
      "spans"_a, "n"_a,
      "The n best trees, or as many as there are: (tree, score), the best first.");
  m.def(
      "sample_span_tree",
      [](const Expression& spans, std::uint64_t key) {
        return tree(without_lock(
            [&, at = here()] { return sample_span_tree(span_scores(spans, at), key); }));
      },
      "spans"_a, "key"_a,
      "A tree drawn with its probability, see `span_log_prob`: the same one for the same key.");
}

/// Also holds the functions, for the garbage collector.
struct Decoder {
  CtcDecoder decoder;
  Held extend, finish;
};

int traverse_decoder(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Decoder& d = *nb::inst_ptr<Decoder>(self);
  if (d.extend) Py_VISIT(d.extend->ptr());
  if (d.finish) Py_VISIT(d.finish->ptr());
  return 0;
}

int clear_decoder(PyObject* self) {
  if (nb::inst_ready(self)) *nb::inst_ptr<Decoder>(self) = Decoder();
  return 0;
}

PyType_Slot decoder_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_decoder)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_decoder)},
                               {0, nullptr}};

LabelList as_labels(std::span<const unsigned> labels) { return {labels.begin(), labels.end()}; }

using Extend = nb::typed<nb::callable, double(LabelList, unsigned)>;
using Finish = nb::typed<nb::callable, double(LabelList)>;

void bind_ctc_decoder(nb::module_& m) {
  m.def(
      "ctc_collapse",
      [](const std::vector<std::int64_t>& symbols, unsigned blank) {
        return ctc_collapse(indices_of("ctc_collapse", symbols), blank);
      },
      "symbols"_a, "blank"_a = 0, "The labels of an alignment: without repeats, then blanks.");
  nb::class_<Decoder>(
      m, "CtcDecoder", nb::type_slots(decoder_slots),
      "Finds labels from the log-probabilities {V,T} that `ctc_loss` is trained on.\n"
      "ValueError for other shapes, for a batch, and for a blank and labels that\n"
      "there are not.")
      .def(
          "__init__",
          [](Decoder* self, std::size_t width, const std::optional<Extend>& extend,
             const std::optional<Finish>& finish, unsigned blank) {
            CtcBeam beam{.width = width};
            Held e, f;
            if (extend) {
              e = hold(*extend);
              beam.extend = [e](std::span<const unsigned> prefix, unsigned label) {
                const nb::gil_scoped_acquire acquire;
                return number_given("CtcDecoder", (*e)(as_labels(prefix), label));
              };
            }
            if (finish) {
              f = hold(*finish);
              beam.finish = [f](std::span<const unsigned> labels) {
                const nb::gil_scoped_acquire acquire;
                return number_given("CtcDecoder", (*f)(as_labels(labels)));
              };
            }
            new (self) Decoder{CtcDecoder(std::move(beam), blank), e, f};
          },
          "width"_a = CtcBeam().width, "extend"_a = nb::none(), "finish"_a = nb::none(),
          "blank"_a = 0,
          "`width`: prefixes kept after each frame. `extend(prefix, label)` is added to a score\n"
          "when `label` follows `prefix`, such as the weighted score of a language model; it\n"
          "must not change. `finish(labels)` is added in the end.")
      .def(
          "best",
          [](const Decoder& d, const Expression& log_probs) {
            return without_lock([&, at = here()] { return d.decoder.best(log_probs, at); });
          },
          "log_probs"_a,
          "The best labels that prefix beam search finds (Hannun et al. 2014); empty also if all\n"
          "are impossible.")
      .def(
          "best",
          [](const Decoder& d, const Expression& log_probs, std::size_t n) {
            return pairs_of(
                without_lock([&, at = here()] { return d.decoder.best(log_probs, n, at); }),
                [](const ScoredLabels& s) { return s.labels; });
          },
          "log_probs"_a, "n"_a,
          "The n best: (labels, score), the best first. Without functions and with a width that\n"
          "no frame exceeds scores are log-probabilities.")
      .def(
          "greedy",
          [](const Decoder& d, const Expression& log_probs) {
            return without_lock([&, at = here()] { return d.decoder.greedy(log_probs, at); });
          },
          "log_probs"_a, "The labels of the best symbol of each frame.")
      .def(
          "align",
          [](const Decoder& d, const Expression& log_probs,
             const std::vector<std::int64_t>& labels) {
            const LabelList known = indices_of("align", labels);
            const ScoredAlignment a =
                without_lock([&, at = here()] { return d.decoder.align(log_probs, known, at); });
            return std::pair(a.symbols, a.score);
          },
          "log_probs"_a, "labels"_a,
          "The best alignment of labels that are known: (symbols by frame, score), of equal ones\n"
          "the lexicographically first. ([], -inf) where none is possible.")
      .def(
          "sample",
          [](const Decoder& d, const Expression& log_probs, std::uint64_t key) {
            return without_lock([&, at = here()] { return d.decoder.sample(log_probs, key, at); });
          },
          "log_probs"_a, "key"_a,
          "LabelList drawn with their probability: the same ones for the same key.");
}

}  // namespace

void bind_decoding(nb::module_& m) {
  bind_dependency_trees(m);
  bind_span_trees(m);
  bind_ctc_decoder(m);
}

}  // namespace dynet::python
