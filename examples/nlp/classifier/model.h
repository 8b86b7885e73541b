#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/classifier/corpus.h"
#include "examples/nlp/classifier/evaluate.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/split.h"

namespace classifier {

/// Encoder of a text.
enum class Encoder { kLstm, kCnn, kBoth };
inline const nlp::Names<Encoder> kEncoders = {
    {Encoder::kLstm, "lstm"}, {Encoder::kCnn, "cnn"}, {Encoder::kBoth, "both"}};

/// Sizes and dropout rate of a model.
struct ModelSettings {
  Encoder encoder = Encoder::kBoth;
  unsigned word = 100;    ///< size of a word vector
  unsigned hidden = 64;   ///< per direction of the LSTM
  unsigned filters = 64;  ///< filters of each width
  float dropout = 0.5f;   ///< of words, and of the text vector
  bool keep_case = false;

  bool has_lstm() const { return encoder != Encoder::kCnn; }
  bool has_cnn() const { return encoder != Encoder::kLstm; }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& encoder& word& hidden& filters& dropout& keep_case;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  nlp::Split split;  ///< of the training data, to find the same parts in eval
  ModelSettings settings;
  std::vector<std::string> words;   ///< with a vector; the first is the unknown word
  std::vector<std::string> labels;  ///< sorted
  std::string most_frequent;        ///< label in training

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& split& settings& words& labels& most_frequent;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects words and labels of the training data.
Description describe(const nlp::Split& split, const ModelSettings& settings, const Corpus& train);

/// Normalized word for a model with these settings.
std::string view_of(const std::string& word, const ModelSettings& settings);

/// Predicted label of a text.
struct Prediction {
  unsigned label = 0;                ///< the most probable label
  std::vector<float> probabilities;  ///< by label

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& label& probabilities;
  }
};

/// Word vectors; over them a bidirectional LSTM, or convolutions over windows of two, three and
/// four words (Kim, EMNLP 2014), or both. The text vector is the maximum of each output over all
/// positions, and the scores of labels are an affine function of it.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "classifier";  ///< program name in its files
  static constexpr const char* kUse = "classify";        ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Numbers of the words.
  std::vector<unsigned> encode(const std::vector<std::string>& words) const;
  /// Number of a label of the training data.
  unsigned label_number(const std::string& label) const;

  /// Warns of labels in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; texts declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the label; `words` are encoded, not empty, and may contain 0, the
  /// unknown word, in place of hidden words.
  dynet::Expression loss(dynet::ComputationGraph& graph, const std::vector<unsigned>& words,
                         unsigned label);
  /// Predictions for these texts, which must not be empty; all share one graph, which is cleared
  /// first.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph,
                                  std::span<const std::vector<std::string>> texts);

 private:
  /// Filters of one width.
  struct Convolution {
    dynet::Parameter filters, bias;
    dynet::Expression filters_node, bias_node;  ///< nodes of the current graph
  };

  /// Scores of the labels.
  dynet::Expression scores(dynet::ComputationGraph& graph, const std::vector<unsigned>& words);
  dynet::Expression read_by_lstm(const dynet::Expression& vectors);
  dynet::Expression read_by_cnn(const dynet::Expression& vectors) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  dynet::Dict words_, labels_;
  dynet::LookupParameter table_;
  std::vector<dynet::BiRNNBuilder<dynet::VanillaLSTMBuilder>> lstm_;  ///< zero or one
  std::vector<Convolution> convolutions_;
  dynet::Parameter weight_, bias_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression weight_node_, bias_node_;
};

/// Scores the model and the trivial classifier.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace classifier
