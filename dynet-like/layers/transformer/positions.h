#pragma once

#include "dynet-like/layers/transformer/linear.h"

namespace dynet {

/// Sinusoidal encodings of positions `first`, `first` + 1, ... (Vaswani et al. 2017): constants
/// {size,count}, or {size} for one position, to be added to vectors. In the column of position p,
/// rows 2i and 2i + 1 are
///
///     sin(p / 10000^(2i / size)),  cos(p / 10000^(2i / size))
///
/// Throws ArgumentError if size or count is zero.
Expression sinusoidal_positions(ComputationGraph& cg, unsigned size, unsigned count,
                                unsigned first = 0, SourceLocation at = SourceLocation::current());

/// Rotary position encoding (Su et al. 2021, "RoFormer"): column t of x {d*heads,T} has the
/// position p = `first` + t. In every head of a column the elements i and i + d/2 are a pair (x,
/// y), which becomes
///
///     (x cos a - y sin a, y cos a + x sin a),   a = p / base^(2i / d)
///
/// Pairs are taken from the two halves of a head, as in GPT-NeoX and Llama's converted weights, not
/// from neighbours as in the paper. The product of a rotated query and a rotated key depends only
/// on the distance of their positions. The result has the shape and the batch of x.
///
/// Throws ArgumentError unless heads is above zero, and base is above one and finite; ShapeError
/// unless the rows of x are heads of an even size.
Expression rotary_positions(const Expression& x, unsigned heads, int first = 0,
                            float base = 10000.0f, SourceLocation at = SourceLocation::current());

/// A trained vector for each of a fixed number of positions, to be added to the vectors there.
///
/// `new_graph` must be called first; without it `apply` throws ArgumentError. A call that throws
/// leaves the layer unchanged.
class LearnedPositions {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned positions = 0;  ///< number of positions
    unsigned size = 0;       ///< of a vector

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& positions& size;
    }
  };

  /// Throws ArgumentError for a size of zero.
  LearnedPositions(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  LearnedPositions() = default;

  /// Adds the table to the graph; without `update` it gets no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// The vectors of positions `first`, `first` + 1, ...: {size,count}, or {size} for one position.
  /// Throws ArgumentError for a count of zero, and for positions beyond the table.
  Expression apply(unsigned count, unsigned first = 0,
                   SourceLocation at = SourceLocation::current()) const;

  /// Collection of the table.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ParameterCollection collection_;
  Settings settings_;
  Embedding table_;
};

}  // namespace dynet
