#pragma once

#include <vector>

#include "dynet-like/layers/transformer/linear.h"

namespace dynet {

/// Keys and values of positions, as MultiHeadAttention makes them: nodes of a graph, which it reads
/// for as many queries as there are. A copy shares the nodes.
struct KeysValues {
  Expression keys;    ///< {d*key_heads,n}
  Expression values;  ///< {d*key_heads,n}

  /// How many positions there are; zero before the first.
  unsigned size() const { return keys.pg ? keys.dim().cols() : 0; }
};

/// Attention with heads (Vaswani et al. 2017, "Attention is all you need"): with d = size / heads,
///
///     y = Wo concat_h(attention(Wq_h x, Wk_h m, Wv_h m)) + bo
///
/// each product with its bias, of the columns of x {size,T} to those of a memory m {memory,n},
/// which gives y {size,T}; see `attention` in ops/attention.h. Vectors are one column. Batch sizes
/// of x and m are equal or one. With fewer `key_heads` several heads share keys and values (Ainslie
/// et al. 2023).
///
/// The last query stands beside the last key: with `causal` query i sees the keys up to i + n - T,
/// and relative biases and rotary positions count likewise. So queries may come one by one.
///
/// `new_graph` comes first; without it the functions throw ArgumentError. After an error the layer
/// is as before.
class MultiHeadAttention {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned size = 0;             ///< of columns of x and y; a multiple of `heads`
    unsigned heads = 1;            ///< of the queries
    unsigned key_heads = 0;        ///< of keys and values, a divisor of `heads`; zero: as many
    unsigned memory = 0;           ///< size of columns of m; zero: `size`
    bool bias = true;              ///< on all four products
    bool causal = false;           ///< queries see no keys that come behind them
    unsigned relative = 0;         ///< trained biases by distance, up to this one; zero: none
    bool rotary = false;           ///< queries and keys are turned, see `rotary_positions`
    float rotary_base = 10000.0f;  ///< base of the angles

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size& heads& key_heads& memory& bias& causal& relative& rotary& rotary_base;
    }
  };

  /// Throws ArgumentError for a size or heads of zero, for heads that do not divide each other or
  /// the size, and with `rotary` for heads of an odd size and a base that is not above one and
  /// finite. Matrices begin with ParameterInitGlorot, biases with 0.
  MultiHeadAttention(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  MultiHeadAttention() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());

  /// y of a sentence that is its own memory.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;
  /// y. With lengths, one for each batch element, an element has only that many of the keys.
  Expression apply(const Expression& x, const Expression& memory,
                   const std::vector<unsigned>& key_lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// Keys and values of the columns of a memory.
  KeysValues remember(const Expression& memory,
                      SourceLocation at = SourceLocation::current()) const;
  /// The same with positions before them.
  KeysValues remember(const KeysValues& before, const Expression& memory,
                      SourceLocation at = SourceLocation::current()) const;
  /// y for keys and values that are remembered.
  Expression attend(const Expression& x, const KeysValues& memory,
                    const std::vector<unsigned>& key_lengths = {},
                    SourceLocation at = SourceLocation::current()) const;

  /// Collection of the parameters: Wq, bq, Wk, bk, Wv, bv, Wo, bo, and relative biases
  /// {2*relative+1,heads}.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  unsigned key_heads() const { return settings_.key_heads ? settings_.key_heads : settings_.heads; }

  ParameterCollection collection_;
  Settings settings_;
  Linear queries_, keys_, values_, output_;
  Parameter relative_;
  Expression relative_node_;
};

}  // namespace dynet
