#pragma once

#include <vector>

#include "dynet-like/layers/layer_base.h"

namespace dynet {

/// A linear layer, applied to each column of x:
///
///     y = W x + b
///
/// {input} gives {output}, {input,T} gives {output,T}, with the batch of x.
///
/// Parameters: W {output,input} and b {output}.
class Linear : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned input = 0;   ///< size of x
    unsigned output = 0;  ///< size of y
    bool bias = true;     ///< b

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& input& output& bias;
    }
  };

  /// Throws ArgumentError for a size of zero. Initial values: ParameterInitGlorot for W, 0 for b.
  Linear(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  Linear() = default;

  /// y. Throws ShapeError for another size.
  Expression apply(const Expression& x, SourceLocation at = SourceLocation::current()) const;

  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  Settings settings_;
  Weight matrix_, bias_;
};

/// An embedding table with a row for each of `words` words. The columns of a sentence are the rows
/// of its words,
///
///     x_t = E[w_t],
///
/// and the table also gives output scores (Press and Wolf 2017, "Using the output embedding to
/// improve language models"): the scores of all words for a vector h, before a softmax, are E h.
///
/// `new_graph` must be called first; without it the functions throw ArgumentError. A call that
/// throws leaves the layer unchanged.
class Embedding {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned words = 0;  ///< rows of the table
    unsigned size = 0;   ///< size of a row

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& words& size;
    }
  };

  /// Throws ArgumentError for a size of zero.
  Embedding(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  Embedding() = default;

  /// Adds the table to the graph; without `update` it gets no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// The rows of T words: {size,T}, or {size} for one word. Throws ArgumentError for no words,
  /// IndexError for a word that is not below `words`.
  Expression apply(const std::vector<unsigned>& sentence,
                   SourceLocation at = SourceLocation::current()) const;
  /// The scores of all words: h {size} gives {words}, {size,T} gives {words,T}, with the batch of
  /// h. The table is transposed once per graph.
  Expression logits(const Expression& h, SourceLocation at = SourceLocation::current());

  /// The table.
  const LookupParameter& table() const { return table_; }
  /// Collection of the table.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  ComputationGraph& graph(const char* who, SourceLocation at) const;

  ParameterCollection collection_;
  Settings settings_;
  LookupParameter table_;
  Expression in_graph_, transposed_;  // any node; the table as a matrix, created by `logits`
  bool update_ = true;
};

}  // namespace dynet
