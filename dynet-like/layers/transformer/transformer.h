#pragma once

#include <utility>
#include <vector>

#include "dynet-like/layers/transformer/feed_forward.h"
#include "dynet-like/layers/transformer/multi_head_attention.h"
#include "dynet-like/layers/transformer/norms.h"

namespace dynet {

/// Settings of TransformerEncoder and TransformerDecoder.
struct TransformerSettings {
  unsigned layers = 1;                       ///< one upon another
  unsigned size = 0;                         ///< of columns, a multiple of `heads`
  unsigned heads = 1;                        ///< of attention
  unsigned hidden = 0;                       ///< of feed-forward layers
  unsigned key_heads = 0;                    ///< as in MultiHeadAttention
  unsigned memory = 0;                       ///< size of a decoder's memory; zero: it reads none
  Activation activation = Activation::relu;  ///< of feed-forward layers
  bool norm_first = false;                   ///< x + f(norm(x)) instead of norm(x + f(x))
  bool final_norm = false;                   ///< one more behind the last layer
  bool rms_norm = false;                     ///< RMSNorm instead of LayerNorm
  float epsilon = 1e-5f;                     ///< of the norms
  bool bias = true;                          ///< in products and in LayerNorm
  bool causal = false;                       ///< of an encoder; a decoder always is
  unsigned relative = 0;                     ///< of attention within a sentence, as there
  bool rotary = false;                       ///< likewise
  float rotary_base = 10000.0f;              ///< likewise

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& layers& size& heads& hidden& key_heads& memory& activation& norm_first& final_norm&
        rms_norm& epsilon& bias& causal& relative& rotary& rotary_base;
  }
};

namespace nn_detail {

/// LayerNorm or RMSNorm.
class Norm {
 public:
  Norm(ParameterCollection& model, const TransformerSettings& settings);
  Norm() = default;
  void new_graph(ComputationGraph& cg, bool update, SourceLocation at);
  Expression apply(const Expression& x, SourceLocation at) const;

 private:
  bool rms_norm_ = false;
  LayerNorm layer_;
  RMSNorm rms_;
};

/// A layer of either transformer.
struct TransformerLayer {
  MultiHeadAttention self, cross;
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;
};

/// The layers of either transformer.
class TransformerStack {
 public:
  /// `who` is the class, `name` that of its collection.
  TransformerStack(ParameterCollection& model, const TransformerSettings& settings, const char* who,
                   const char* name);
  TransformerStack() = default;
  void new_graph(ComputationGraph& cg, bool update, SourceLocation at);
  void need_graph(const char* who, SourceLocation at) const;
  void set_dropout(float rate);
  /// One layer; `past` is what its attention within the sentence saw, and what it sees from now on.
  Expression apply(const TransformerLayer& layer, Expression x, KeysValues& past,
                   const std::vector<unsigned>& self_lengths, const KeysValues& memory,
                   const std::vector<unsigned>& memory_lengths, SourceLocation at) const;
  /// Behind the last layer.
  Expression finish(const Expression& x, SourceLocation at) const;

  ParameterCollection collection;
  TransformerSettings settings;
  std::vector<TransformerLayer> layers;

 private:
  Norm final_norm_;
  Expression in_graph_;  // any node
  float dropout_ = 0;
};

}  // namespace nn_detail

/// Layers of attention within a sentence and feed-forward layers (Vaswani et al. 2017). A layer is
///
///     h = norm(x + attention(x)),  y = norm(h + feed_forward(h))
///
/// and with `norm_first` (Xiong et al. 2020)
///
///     h = x + attention(norm(x)),  y = h + feed_forward(norm(h))
///
/// x {size,T}, or {size} for one column; y likewise, with the batch of x. What tells positions
/// apart is added to x before, or is relative or rotary.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class TransformerEncoder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  using Settings = TransformerSettings;

  /// Throws ArgumentError without a layer, for a size of zero, for a memory, which it does not
  /// read, and for what MultiHeadAttention, FeedForward and the norms refuse.
  TransformerEncoder(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  TransformerEncoder() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. With lengths, one for each batch element, an element has only that many columns that are
  /// attended to; what comes of the others is of no use.
  Expression apply(const Expression& x, const std::vector<unsigned>& lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// Dropout of results of attention and feed-forward layers, and within the latter, new masks in
  /// each call; weights of attention are not dropped. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate) { stack_.set_dropout(rate); }
  /// No dropout from now on.
  void disable_dropout() { set_dropout(0); }

  /// Collection of the parameters, layer by layer: attention, its norm, the feed-forward layer and
  /// its norm; then the last norm.
  ParameterCollection get_parameter_collection() const { return stack_.collection; }
  /// Arguments of the constructor.
  const Settings& settings() const { return stack_.settings; }

 private:
  nn_detail::TransformerStack stack_;
};

/// Positions that a TransformerDecoder has read: nodes of its graph. A copy may read different
/// positions, as the hypotheses of a beam do, and shares the nodes read before.
class DecoderCache {
 public:
  /// Number of positions read.
  unsigned size() const { return sentence_.empty() ? 0 : sentence_.front().size(); }

 private:
  friend class TransformerDecoder;
  std::vector<KeysValues> sentence_, memory_;  // by layer
  std::vector<unsigned> memory_lengths_;
};

/// Layers that read a sentence from left to right, and a memory, such as an encoder's output
/// (Vaswani et al. 2017). A layer is
///
///     g = norm(x + attention(x)),  h = norm(g + attention(g, memory)),
///     y = norm(h + feed_forward(h))
///
/// where the first attention is causal, or with `norm_first` as in TransformerEncoder. Without
/// `memory` in the settings there is no second attention: a language model.
///
/// x {size,T}, or {size} for one column; y likewise; memory {memory,n}. Batch sizes of x and memory
/// are equal or one.
///
/// `new_graph` comes first; without it the functions throw ArgumentError. After an error the layer
/// is as before.
class TransformerDecoder {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  using Settings = TransformerSettings;

  /// Throws ArgumentError without a layer, for a size of zero, and for what MultiHeadAttention,
  /// FeedForward and the norms refuse.
  TransformerDecoder(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  TransformerDecoder() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// y of a whole sentence, without a memory. Throws ArgumentError if the settings have one.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;
  /// y of a whole sentence. With lengths, one for each batch element, an element has only that many
  /// columns of the memory.
  Expression apply(const Expression& x, const Expression& memory,
                   const std::vector<unsigned>& memory_lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// Before the first position, without a memory. Throws ArgumentError if the settings have one.
  DecoderCache start(SourceLocation at = SourceLocation::current()) const;
  /// Before the first position, with the keys and values of a memory.
  DecoderCache start(const Expression& memory, const std::vector<unsigned>& memory_lengths = {},
                     SourceLocation at = SourceLocation::current()) const;
  /// One or more positions more: x {size} or {size,k} gives y likewise, as `apply` gives it for the
  /// whole sentence, and what was read then. A step copies the keys and values before it.
  std::pair<Expression, DecoderCache> step(const DecoderCache& before, const Expression& x,
                                           SourceLocation at = SourceLocation::current()) const;

  /// As in TransformerEncoder.
  void set_dropout(float rate) { stack_.set_dropout(rate); }
  /// No dropout from now on.
  void disable_dropout() { set_dropout(0); }

  /// Collection of the parameters, layer by layer: attention within the sentence, its norm,
  /// attention to the memory, its norm, the feed-forward layer and its norm; then the last norm.
  ParameterCollection get_parameter_collection() const { return stack_.collection; }
  /// Arguments of the constructor.
  const Settings& settings() const { return stack_.settings; }

 private:
  nn_detail::TransformerStack stack_;
};

}  // namespace dynet
