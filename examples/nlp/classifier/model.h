#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/classifier/corpus.h"
#include "examples/nlp/classifier/evaluate.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/names.h"
#include "examples/nlp/common/split.h"

namespace classifier {

/// Network that reads the words of a text.
enum class Encoder { kLstm, kCnn, kBoth };
inline const nlp::Names<Encoder> kEncoders = {
    {Encoder::kLstm, "lstm"}, {Encoder::kCnn, "cnn"}, {Encoder::kBoth, "both"}};

/// The shape of a model.
struct ModelSettings {
  Encoder encoder = Encoder::kBoth;
  unsigned word = 100;    ///< size of a word's vector
  unsigned hidden = 64;   ///< of the LSTM in each direction
  unsigned filters = 64;  ///< of each width
  float dropout = 0.5f;   ///< of words, and of the text's vector
  bool keep_case = false;

  bool has_lstm() const { return encoder != Encoder::kCnn; }
  bool has_cnn() const { return encoder != Encoder::kLstm; }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& encoder& word& hidden& filters& dropout& keep_case;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  nlp::Split split;  ///< of the training data, so that eval finds the same parts
  ModelSettings settings;
  std::vector<std::string> words;   ///< that have a vector; the first one stands for all others
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

/// The word as a model of these settings sees it.
std::string view_of(const std::string& word, const ModelSettings& settings);

/// Predicted label of a text.
struct Prediction {
  unsigned label = 0;                ///< the most probable one
  std::vector<float> probabilities;  ///< of all labels

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& label& probabilities;
  }
};

/// A vector for every word; over them an LSTM from each side, or convolutions (Kim, EMNLP 2014)
/// over windows of two, three and four words, or both. The text's vector is the largest value of
/// each output over all places, and the labels' scores are an affine transform of it.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "classifier";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// The numbers of the words.
  std::vector<unsigned> encode(const std::vector<std::string>& words) const;
  /// The number of the label, which training must have had.
  unsigned label_number(const std::string& label) const;

  /// Warns of labels in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; texts declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the label; `words` are the encoded ones, of which some may be
  /// replaced by 0, the unknown word. There must be one.
  dynet::Expression loss(dynet::ComputationGraph& graph, const std::vector<unsigned>& words,
                         unsigned label);
  /// Predictions for these texts, none of which may be empty; the texts share a graph, which is
  /// cleared before.
  std::vector<Prediction> predict(dynet::ComputationGraph& graph,
                                  std::span<const std::vector<std::string>> texts);

 private:
  /// Filters of one width.
  struct Convolution {
    dynet::Parameter filters, bias;
    dynet::Expression filters_node, bias_node;  ///< of the current graph
  };

  /// The scores of the labels.
  dynet::Expression scores(dynet::ComputationGraph& graph, const std::vector<unsigned>& words);
  dynet::Expression read_by_lstm(const dynet::Expression& vectors);
  dynet::Expression read_by_cnn(const dynet::Expression& vectors) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  dynet::Dict words_, labels_;
  dynet::LookupParameter table_;
  std::vector<dynet::BiRNNBuilder<dynet::VanillaLSTMBuilder>> lstm_;  ///< one or none
  std::vector<Convolution> convolutions_;
  dynet::Parameter weight_, bias_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression weight_node_, bias_node_;
};

/// Scores the model and the trivial classifier.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace classifier
