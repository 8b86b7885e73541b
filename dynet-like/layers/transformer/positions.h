#pragma once

#include "dynet-like/layers/transformer/linear.h"

namespace dynet {

/// Encodings of positions `first`, `first` + 1, ... by sines and cosines (Vaswani et al. 2017):
/// constants {size,count}, for one position {size}, to be added to vectors. The column of position
/// p has in rows 2i and 2i + 1
///
///     sin(p / 10000^(2i / size)),  cos(p / 10000^(2i / size))
///
/// Throws ArgumentError for a size or a number of positions of zero.
Expression sinusoidal_positions(ComputationGraph& cg, unsigned size, unsigned count,
                                unsigned first = 0, SourceLocation at = SourceLocation::current());

/// x turned by positions (Su et al. 2021, "RoFormer"): the columns of x {d*heads,T} stand at
/// `first`, `first` + 1, ..., and of every head of a column at p the numbers i and i + d/2 are a
/// pair (x, y), which becomes
///
///     (x cos a - y sin a, y cos a + x sin a),   a = p / base^(2i / d)
///
/// Halves make pairs as in GPT-NeoX and Llama's converted weights, not neighbours as in the paper.
/// The product of a query and a key that were turned depends on the distance of their positions,
/// not on where they are. The result has the shape and the batch of x.
///
/// Throws ArgumentError unless there are heads and base is above one and finite; ShapeError unless
/// the rows of x are heads of an even size.
Expression rotary_positions(const Expression& x, unsigned heads, int first = 0,
                            float base = 10000.0f, SourceLocation at = SourceLocation::current());

/// A trained vector for each of a limited number of positions, to be added to what stands there.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class LearnedPositions {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned positions = 0;  ///< how many there are
    unsigned size = 0;       ///< of a vector

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& positions& size;
    }
  };

  /// Throws ArgumentError for a size of zero.
  LearnedPositions(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  LearnedPositions() = default;

  /// Puts the table into the graph; without `update` it gets no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// The vectors of positions `first`, `first` + 1, ...: {size,count}, for one {size}. Throws
  /// ArgumentError for none, and for more than there are.
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
