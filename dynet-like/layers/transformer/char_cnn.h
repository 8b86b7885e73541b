#pragma once

#include <vector>

#include "dynet-like/graph/computation_graph.h"
#include "dynet-like/layers/transformer/linear.h"
#include "dynet-like/param/parameters.h"

namespace dynet {

/// A word vector from characters by convolutions (Kim, Jernite, Sontag, Rush 2016, "Character-aware
/// neural language models"): for each width w the maximum of each filter over all windows of w
/// consecutive characters,
///
///     y_w = tanh(max_t (b_w + sum_{k < w} F_wk x_{t+k})),   y = [y_w1; y_w2; ...]
///
/// where x_t is the trained vector of character t, followed by highway layers (Srivastava et al.
/// 2015)
///
///     y <- y + g * (max(W y + b, 0) - y),   g = logistic(V y + c)
///
/// There is no padding: a word shorter than a filter has one window, in which the terms after its
/// end are zero. Words of all lengths run in one batch. To mark the ends of words, add special
/// characters.
///
/// Parameters: character vectors; F_w0, F_w1, ... {filters,character_size} and b_w
/// for each width; W, b, V, c for each highway layer.
class CharCnn : public LayerBase {
 public:
  /// Arguments of the constructor, to be saved with the parameters.
  struct Settings {
    unsigned characters = 0;                   ///< number of characters
    unsigned character_size = 0;               ///< size of their vectors
    std::vector<unsigned> widths = {2, 3, 4};  ///< widths of filters, in characters
    unsigned filters = 0;                      ///< filters per width
    unsigned highways = 0;                     ///< highway layers after the convolutions

    /// Size of the result of `apply`.
    unsigned output() const { return filters * static_cast<unsigned>(widths.size()); }

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& characters& character_size& widths& filters& highways;
    }
  };

  /// Throws ArgumentError for a size or a width of zero, and for no widths. Matrices are
  /// initialized with ParameterInitGlorot, biases with 0, c with -2: the initial gates pass most of
  /// y.
  CharCnn(ParameterCollection& model, const Settings& settings);
  /// An empty layer, to be assigned to.
  CharCnn() = default;

  /// y {filters * widths} of a word with these characters. Throws ArgumentError for no characters,
  /// IndexError for a character that is not below `characters`.
  Expression apply(const std::vector<unsigned>& word,
                   SourceLocation at = SourceLocation::current()) const;

  /// Dropout of y, with a new mask for each call. Throws ArgumentError unless 0 <= rate < 1.
  void set_dropout(float rate);
  /// Turns dropout off.
  void disable_dropout() { set_dropout(0); }

  /// The character vectors.
  const LookupParameter& table() const { return table_; }
  /// Arguments of the constructor.
  const Settings& settings() const { return settings_; }

 private:
  void list_parts(Parts& parts) override;
  struct Filters {
    std::vector<Weight> matrices;  // by position in the window
    Weight bias;
  };
  struct Highway {
    Linear change, gate;
  };
  Expression convolve(const Filters& filters, const std::vector<unsigned>& word,
                      SourceLocation at) const;

  Settings settings_;
  LookupParameter table_;
  std::vector<Filters> filters_;  // by width
  std::vector<Highway> highways_;
  float dropout_ = 0;
};

}  // namespace dynet
