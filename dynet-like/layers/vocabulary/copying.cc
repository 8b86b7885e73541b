#include "dynet-like/layers/vocabulary/copying.h"

#include <algorithm>
#include <limits>
#include <map>

#include "dynet-like/base/errors.h"
#include "dynet-like/graph/describe.h"
#include "dynet-like/io/dict.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/vocabulary/choice.h"
#include "dynet-like/ops/broadcast.h"
#include "dynet-like/ops/elementwise.h"
#include "dynet-like/ops/inputs.h"
#include "dynet-like/ops/reductions.h"
#include "dynet-like/ops/selection.h"
#include "dynet-like/ops/softmax.h"

namespace dynet {
namespace {

using nn_detail::fail;

constexpr float kNever = -std::numeric_limits<float>::infinity();

void need_shape(const char* who, const char* what, const Expression& x, bool fine,
                SourceLocation at) {
  if (!fine)
    throw ShapeError(std::string(who) + ": " + what + ", got " + to_string(x.dim(at)) + "\n  at " +
                         to_string(at),
                     at);
}

void check_shapes(const char* who, const Expression& gate, const Expression& scores,
                  const Expression& attention, SourceLocation at) {
  need_shape(who, "the gate must be one number", gate, gate.dim(at).batch_size() == 1, at);
  need_shape(who, "scores must be a vector", scores, scores.dim(at).nd == 1, at);
  need_shape(who, "attention must be a vector", attention, attention.dim(at).nd == 1, at);
}

// log g and log(1 - g).
Expression log_generate(const Expression& gate, SourceLocation at) { return log_sigmoid(gate, at); }
Expression log_copy(const Expression& gate, SourceLocation at) {
  return log_sigmoid(-LocatedExpression(gate, at), at);
}

// The list's only element, which is shared by all batch elements, or that of one batch element.
template <class T>
const T& of(const std::vector<T>& list, unsigned element) {
  return list[list.size() == 1 ? 0 : element];
}

}  // namespace

ExtendedSource extend_vocabulary(const Dict& words, const std::vector<std::string>& source,
                                 SourceLocation at) {
  if (!words.is_frozen()) fail("extend_vocabulary", "needs a frozen dictionary", at);
  ExtendedSource extended;
  for (const std::string& word : source) {
    if (words.contains(word)) {
      extended.numbers.push_back(static_cast<unsigned>(words.convert(word)));
      continue;
    }
    const auto place = std::find(extended.others.begin(), extended.others.end(), word);
    extended.numbers.push_back(static_cast<unsigned>(
        words.size() + static_cast<std::size_t>(place - extended.others.begin())));
    if (place == extended.others.end()) extended.others.push_back(word);
  }
  return extended;
}

Expression copy_log_prob(const Expression& gate, const Expression& scores,
                         const Expression& attention,
                         const std::vector<std::vector<unsigned>>& sources,
                         const std::vector<unsigned>& targets, SourceLocation at) {
  const char* const who = "copy_log_prob";
  check_shapes(who, gate, scores, attention, at);
  const unsigned words = scores.dim(at).rows(), n = attention.dim(at).rows();
  const std::size_t batch =
      std::max({std::size_t{scores.dim(at).batch_elems()}, std::size_t{gate.dim(at).batch_elems()},
                std::size_t{attention.dim(at).batch_elems()}, sources.size(), targets.size()});
  const auto need = [&](std::size_t count, const char* what) {
    if (count != 1 && count != batch)
      fail(who,
           std::string("needs one of the ") + what + ", or one for each of the " +
               std::to_string(batch) + " batch elements, got " + std::to_string(count),
           at);
  };
  need(sources.size(), "sources");
  need(targets.size(), "targets");
  for (const std::vector<unsigned>& source : sources)
    if (source.empty() || source.size() > n)
      fail(who,
           "a source needs a word and at most the " + std::to_string(n) +
               " that are attended to, got " + std::to_string(source.size()),
           at);

  const auto b = static_cast<unsigned>(batch);
  std::vector<unsigned> known;       // index of the target in the vocabulary, or 0
  std::vector<float> generated;      // 0, or minus infinity for words outside the vocabulary
  std::vector<float> present, here;  // by position: 0 inside the source, 0 at the target
  for (unsigned k = 0; k < b; ++k) {
    const unsigned target = of(targets, k);
    known.push_back(target < words ? target : 0);
    generated.push_back(target < words ? 0.0f : kNever);
    const std::vector<unsigned>& source = of(sources, k);
    for (unsigned i = 0; i < n; ++i) {
      present.push_back(i < source.size() ? 0.0f : kNever);
      here.push_back(i < source.size() && source[i] == target ? 0.0f : kNever);
    }
  }
  ComputationGraph& cg = *scores.pg;
  const auto plus = [&](const Expression& x, const Dim& d, const std::vector<float>& mask) {
    if (std::count(mask.begin(), mask.end(), kNever) == 0) return x;
    return sum({x, input(cg, d, mask, device_of(x), at)}, at);
  };
  const Expression chosen = -LocatedExpression(nn_detail::choice_loss(scores, known, at), at);
  const Expression weights = log_softmax(plus(attention, Dim({n}, b), present), at);
  const Expression copied = logsumexp_dim(plus(weights, Dim({n}, b), here), 0, at);
  return logsumexp({sum({log_generate(gate, at), plus(chosen, Dim({1}, b), generated)}, at),
                    sum({log_copy(gate, at), copied}, at)},
                   at);
}

Expression copy_log_distribution(const Expression& gate, const Expression& scores,
                                 const Expression& attention, const std::vector<unsigned>& source,
                                 unsigned others, SourceLocation at) {
  const char* const who = "copy_log_distribution";
  check_shapes(who, gate, scores, attention, at);
  const unsigned words = scores.dim(at).rows(), n = attention.dim(at).rows();
  if (source.size() != n)
    fail(who,
         "needs a source of the " + std::to_string(n) + " words that are attended to, got " +
             std::to_string(source.size()),
         at);
  std::map<unsigned, unsigned> columns;  // column of each distinct source word
  for (const unsigned word : source) {
    if (word >= words + others)
      fail(who,
           "word " + std::to_string(word) + " of the source is beyond the vocabulary of " +
               std::to_string(words) + " and " + std::to_string(others),
           at);
    columns.try_emplace(word, static_cast<unsigned>(columns.size()));
  }
  ComputationGraph& cg = *scores.pg;
  const auto distinct = static_cast<unsigned>(columns.size());
  std::vector<float> here(std::size_t{n} * distinct, kNever);
  for (unsigned i = 0; i < n; ++i) here[std::size_t{columns[source[i]]} * n + i] = 0.0f;
  const Expression placed = sum(
      {log_softmax(attention, at), input(cg, Dim({n, distinct}), here, device_of(attention), at)},
      at);
  // Log sums by distinct source word, then a row for each word: its sum, or minus infinity.
  const Expression never = constant(cg, {1}, kNever, device_of(attention), at);
  const Expression sums = concatenate({logsumexp_dim(placed, 0, at), never}, 0, at);
  std::vector<unsigned> rows(words + others, distinct);
  for (const auto& [word, column] : columns) rows[word] = column;
  std::vector<Expression> generated = {log_softmax(scores, at)};
  if (others > 0) generated.push_back(constant(cg, {others}, kNever, device_of(scores), at));
  return logsumexp({sum({log_generate(gate, at), concatenate(generated, 0, at)}, at),
                    sum({log_copy(gate, at), select_rows(sums, rows, at)}, at)},
                   at);
}

Coverage::Coverage(ComputationGraph& cg, unsigned positions, SourceLocation at) {
  if (positions == 0) fail("Coverage", "a source needs a position", at);
  sum_ = zeros(cg, {positions}, {}, at);
}

Expression Coverage::add(const Expression& weights, SourceLocation at) {
  need_shape("Coverage::add", "weights must be one number for each position", weights,
             weights.dim(at).single_batch() == sum_.dim(at).single_batch(), at);
  const Expression loss = sum_elems(min(weights, sum_, at), at);
  sum_ = sum({sum_, weights}, at);
  return loss;
}

CopyGate::CopyGate(ParameterCollection& model, const Settings& settings)
    : LayerBase(model, "copy-gate", {settings.size}),
      settings_(settings),
      linear_(collection_, {settings.size, 1}) {}

void CopyGate::list_parts(Parts& parts) { parts.add(linear_); }

Expression CopyGate::apply(const Expression& x, SourceLocation at) const {
  return linear_.apply(x, at);
}

}  // namespace dynet
