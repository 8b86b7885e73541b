#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/layers/transformer/linear.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// A word from its characters by convolutions (Kim, Jernite, Sontag, Rush 2016, "Character-aware
/// neural language models"): for each width w the largest output of each filter over all windows of
/// w characters that follow each other,
///
///     y_w = tanh(max_t (b_w + sum_{k < w} F_wk x_{t+k})),   y = [y_w1; y_w2; ...]
///
/// where x_t is the trained vector of character t, and then highway layers (Srivastava et al. 2015)
///
///     y <- y + g * (max(W y + b, 0) - y),   g = logistic(V y + c)
///
/// There is no padding: a word that is shorter than a filter has one window, whose terms beyond its
/// end are left out, as if zeros stood there. Words of all lengths batch. Programs that want the
/// ends of words to be seen give them characters of their own.
///
/// `new_graph` comes first; without it `apply` throws ArgumentError. After an error the layer is as
/// before.
class CharCnn {
 public:
  /// Arguments of the constructor, to be saved beside the parameters.
  struct Settings {
    unsigned characters = 0;                   ///< how many have a vector
    unsigned character_size = 0;               ///< of their vectors
    std::vector<unsigned> widths = {2, 3, 4};  ///< of filters, in characters
    unsigned filters = 0;                      ///< of each width
    unsigned highways = 0;                     ///< layers behind the convolutions

    /// Size of the result of `apply`.
    unsigned output() const { return filters * static_cast<unsigned>(widths.size()); }

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& characters& character_size& widths& filters& highways;
    }
  };

  /// Throws ArgumentError for a size or a width of zero, and without a width. Matrices begin with
  /// ParameterInitGlorot, biases with 0, c with -2: at first most of y passes.
  CharCnn(ParameterCollection& model, const Settings& settings);
  /// Without parameters, to be assigned to.
  CharCnn() = default;

  /// Puts the parameters into the graph; without `update` they get no gradient.
  void new_graph(ComputationGraph& cg, bool update = true,
                 SourceLocation at = SourceLocation::current());
  /// y {filters * widths} of the word of these characters. Throws ArgumentError for none,
  /// IndexError for one that is not below `characters`.
  Expression apply(const std::vector<unsigned>& word,
                   SourceLocation at = SourceLocation::current()) const;

  /// Dropout of y, with a new mask in each call. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate);
  /// No dropout from now on.
  void disable_dropout() { set_dropout(0); }

  /// The vectors of characters.
  const LookupParameter& table() const { return table_; }
  /// Collection of the parameters: the vectors; F_w0, F_w1, ... {filters,character_size} and b_w
  /// for each width; W, b, V, c for each highway layer.
  ParameterCollection get_parameter_collection() const { return collection_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  struct Filters {
    std::vector<Parameter> matrices;  // by position in the window
    Parameter bias;
  };
  struct Highway {
    Linear change, gate;
  };
  using Nodes = std::vector<Expression>;  // of one width: bias, then matrices
  Expression convolve(const Nodes& filters, const std::vector<unsigned>& word,
                      SourceLocation at) const;

  ParameterCollection collection_;
  Settings settings_;
  LookupParameter table_;
  std::vector<Filters> filters_;  // by width
  std::vector<Highway> highways_;
  std::vector<Nodes> nodes_;  // by width
  bool update_ = true;
  float dropout_ = 0;
};

}  // namespace dynet
