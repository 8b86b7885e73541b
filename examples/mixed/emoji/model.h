#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/mixed/emoji/encoders.h"
#include "examples/mixed/emoji/evaluate.h"
#include "examples/mixed/emoji/inputs.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"

namespace emoji {

/// Number of samples per graph in inference.
inline constexpr std::size_t kSamplesPerGraph = 32;

/// Sizes and dropout rates of a model.
struct ModelSettings {
  Inputs inputs = Inputs::all();
  unsigned filters = 16;    ///< filters of the first convolution
  unsigned word = 100;      ///< size of a word vector
  unsigned hidden = 256;    ///< size of the vector h
  float dropout = 0.5f;     ///< rate, for the mean of the word vectors and for h
  float drop_parts = 0.5f;  ///< probability of dropping an input of a sample

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& inputs& filters& word& hidden& dropout& drop_parts;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights.
struct Description {
  nlp::Split split;  ///< split of the training data, to find the same parts in eval
  std::uint64_t split_seed = 1;
  ModelSettings settings;
  unsigned picture = 0;                ///< size of pictures in points; 0: no pictures in training
  std::vector<std::string> words;      ///< with a vector; the first is the unknown word
  std::vector<Column> columns;         ///< of the table
  std::vector<std::string> groups;     ///< sorted
  std::vector<std::string> subgroups;  ///< sorted
  std::string frequent_group, frequent_subgroup;  ///< most frequent in training

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& split& split_seed& settings& picture& words& columns& groups& subgroups;
    archive& frequent_group& frequent_subgroup;
  }
  void check() const;  ///< see nlp::Checked
};

/// Description `chosen` by the user, completed from the training data of the file `file`.
Description describe(Description chosen, const Corpus& train, const std::string& file);

/// Prediction for an emoji and one set of inputs: probabilities of all groups and subgroups.
struct Prediction {
  std::vector<float> groups, subgroups;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& groups& subgroups;
  }
};

/// Each input that is present becomes a vector: by a convolutional network for the picture, as the
/// mean of word vectors for the text, by two layers for the row. They are normalized and added to a
/// constant vector,
///
///     h = silu(b + sum_i norm_i(W_i part_i + b_i)),   silu(z) = z / (1 + e^-z),
///
/// and scores of groups and subgroups are affine functions of h. Missing inputs add no nodes to the
/// graph.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "emoji";  ///< program name in its files
  static constexpr const char* kUse = "predict";    ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Encoded sample.
  struct Encoded {
    std::vector<float> picture;   ///< empty: missing
    std::vector<unsigned> words;  ///< empty: missing
    std::vector<float> row;       ///< empty: missing
  };
  /// Throws nlp::UserError for a picture that differs in size from the training data.
  Encoded encode(const Sample& sample, const Shift& shift = {}) const;
  /// Message of that error for a sample; empty if there is no error.
  std::string why_unreadable(const Sample& sample) const;
  /// Number of a label of the training data.
  unsigned group_number(const std::string& group) const;
  unsigned subgroup_number(const std::string& subgroup) const;

  /// Warns of subgroups in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; samples declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihoods of the group and subgroup, summed, from the inputs of the sample that
  /// are in `inputs`.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Encoded& sample,
                         const Inputs& inputs, unsigned group, unsigned subgroup);
  /// Predictions by sample, then by choice of inputs; `choices` must not be empty. All share one
  /// graph, which is cleared first; each input is encoded once for all choices.
  std::vector<std::vector<Prediction>> predict(dynet::ComputationGraph& graph,
                                               std::span<const Sample> samples,
                                               std::span<const Inputs> choices);

 private:
  /// Vectors of the inputs.
  using Vectors = std::map<Input, dynet::Expression>;
  struct Scores {
    dynet::Expression groups, subgroups;
  };

  Vectors read(dynet::ComputationGraph& graph, const Encoded& sample, const Inputs& inputs);
  Scores scores(const Vectors& parts, const Inputs& inputs) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  /// Maps the vector of an input to a summand of h.
  struct Gate {
    dynet::Linear linear;
    dynet::LayerNorm norm;
  };

  dynet::Dict words_;
  PictureEncoder pictures_;
  dynet::LookupParameter table_;
  dynet::Linear row_, groups_, subgroups_;
  std::map<Input, Gate> gates_;  ///< for inputs of the training data
  dynet::Parameter always_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression always_node_;
};

/// Scores the model with every subset of `inputs` that it knows, and the trivial classifier.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                const Inputs& inputs = Inputs::all());

}  // namespace emoji
