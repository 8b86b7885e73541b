#include <nanobind/stl/pair.h>

#include "held.h"
#include "layers.h"

namespace dynet::python {
namespace {

using namespace nb::literals;

LengthNormalization normalization_of(const std::string& name) {
  if (name == "none") return LengthNormalization::kNone;
  if (name == "power") return LengthNormalization::kPower;
  if (name == "gnmt") return LengthNormalization::kGnmt;
  nn_detail::fail("beam_search",
                  "normalization is \"none\", \"power\" or \"gnmt\", not \"" + name + "\"", here());
}

// Calls the step function in Python, which returns log-probabilities and the next state.
Expression take_step(const char* who, nb::handle step, Held& state, unsigned last,
                     SourceLocation at) {
  const nb::gil_scoped_acquire acquire;
  const nb::object result = step(*state, last);
  if (!nb::isinstance<nb::tuple>(result) || nb::len(result) != 2)
    nn_detail::fail(who, "a step gives (log_probs, state)", at);
  Expression log_probs;
  if (!read_argument(nb::object(result[0]), log_probs))
    nn_detail::fail(who, "log_probs must be an expression", at);
  state = hold(nb::object(result[1]));
  return log_probs;
}

nb::list search(const std::vector<nb::object>& starts, const nb::callable& step,
                const BeamSettings& settings, const std::optional<nb::callable>& penalty) {
  const SourceLocation at = here();
  std::vector<Held> states;
  for (const nb::object& start : starts) states.push_back(hold(start));
  const auto all = without_lock([&] {
    return beam_search(
        std::move(states),
        [&](Held& state, unsigned last) { return take_step("beam_search", step, state, last, at); },
        settings,
        [&](const Held& state) {
          if (!penalty) return 0.0;
          const nb::gil_scoped_acquire acquire;
          return number_given("beam_search", (*penalty)(*state));
        },
        at);
  });
  const nb::object hypothesis = nb::module_::import_("dynet.decoding").attr("BeamHypothesis");
  nb::list sentences;
  for (const auto& sentence : all) {
    nb::list found;
    for (const auto& h : sentence)
      found.append(hypothesis(h.tokens, h.log_prob, h.score, *h.state));
    sentences.append(found);
  }
  return sentences;
}

nb::list sample(const std::vector<nb::object>& starts, const nb::callable& step,
                const std::vector<std::uint64_t>& keys, const SequenceSamplingSettings& settings) {
  const SourceLocation at = here();
  std::vector<Held> states;
  for (const nb::object& start : starts) states.push_back(hold(start));
  const auto all = without_lock([&] {
    return sample_sequences(
        std::move(states),
        [&](Held& state, unsigned last) {
          return take_step("sample_sequences", step, state, last, at);
        },
        keys, settings, at);
  });
  const nb::object sequence = nb::module_::import_("dynet.decoding").attr("SampledSequence");
  nb::list sequences;
  for (const auto& s : all) sequences.append(sequence(s.tokens, s.log_prob, s.ended, *s.state));
  return sequences;
}

void bind_sampling(nb::module_& m) {
  const SequenceSamplingSettings plain;
  m.def(
      "sample_sequences",
      [](const std::vector<nb::object>& starts, const nb::callable& step,
         const std::vector<std::uint64_t>& keys, double temperature, std::size_t top_k,
         double top_p, unsigned begin, unsigned end, std::size_t max_length) {
        return sample(starts, step, keys, {{temperature, top_k, top_p}, begin, end, max_length});
      },
      "starts"_a, "step"_a, "keys"_a, "temperature"_a = plain.tokens.temperature,
      "top_k"_a = plain.tokens.top_k, "top_p"_a = plain.tokens.top_p, "begin"_a = plain.begin,
      "end"_a = plain.end, "max_length"_a = plain.max_length,
      nb::sig("def sample_sequences(starts: collections.abc.Sequence[typing.Any], step: "
              "collections.abc.Callable[[typing.Any, int], tuple[Expression, typing.Any]], keys: "
              "collections.abc.Sequence[int], temperature: float = 1.0, top_k: int = 0, top_p: "
              "float = 1.0, begin: int = 0, end: int = 0, max_length: int = 100) -> "
              "list[dynet.decoding.SampledSequence]"),
      "A sequence drawn for each state of `starts`, the same one for the same key:\n"
      "SampledSequence(tokens, log_prob, ended, state). `step` is that of `beam_search`. First "
      "the\n"
      "log-probabilities are divided by `temperature` (0: always the most probable token), then\n"
      "only the `top_k` most probable tokens stay (0: all), of which only the most probable that\n"
      "have `top_p` of the probability together. ValueError for another number of keys than of\n"
      "starts, for settings and values that are none, and for a batch.");
}

}  // namespace

void bind_beam_search(nb::module_& m) {
  bind_sampling(m);
  using Prefixes = std::vector<std::vector<std::int64_t>>;
  const BeamSettings plain;
  m.def(
      "beam_search",
      [](const std::vector<nb::object>& starts, const nb::callable& step, std::size_t width,
         std::size_t n, unsigned begin, unsigned end, std::size_t min_length,
         std::size_t max_length, const std::vector<std::size_t>& max_lengths,
         const std::string& normalization, double alpha, const Prefixes& prefixes,
         const std::optional<nb::callable>& penalty) {
        BeamSettings settings{width,      n,          begin,       end,
                              min_length, max_length, max_lengths, normalization_of(normalization),
                              alpha,      {}};
        for (const auto& prefix : prefixes)
          settings.prefixes.push_back(indices_of("beam_search", prefix));
        return search(starts, step, settings, penalty);
      },
      "starts"_a, "step"_a, "width"_a = plain.width, "n"_a = plain.n, "begin"_a = plain.begin,
      "end"_a = plain.end, "min_length"_a = plain.min_length, "max_length"_a = plain.max_length,
      "max_lengths"_a = nb::list(), "normalization"_a = "none", "alpha"_a = plain.alpha,
      "prefixes"_a = nb::list(), "penalty"_a = nb::none(),
      nb::sig("def beam_search(starts: collections.abc.Sequence[typing.Any], step: "
              "collections.abc.Callable[[typing.Any, int], tuple[Expression, typing.Any]], width: "
              "int = 5, n: int = 1, begin: int = 0, end: int = 0, min_length: int = 0, max_length: "
              "int = 100, max_lengths: collections.abc.Sequence[int] = [], normalization: str = "
              "'none', alpha: float = 1.0, prefixes: "
              "collections.abc.Sequence[collections.abc.Sequence[int]] = [], penalty: "
              "collections.abc.Callable[[typing.Any], float] | None = None) -> "
              "list[list[dynet.decoding.BeamHypothesis]]"),
      "Beam search (Sutskever, Vinyals, Le 2014) for sentences that begin in the states\n"
      "`starts`: the n best of each, BeamHypothesis(tokens, log_prob, score, state), the best\n"
      "first. `step(state, last)` gives the log-probabilities {V} of what may follow the token\n"
      "`last`, and the state after it, (log_probs, state); it must not change the state that it\n"
      "is given. It is called for all hypotheses of all sentences before any value is read, so\n"
      "that they run together. The `width` most probable go on, from `begin` to `end`, for\n"
      "`min_length` to `max_length` tokens (`max_lengths`: of each sentence), after `prefixes`\n"
      "if there are any. score = log_prob / normalization(L) + penalty(state): \"none\" 1,\n"
      "\"power\" L^alpha, \"gnmt\" ((5 + L) / 6)^alpha for L tokens with the end; penalty(state)\n"
      "is 0 or below. ValueError for settings that contradict each other, for values that are no\n"
      "log-probabilities, and for a batch.");
}

}  // namespace dynet::python
