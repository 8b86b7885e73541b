#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/mixed/emoji/encoders.h"
#include "examples/mixed/emoji/evaluate.h"
#include "examples/mixed/emoji/inputs.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"

namespace emoji {

/// So many are computed together where a model is only used.
inline constexpr std::size_t kSamplesPerGraph = 32;

/// The shape of a model, and what is dropped while it learns.
struct ModelSettings {
  Inputs inputs = Inputs::all();
  unsigned filters = 16;    ///< of the first convolution
  unsigned word = 100;      ///< size of a word's vector
  unsigned hidden = 256;    ///< size of the vector that the parts add up to
  float dropout = 0.5f;     ///< of the words' mean and of that vector
  float drop_parts = 0.5f;  ///< how likely a part of a sample is not looked at

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& inputs& filters& word& hidden& dropout& drop_parts;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights.
struct Description {
  nlp::Split split;  ///< of the training data, so that eval finds the same parts
  std::uint64_t split_seed = 1;
  ModelSettings settings;
  unsigned picture = 0;                ///< lines of a picture; 0: training had none
  std::vector<std::string> words;      ///< that have a vector; the first one stands for all others
  std::vector<Column> columns;         ///< of the table
  std::vector<std::string> groups;     ///< sorted
  std::vector<std::string> subgroups;  ///< sorted
  std::string frequent_group, frequent_subgroup;  ///< most of training

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& split& split_seed& settings& picture& words& columns& groups& subgroups;
    archive& frequent_group& frequent_subgroup;
  }
  void check() const;  ///< see nlp::Checked
};

/// Description `chosen` by the user, completed from the training data of the file `file`.
Description describe(Description chosen, const Corpus& train, const std::string& file);

/// Prediction for an emoji from one choice of inputs: probabilities of all groups, and of all
/// subgroups.
struct Prediction {
  std::vector<float> groups, subgroups;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& groups& subgroups;
  }
};

/// A vector for each part that a sample has: a convolutional network reads the picture, the mean
/// of the words' vectors stands for the text, two layers read the row. They are brought to the same
/// scale and added to a vector that is always there,
///
///     h = silu(b + sum_i norm_i(W_i part_i + b_i)),   silu(z) = z / (1 + e^-z),
///
/// and the scores of groups and of subgroups are affine transforms of h. A part that is missing is
/// in no node of the graph.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "emoji";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// A sample as the model sees it.
  struct Encoded {
    std::vector<float> picture;   ///< empty: none
    std::vector<unsigned> words;  ///< empty: none
    std::vector<float> row;       ///< empty: none
  };
  /// Throws nlp::UserError for a picture of another size than those of training.
  Encoded encode(const Sample& sample, const Shift& shift = {}) const;
  /// The text of that error for the sample; empty if there is none.
  std::string why_unreadable(const Sample& sample) const;
  /// Their numbers, which training must have had.
  unsigned group_number(const std::string& group) const;
  unsigned subgroup_number(const std::string& subgroup) const;

  /// Warns of subgroups in the data that the model does not know.
  void report_unknown_labels(const Corpus& corpus, const std::string& name) const;

  /// Declares the parameters in an empty graph; samples declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihoods of the group and of the subgroup, of what the sample has of these
  /// inputs.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Encoded& sample,
                         const Inputs& inputs, unsigned group, unsigned subgroup);
  /// By sample, then by choice of inputs, of which there is one or more. They share a graph, which
  /// is cleared before; a part is read once for all choices.
  std::vector<std::vector<Prediction>> predict(dynet::ComputationGraph& graph,
                                               std::span<const Sample> samples,
                                               std::span<const Inputs> choices);

 private:
  /// The vectors of the parts, by input.
  using Vectors = std::map<Input, dynet::Expression>;
  struct Scores {
    dynet::Expression groups, subgroups;
  };

  Vectors read(dynet::ComputationGraph& graph, const Encoded& sample, const Inputs& inputs);
  Scores scores(const Vectors& parts, const Inputs& inputs) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  /// From a part's own vector to one that is added to the others.
  struct Gate {
    dynet::Linear linear;
    dynet::LayerNorm norm;
  };

  dynet::Dict words_;
  PictureEncoder pictures_;
  dynet::LookupParameter table_;
  dynet::Linear row_, groups_, subgroups_;
  std::map<Input, Gate> gates_;  ///< of the inputs that training had
  dynet::Parameter always_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression always_node_;
};

/// Scores the model with every choice of `inputs`, as far as it knows them, and the trivial
/// classifier.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                const Inputs& inputs = Inputs::all());

}  // namespace emoji
