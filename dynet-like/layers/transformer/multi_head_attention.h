#pragma once

#include <vector>

#include "dynet-like/layers/transformer/linear.h"

namespace dynet {

/// Keys and values of positions, as nodes of a graph; MultiHeadAttention creates them once and
/// reads them for any number of queries. Copies share the nodes.
struct KeysValues {
  Expression keys;    ///< {d*key_heads,n}
  Expression values;  ///< {d*key_heads,n}

  /// Number of positions.
  unsigned size() const { return keys.pg ? keys.dim().cols() : 0; }
};

/// Multi-head attention (Vaswani et al. 2017, "Attention is all you need"): with d = size / heads,
///
///     y = Wo concat_h(attention(Wq_h x, Wk_h m, Wv_h m)) + bo
///
/// with a bias in each product, of the columns of x {size,T} to the columns of a memory m
/// {memory,n}; y is {size,T}. `attention` in ops/attention.h has the details. Vectors are one
/// column. Batch sizes of x and m are equal or one. With fewer `key_heads` than `heads`, several
/// heads share keys and values (Ainslie et al. 2023).
///
/// The last query is aligned with the last key: with `causal` query i sees the keys up to i + n -
/// T, and relative biases and rotary positions use this alignment. So queries may be added one by
/// one.
///
/// Parameters: Wq, bq, Wk, bk, Wv, bv, Wo, bo, and relative biases {2*relative+1,heads}.
class MultiHeadAttention : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned size = 0;             ///< of columns of x and y; a multiple of `heads`
    unsigned heads = 1;            ///< of queries
    unsigned key_heads = 0;        ///< of keys and values, a divisor of `heads`; zero: `heads`
    unsigned memory = 0;           ///< size of the columns of m; zero: `size`
    bool bias = true;              ///< in all four products
    bool causal = false;           ///< a query attends only to keys up to its own position
    unsigned relative = 0;         ///< maximum distance of trained relative biases; zero: none
    bool rotary = false;           ///< rotates queries and keys, see `rotary_positions`
    float rotary_base = 10000.0f;  ///< base of the angles

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& size& heads& key_heads& memory& bias& causal& relative& rotary& rotary_base;
    }
  };

  /// Throws ArgumentError for a size or heads of zero, for `key_heads` that does not divide `heads`
  /// or `heads` that does not divide `size`, and with `rotary` for heads of odd size and a base
  /// that is not above one and finite. Initial values: ParameterInitGlorot for matrices, 0 for
  /// biases.
  MultiHeadAttention(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  MultiHeadAttention() = default;

  /// Self-attention: x is its own memory.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;
  /// Attention of x to a memory. `key_lengths`: keys of each batch element; none: all keys.
  Expression apply(const Expression& x, const Expression& memory,
                   const std::vector<unsigned>& key_lengths = {},
                   SourceLocation at = SourceLocation::current()) const;

  /// Keys and values of the columns of a memory.
  KeysValues remember(const Expression& memory,
                      SourceLocation at = SourceLocation::current()) const;
  /// Keys and values of a memory, appended to the positions of `before`.
  KeysValues remember(const KeysValues& before, const Expression& memory,
                      SourceLocation at = SourceLocation::current()) const;
  /// Attention of x to keys and values of `remember`.
  Expression attend(const Expression& x, const KeysValues& memory,
                    const std::vector<unsigned>& key_lengths = {},
                    SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  unsigned key_heads() const { return settings_.key_heads ? settings_.key_heads : settings_.heads; }

  Settings settings_;
  Linear queries_, keys_, values_, output_;
  Weight relative_;
};

}  // namespace dynet
