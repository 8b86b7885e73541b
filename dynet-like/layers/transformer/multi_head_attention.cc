#include "dynet-like/layers/transformer/multi_head_attention.h"

#include <cmath>

#include "dynet-like/base/errors.h"
#include "dynet-like/layers/support.h"
#include "dynet-like/layers/transformer/positions.h"
#include "dynet-like/ops/attention.h"
#include "dynet-like/ops/selection.h"

namespace dynet {
namespace {

void check(const MultiHeadAttention::Settings& s) {
  const auto need = [](bool fine, const std::string& rule) {
    if (!fine) throw ArgumentError("MultiHeadAttention: " + rule);
  };
  need(s.size > 0 && s.heads > 0, "needs a size and heads above zero, got " +
                                      std::to_string(s.size) + " and " + std::to_string(s.heads));
  need(s.size % s.heads == 0, "the heads must divide the size, got " + std::to_string(s.heads) +
                                  " and " + std::to_string(s.size));
  need(s.key_heads == 0 || s.heads % s.key_heads == 0,
       "the heads of keys must divide those of queries, got " + std::to_string(s.key_heads) +
           " and " + std::to_string(s.heads));
  need(s.relative < 1u << 30, "relative biases reach too far");
  if (!s.rotary) return;
  need(s.size / s.heads % 2 == 0,
       "rotary positions need heads of an even size, got " + std::to_string(s.size / s.heads));
  need(s.rotary_base > 1 && std::isfinite(s.rotary_base),
       "rotary positions need a finite base above one, got " + std::to_string(s.rotary_base));
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(ParameterCollection& model, const Settings& settings)
    : settings_(settings) {
  check(settings);
  const unsigned memory = settings.memory ? settings.memory : settings.size;
  const unsigned shared = settings.size / settings.heads * key_heads();
  collection_ = model.add_subcollection("multi-head-attention");
  queries_ = Linear(collection_, {settings.size, settings.size, settings.bias});
  keys_ = Linear(collection_, {memory, shared, settings.bias});
  values_ = Linear(collection_, {memory, shared, settings.bias});
  output_ = Linear(collection_, {settings.size, settings.size, settings.bias});
  if (settings.relative)
    relative_ = collection_.add_parameters({2 * settings.relative + 1, settings.heads},
                                           ParameterInitConst(0.0f));
}

void MultiHeadAttention::list_parts(Parts& parts) {
  parts.add(queries_, keys_, values_, output_, relative_);
}

Expression MultiHeadAttention::apply(const Expression& x, SourceLocation at) const {
  return attend(x, remember(x, at), {}, at);
}

Expression MultiHeadAttention::apply(const Expression& x, const Expression& memory,
                                     const std::vector<unsigned>& key_lengths,
                                     SourceLocation at) const {
  return attend(x, remember(memory, at), key_lengths, at);
}

KeysValues MultiHeadAttention::remember(const Expression& memory, SourceLocation at) const {
  return remember(KeysValues(), memory, at);
}

KeysValues MultiHeadAttention::remember(const KeysValues& before, const Expression& memory,
                                        SourceLocation at) const {
  KeysValues now{keys_.apply(memory, at), values_.apply(memory, at)};
  const unsigned past = before.size();
  if (settings_.rotary)
    now.keys =
        rotary_positions(now.keys, key_heads(), static_cast<int>(past), settings_.rotary_base, at);
  if (past == 0) return now;
  return {concatenate_cols({before.keys, now.keys}, at),
          concatenate_cols({before.values, now.values}, at)};
}

Expression MultiHeadAttention::attend(const Expression& x, const KeysValues& memory,
                                      const std::vector<unsigned>& key_lengths,
                                      SourceLocation at) const {
  if (memory.size() == 0) nn_detail::fail("attend", "there is nothing to attend to", at);
  Expression queries = queries_.apply(x, at);
  if (settings_.rotary) {
    const int first = static_cast<int>(memory.size()) - static_cast<int>(x.dim(at).cols());
    queries = rotary_positions(queries, settings_.heads, first, settings_.rotary_base, at);
  }
  AttentionSettings how;
  how.heads = settings_.heads;
  how.key_heads = key_heads();
  how.causal = settings_.causal;
  how.key_lengths = key_lengths;
  const Expression read = settings_.relative
                              ? attention(queries, memory.keys, memory.values, relative_, how, at)
                              : attention(queries, memory.keys, memory.values, how, at);
  return output_.apply(read, at);
}

}  // namespace dynet
