#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/vision/digits/corpus.h"
#include "examples/vision/digits/evaluate.h"

namespace digits {

/// A model's pictures have at most so many rows, and so many columns.
inline constexpr unsigned kLargestSide = 512;

/// The shape of a model, and how its pictures are varied in training.
struct ModelSettings {
  unsigned channels = 24;  ///< of the first half; twice as many in the second
  float dropout = 0.2f;    ///< before the labels
  unsigned shift = 2;      ///< pixels, up, down, left or right, at most
  bool mirror = false;     ///< left becomes right, half of the time

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& channels& dropout& shift& mirror;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  nlp::Split split;  ///< of the training data, so that eval finds the same parts
  ModelSettings settings;
  unsigned height = 0, width = 0;   ///< of the pictures that it reads
  std::vector<std::string> labels;  ///< in the order of labels_of
  std::string most_frequent;        ///< label in training

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& split& settings& height& width& labels& most_frequent;
  }
  void check() const;  ///< see nlp::Checked
};

/// Description for training data whose pictures are of one size.
Description describe(const nlp::Split& split, const ModelSettings& settings, const Corpus& train);

/// Predicted label of a picture.
struct Prediction {
  unsigned label = 0;                ///< the most probable one
  std::vector<float> probabilities;  ///< of all labels

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& label& probabilities;
  }
};

/// Pixels as a model reads them, column by column: -1 to 1.
using Pixels = std::vector<float>;
Pixels encode(const Picture& picture);
/// The picture moved down and right by so many pixels, or up and left, black where nothing comes
/// from, and mirrored before.
Pixels varied(const Pixels& pixels, unsigned height, unsigned width, int down, int right,
              bool mirrored);

/// Ten convolutions of 3x3 with normalization: one of the pixels, two residual blocks of two, one
/// that halves height and width and doubles the channels, two blocks more. Pictures with 16 rows or
/// columns or more are halved by pooling after the first convolution, until they have fewer. The
/// labels' scores are an affine transform of the mean and of the largest value of each channel.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "digits";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// The number of the label, which training must have had.
  unsigned label_number(const std::string& label) const;
  bool has_label(const std::string& label) const { return labels_.contains(label); }
  /// Warns of labels in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; pictures declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the labels, summed over a batch of pictures of the model's size.
  dynet::Expression loss(dynet::ComputationGraph& graph, std::span<const Pixels> pictures,
                         const std::vector<unsigned>& labels);
  /// Predictions for the pictures, in a graph that is cleared before.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph, std::span<const Pixels> pictures);
  /// The filters of the first convolution {3,3,1,channels}.
  dynet::Parameter first_filters() const { return first_; }

 private:
  /// The scores of the labels, with a batch of the pictures.
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
