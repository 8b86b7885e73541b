#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/mixed/emoji/corpus.h"

// Encoders of the inputs of a sample as vectors.

namespace emoji {

/// Column of the table: a number, normalized to mean zero and deviation one, or a category, one-hot
/// encoded over the values of the training data.
struct Column {
  std::string name;
  double mean = 0, deviation = 1;   ///< of numbers
  std::vector<std::string> values;  ///< sorted; empty for numbers

  std::size_t width() const { return values.empty() ? 1 : values.size(); }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& name& mean& deviation& values;
  }
  void check() const;  ///< see nlp::Checked
};

/// Columns of these rows. Throws nlp::LineError for a column with both numbers and words.
std::vector<Column> columns_of(const Corpus& corpus, const std::string& file);
/// Encodes a row as numbers. A missing cell, a cell of another kind and an unseen category are
/// zero.
std::vector<float> row_numbers(const Row& row, const std::vector<Column>& columns);

/// Data augmentation of a picture.
struct Shift {
  int right = 0, down = 0;  ///< in points; uncovered points are empty
  bool mirrored = false;
};
/// The picture as {size, size, channels}, column-major, with values from 0 to 1.
std::vector<float> picture_numbers(const Picture& picture, const Shift& shift = {});

/// Convolutional network: three layers of 3 x 3 filters, ReLU, 2 x 2 max pooling and normalization
/// to mean zero and variance one; then the mean of each channel over all positions.
class PictureEncoder {
 public:
  static constexpr unsigned kLayers = 3;
  static constexpr unsigned kSmallest = 1u << kLayers;  ///< smallest picture

  PictureEncoder() = default;
  /// For pictures of this size; the first layer has `filters` filters, each further layer twice as
  /// many. Throws nlp::UserError for a picture that is too small.
  PictureEncoder(dynet::ParameterCollection& parameters, unsigned picture, unsigned filters);

  void begin_graph(dynet::ComputationGraph& graph);
  /// Vector {output()} of an image {size, size, channels}.
  dynet::Expression encode(const dynet::Expression& image) const;
  unsigned output() const { return layers_.empty() ? 0 : layers_.back().channels; }

 private:
  struct Layer {
    unsigned channels = 0;
    dynet::Parameter filters, bias;
    dynet::Expression filters_node, bias_node;  ///< nodes of the current graph
  };
  std::vector<Layer> layers_;
};

}  // namespace emoji
