#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/mixed/emoji/corpus.h"

// Encoders that turn the parts of a sample into vectors.

namespace emoji {

/// A column of the table: a number, which is brought to mean zero and deviation one, or a word,
/// which becomes a one at its place among those of training.
struct Column {
  std::string name;
  double mean = 0, deviation = 1;   ///< of a number
  std::vector<std::string> values;  ///< sorted; none of a number

  std::size_t width() const { return values.empty() ? 1 : values.size(); }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& name& mean& deviation& values;
  }
  void check() const;  ///< see nlp::Checked
};

/// The columns of these rows. Throws nlp::LineError for a column of both numbers and words.
std::vector<Column> columns_of(const Corpus& corpus, const std::string& file);
/// The row as numbers. A cell that is missing, of another kind or a word that training did not have
/// is zero.
std::vector<float> row_numbers(const Row& row, const std::vector<Column>& columns);

/// How a picture is changed before it is looked at, so that a model learns from more of them.
struct Shift {
  int right = 0, down = 0;  ///< in points; what comes in is empty
  bool mirrored = false;
};
/// The picture as {size, size, channels}, column by column as tensors are, from 0 to 1.
std::vector<float> picture_numbers(const Picture& picture, const Shift& shift = {});

/// A convolutional network: three times windows of 3 x 3, the larger of zero and what they give,
/// the largest of 2 x 2 neighbours, and all of it brought to mean zero and variance one; then the
/// mean of each channel over all places.
class PictureEncoder {
 public:
  static constexpr unsigned kLayers = 3;
  static constexpr unsigned kSmallest = 1u << kLayers;  ///< picture

  PictureEncoder() = default;
  /// For pictures of this size; the first layer has so many filters, each one twice as many as the
  /// one before. Throws nlp::UserError for a picture that is too small.
  PictureEncoder(dynet::ParameterCollection& parameters, unsigned picture, unsigned filters);

  void begin_graph(dynet::ComputationGraph& graph);
  /// {output()} of an image {size, size, channels}.
  dynet::Expression encode(const dynet::Expression& image) const;
  unsigned output() const { return layers_.empty() ? 0 : layers_.back().channels; }

 private:
  struct Layer {
    unsigned channels = 0;
    dynet::Parameter filters, bias;
    dynet::Expression filters_node, bias_node;  ///< of the current graph
  };
  std::vector<Layer> layers_;
};

}  // namespace emoji
