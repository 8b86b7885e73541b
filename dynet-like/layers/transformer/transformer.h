#pragma once

#include <utility>
#include <vector>

#include "dynet-like/layers/transformer/feed_forward.h"
#include "dynet-like/layers/transformer/multi_head_attention.h"
#include "dynet-like/layers/transformer/norms.h"

namespace dynet {

/// Settings of TransformerEncoder and TransformerDecoder.
struct TransformerSettings {
  unsigned layers = 1;                       ///< number of layers
  unsigned size = 0;                         ///< of the columns, a multiple of `heads`
  unsigned heads = 1;                        ///< of attention
  unsigned hidden = 0;                       ///< of feed-forward layers
  unsigned key_heads = 0;                    ///< as in MultiHeadAttention
  unsigned memory = 0;                       ///< size of the memory's columns; zero: no memory
  Activation activation = Activation::relu;  ///< of feed-forward layers
  bool norm_first = false;                   ///< x + f(norm(x)) instead of norm(x + f(x))
  bool final_norm = false;                   ///< one more norm after the last layer
  bool rms_norm = false;                     ///< RMSNorm instead of LayerNorm
  float epsilon = 1e-5f;                     ///< of the norms
  bool bias = true;                          ///< in products and in LayerNorm
  bool causal = false;                       ///< for an encoder; a decoder is always causal
  unsigned relative = 0;                     ///< for self-attention, as in MultiHeadAttention
  bool rotary = false;                       ///< for self-attention, as in MultiHeadAttention
  float rotary_base = 10000.0f;              ///< for self-attention, as in MultiHeadAttention

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& layers& size& heads& hidden& key_heads& memory& activation& norm_first& final_norm&
        rms_norm& epsilon& bias& causal& relative& rotary& rotary_base;
  }
};

namespace nn_detail {

/// LayerNorm or RMSNorm, by the settings.
class Norm : public LayerBase {
 public:
  Norm(ParameterCollection& model, const TransformerSettings& settings);
  Norm() = default;
  Expression apply(const Expression& x, SourceLocation at) const;

 private:
  void list_parts(Parts& parts) override { parts.add(layer_, rms_); }
  bool rms_norm_ = false;
  LayerNorm layer_;
  RMSNorm rms_;
};

/// A layer of an encoder or a decoder.
struct TransformerLayer {
  MultiHeadAttention self, cross;
  FeedForward feed_forward;
  Norm self_norm, cross_norm, feed_forward_norm;
};

/// The layers of an encoder or a decoder.
class TransformerStack : public LayerBase {
 public:
  /// `who` is the name of the class, `name` that of its collection.
  TransformerStack(ParameterCollection& model, const TransformerSettings& settings, const char* who,
                   const char* name);
  TransformerStack() = default;
  using LayerBase::need_graph;
  void set_dropout(float rate);
  /// Applies one layer; the keys and values of x are appended to `past`.
  Expression apply(const TransformerLayer& layer, Expression x, KeysValues& past,
                   const std::vector<unsigned>& self_lengths, const KeysValues& memory,
                   const std::vector<unsigned>& memory_lengths, SourceLocation at) const;
  /// Applies the norm after the last layer, if there is one.
  Expression finish(const Expression& x, SourceLocation at) const;

  TransformerSettings settings;
  std::vector<TransformerLayer> layers;

 private:
  void list_parts(Parts& parts) override;
  Norm final_norm_;
  float dropout_ = 0;
};

}  // namespace nn_detail

/// Layers of self-attention and feed-forward layers (Vaswani et al. 2017). A layer is
///
///     h = norm(x + attention(x)),  y = norm(h + feed_forward(h))
///
/// or, with `norm_first` (Xiong et al. 2020),
///
///     h = x + attention(norm(x)),  y = h + feed_forward(norm(h))
///
/// x {size,T}, or {size} for one column; y likewise, with the batch of x. Positions must be encoded
/// in x, or by relative or rotary attention.
///
/// `new_graph` must be called first; without it `apply` throws ArgumentError. A call that throws
/// leaves the layer unchanged.
class TransformerEncoder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  using Settings = TransformerSettings;

  /// Throws ArgumentError for zero layers, for a size of zero, for a memory, and for settings that
  /// MultiHeadAttention, FeedForward or the norms reject.
  TransformerEncoder(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  TransformerEncoder() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y. `lengths`: number of columns of each batch element that are attended to; none: all columns.
  /// Columns of y after the length are meaningless.
  Expression apply(const Expression& x, const std::vector<unsigned>& lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// Dropout of the results of attention and feed-forward layers, and inside feed-forward layers,
  /// new masks for each call; attention weights are not dropped. Throws ArgumentError unless 0 <=
  /// rate < 1.
  void set_dropout(float rate) { stack_.set_dropout(rate); }
  /// Turns dropout off.
  void disable_dropout() { set_dropout(0); }

  /// Collection of the parameters, layer by layer: attention, its norm, the feed-forward layer and
  /// its norm; then the final norm.
  ParameterCollection get_parameter_collection() const { return stack_.get_parameter_collection(); }
  /// Arguments of the constructor.
  const Settings& settings() const { return stack_.settings; }

 private:
  nn_detail::TransformerStack stack_;
};

/// Keys and values of the positions that a TransformerDecoder has read, as nodes of its graph.
/// Copies share these nodes and may be extended independently, such as by hypotheses of a beam.
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
/// with causal self-attention, or the variant with `norm_first` as in TransformerEncoder. Without
/// `memory` in the settings there is no second attention: a language model.
///
/// x {size,T}, or {size} for one column; y likewise; memory {memory,n}. Batch sizes of x and memory
/// are equal or one.
///
/// `new_graph` must be called first; without it the functions throw ArgumentError. A call that
/// throws leaves the layer unchanged.
class TransformerDecoder {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  using Settings = TransformerSettings;

  /// Throws ArgumentError for zero layers, for a size of zero, and for settings that
  /// MultiHeadAttention, FeedForward or the norms reject.
  TransformerDecoder(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  TransformerDecoder() = default;

  /// Adds the parameters to the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// y of a whole sentence, without a memory. Throws ArgumentError if the settings have a memory.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;
  /// y of a whole sentence. `memory_lengths`: number of columns of the memory of each batch
  /// element; none: all columns.
  Expression apply(const Expression& x, const Expression& memory,
                   const std::vector<unsigned>& memory_lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// The initial cache, without a memory. Throws ArgumentError if the settings have one.
  DecoderCache start(SourceLocation at = SourceLocation::current()) const;
  /// The initial cache, with the keys and values of a memory.
  DecoderCache start(const Expression& memory, const std::vector<unsigned>& memory_lengths = {},
                     SourceLocation at = SourceLocation::current()) const;
  /// Reads one or more positions: x {size} or {size,k} gives y of the same shape, equal to the
  /// columns of `apply` for the whole sentence, and the extended cache. A step copies the keys and
  /// values of all positions before it.
  std::pair<Expression, DecoderCache> step(const DecoderCache& before, const Expression& x,
                                           SourceLocation at = SourceLocation::current()) const;

  /// Dropout as in TransformerEncoder.
  void set_dropout(float rate) { stack_.set_dropout(rate); }
  /// Turns dropout off.
  void disable_dropout() { set_dropout(0); }

  /// Collection of the parameters, layer by layer: self-attention, its norm, attention to the
  /// memory, its norm, the feed-forward layer and its norm; then the final norm.
  ParameterCollection get_parameter_collection() const { return stack_.get_parameter_collection(); }
  /// Arguments of the constructor.
  const Settings& settings() const { return stack_.settings; }

 private:
  nn_detail::TransformerStack stack_;
};

}  // namespace dynet
