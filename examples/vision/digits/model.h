#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/vision/digits/corpus.h"
#include "examples/vision/digits/evaluate.h"

namespace digits {

/// Maximum number of rows and of columns of a model's pictures.
inline constexpr unsigned kLargestSide = 512;

/// Sizes of a model, and data augmentation.
struct ModelSettings {
  unsigned channels = 24;  ///< in the first half; twice as many in the second half
  float dropout = 0.2f;    ///< before the output layer
  unsigned shift = 2;      ///< maximum shift in pixels, vertically and horizontally
  bool mirror = false;     ///< true: mirrors half of the pictures

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& channels& dropout& shift& mirror;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  nlp::Split split;  ///< of the training data, to find the same parts in eval
  ModelSettings settings;
  unsigned height = 0, width = 0;   ///< size of the pictures
  std::vector<std::string> labels;  ///< in the order of labels_of
  std::string most_frequent;        ///< label in training

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& split& settings& height& width& labels& most_frequent;
  }
  void check() const;  ///< see nlp::Checked
};

/// Description for training data of one picture size.
Description describe(const nlp::Split& split, const ModelSettings& settings, const Corpus& train);

/// Predicted label of a picture.
struct Prediction {
  unsigned label = 0;                ///< the most probable label
  std::vector<float> probabilities;  ///< by label

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& label& probabilities;
  }
};

/// Pixels as model input, column-major, from -1 to 1.
using Pixels = std::vector<float>;
Pixels encode(const Picture& picture);
/// The picture, optionally mirrored, then shifted down and right, or up and left by negative
/// numbers; uncovered pixels are black.
Pixels varied(const Pixels& pixels, unsigned height, unsigned width, int down, int right,
              bool mirrored);

/// Ten 3x3 convolutions with normalization: one on the pixels, two residual blocks of two, one that
/// halves height and width and doubles the channels, two more blocks. Max pooling after the first
/// convolution repeatedly halves pictures to below 16 rows and columns. The scores of labels are an
/// affine function of the mean and the maximum of each channel.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "digits";  ///< program name in its files
  static constexpr const char* kUse = "classify";    ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Number of a label of the training data.
  unsigned label_number(const std::string& label) const;
  bool has_label(const std::string& label) const { return labels_.contains(label); }
  /// Warns of labels in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; pictures declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the labels, summed over a batch of pictures of the model's size.
  dynet::Expression loss(dynet::ComputationGraph& graph, std::span<const Pixels> pictures,
                         const std::vector<unsigned>& labels);
  /// Predictions for the pictures, in one graph, which is cleared first.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph, std::span<const Pixels> pictures);
  /// The filters of the first convolution {3,3,1,channels}.
  dynet::Parameter first_filters() const { return first_; }

 private:
  /// Scores of the labels, batched over the pictures.
  dynet::Expression scores(dynet::ComputationGraph& graph, std::span<const Pixels> pictures);

  dynet::Dict labels_;
  dynet::Parameter first_, wider_;
  dynet::ImageNorm first_norm_, wider_norm_;
  std::vector<dynet::ResidualConvolution> blocks_;
  dynet::Linear output_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression first_node_, wider_node_;
};

/// Scores the model and the trivial classifier; pictures are of the model's size.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace digits
