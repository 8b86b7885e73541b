#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/vectors.h"
#include "examples/nlp/tagger/corpus.h"
#include "examples/nlp/tagger/evaluate.h"
#include "examples/nlp/tagger/features.h"

namespace tagger {

/// The sizes of a model.
struct ModelSettings {
  std::vector<Feature> features;
  unsigned hidden = 100;  ///< of each direction
  unsigned layers = 1;
  unsigned mlp = 0;  ///< size of a tanh layer before the tags, 0 for none
  float dropout = 0.4f;
  bool crf = false;  ///< scores sequences of tags, not each tag alone

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& features& hidden& layers& mlp& dropout;
    if (version > 0) archive& crf;
  }
  void check() const;  ///< see nlp::Checked
};

/// How the training data were read, so that eval and tag read theirs alike.
struct DataSettings {
  Format format = Format::kAuto;
  std::string column;
  nlp::Split split;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& format& column& split;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  DataSettings data;
  ModelSettings settings;
  /// For each feature the views, or the characters, that have a vector; the first one stands for
  /// all others.
  std::vector<std::vector<std::string>> views;
  std::vector<std::string> tags;
  TagKind kind = TagKind::kPlain;
  Baseline baseline;
  /// Tags that may follow one another in a CRF; empty if all may.
  dynet::TagConstraints allowed;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& data& settings& views& tags& kind& baseline;
    if (version > 0) archive& allowed.tags& allowed.follows& allowed.begins& allowed.ends;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects views and tags from the training sentences. Affixes and shapes seen only once get no
/// vector of their own: they would never be trained to stand for unknown ones.
/// The first feature that identifies words has the words of `vectors` too.
Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train,
                     const nlp::WordVectors& vectors = {});

/// A sentence as numbers.
struct Encoded {
  std::vector<std::vector<unsigned>> views;  ///< by feature, then by word
  /// By feature, then by word; of a feature that reads them.
  std::vector<std::vector<std::vector<unsigned>>> characters;
  std::vector<unsigned> tags;  ///< empty, or one per word
  std::size_t words = 0;
  std::size_t size() const { return words; }
};

/// Tags that a sentence may have.
struct Candidate {
  std::vector<std::string> tags;
  double probability = 0;  ///< of all of them together
};

/// The BiLSTM tagger: the vectors of a word's views, concatenated; one LSTM from each side; the tag
/// scores are an affine transform (with an optional tanh layer before it) of both states. Each
/// word's are those of a softmax, or those of all words the emissions of a linear-chain CRF.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "tagger";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// Tags that training did not have become the number of the first tag: only for training.
  Encoded encode(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the sentence's tags, summed over the words. `hide[i]` replaces
  /// the identity of word i by the unknown word's; shorter lists hide nothing.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Encoded& sentence,
                         const std::vector<bool>& hide);
  /// The best tag for each word; the graph is cleared before. Of more than kPiece words pieces are
  /// tagged, with kContext words on either side, so that no sentence is too long for memory.
  /// `probabilities`, if not null, gets those of the tags.
  std::vector<std::string> tag(dynet::ComputationGraph& graph,
                               const std::vector<std::string>& words,
                               std::vector<float>* probabilities = nullptr);
  static constexpr std::size_t kPiece = 2000, kContext = 100;
  /// The n most probable sequences of tags of a sentence, as far as there are so many. Throws
  /// UserError for more than kPiece words.
  std::vector<Candidate> tag_best(dynet::ComputationGraph& graph,
                                  const std::vector<std::string>& words, std::size_t n);

  /// Begins with these vectors, and says how many words of the training data have one.
  void use(const nlp::WordVectors& vectors, const Corpus& train, std::ostream& out);
  /// Warns of tags in the data that the model never gives.
  void report_unknown_tags(const Corpus& corpus, const std::string& name) const;

 private:
  dynet::Expression scores(dynet::ComputationGraph& graph, const Encoded& sentence,
                           const std::vector<bool>& hide);
  std::vector<std::string> tag_piece(dynet::ComputationGraph& graph,
                                     const std::vector<std::string>& words,
                                     std::vector<float>* probabilities);
  Encoded encode_words(const std::vector<std::string>& words) const;

  std::vector<dynet::Dict> dicts_;  ///< by feature
  dynet::Dict tag_dict_;
  std::vector<dynet::LookupParameter> tables_;   ///< by feature
  std::vector<nlp::CharacterEncoder> encoders_;  ///< by feature; empty ones of the others
  dynet::LSTMBuilder forward_;
  dynet::LSTMBuilder backward_;
  dynet::Parameter mlp_weight_, mlp_bias_, weight_, bias_;
  dynet::ChainCrf crf_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression mlp_weight_node_, mlp_bias_node_, weight_node_, bias_node_;
};

/// Scores the model and its baseline on a corpus.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace tagger

BOOST_CLASS_VERSION(tagger::ModelSettings, 1)
BOOST_CLASS_VERSION(tagger::Description, 1)
