#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/vectors.h"
#include "examples/nlp/tagger/corpus.h"
#include "examples/nlp/tagger/evaluate.h"
#include "examples/nlp/tagger/features.h"

namespace tagger {

/// Sizes and kind of a model.
struct ModelSettings {
  std::vector<Feature> features;
  unsigned hidden = 100;  ///< per direction of the LSTM
  unsigned layers = 1;
  unsigned mlp = 0;  ///< size of a tanh layer before the scores, 0 for none
  float dropout = 0.4f;
  bool crf = false;  ///< linear-chain CRF instead of independent tags

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& features& hidden& layers& mlp& dropout;
    if (version > 0) archive& crf;
  }
  void check() const;  ///< see nlp::Checked
};

/// Format of the training data, reused for other data.
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

/// Everything of a model except the weights; determines its shape.
struct Description {
  DataSettings data;
  ModelSettings settings;
  /// Values, or characters, with a vector, by feature; the first is the unknown one.
  std::vector<std::vector<std::string>> views;
  std::vector<std::string> tags;
  TagKind kind = TagKind::kPlain;
  Baseline baseline;
  /// Allowed tag transitions of a CRF; empty if all are allowed.
  dynet::TagConstraints allowed;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int version) {
    archive& data& settings& views& tags& kind& baseline;
    if (version > 0) archive& allowed.tags& allowed.follows& allowed.begins& allowed.ends;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects feature values and tags of the training sentences. Affixes and shapes with a single
/// occurrence get no vector of their own, so that unknown values are trained. The first feature
/// that identifies words also gets the words of `vectors`.
Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train,
                     const nlp::WordVectors& vectors = {});

/// Encoded sentence.
struct Encoded {
  std::vector<std::vector<unsigned>> views;  ///< by feature, then by word
  /// By feature, then by word; for features that read characters.
  std::vector<std::vector<std::vector<unsigned>>> characters;
  std::vector<unsigned> tags;  ///< empty, or one per word
  std::size_t words = 0;
  std::size_t size() const { return words; }
};

/// A tag sequence for a sentence.
struct Candidate {
  std::vector<std::string> tags;
  double probability = 0;  ///< of the whole sequence
};

/// The best tag of each word of a sentence.
struct Tagging {
  std::vector<std::string> tags;
  std::vector<float> probabilities;  ///< of the tags, if requested

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& tags& probabilities;
  }
};

/// BiLSTM tagger: concatenated feature vectors of a word, a bidirectional LSTM, and tag scores as
/// an affine function of both states, with an optional tanh layer before it. The scores feed a
/// softmax per word, or are the emissions of a linear-chain CRF.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "tagger";  ///< program name in its files
  static constexpr const char* kUse = "tag";         ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Tags unseen in training get the number of the first tag: for training only.
  Encoded encode(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the sentence's tags, summed over the words. `hide[i]` replaces the
  /// identity of word i by the unknown word; missing elements are false.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Encoded& sentence,
                         const std::vector<bool>& hide);
  /// The best tags of sentences, which are computed together; the graph is cleared first. To limit
  /// memory, a graph has about kPiece words at most, and sentences of more words are tagged in
  /// pieces with kContext words on either side.
  std::vector<Tagging> tag(dynet::ComputationGraph& graph,
                           const std::vector<const std::vector<std::string>*>& sentences,
                           bool probabilities = false);
  static constexpr std::size_t kPiece = 2000, kContext = 100;
  /// The n most probable tag sequences of a sentence, or fewer if there are not as many. Throws
  /// UserError for more than kPiece words.
  std::vector<Candidate> tag_best(dynet::ComputationGraph& graph,
                                  const std::vector<std::string>& words, std::size_t n);

  /// Initializes word vectors, and prints how many words of the training data have one.
  void use(const nlp::WordVectors& vectors, const Corpus& train, std::ostream& out);
  /// Warns of tags in the data that are unknown to the model.
  void report_unknown_tags(const Corpus& corpus, const std::string& name) const;

 private:
  dynet::Expression scores(dynet::ComputationGraph& graph, const Encoded& sentence,
                           const std::vector<bool>& hide);
  struct Piece;
  void tag_pieces(dynet::ComputationGraph& graph, std::vector<Piece>& pieces, bool probabilities);
  Encoded encode_words(std::span<const std::string> words) const;

  std::vector<dynet::Dict> dicts_;  ///< by feature
  dynet::Dict tag_dict_;
  std::vector<dynet::LookupParameter> tables_;   ///< by feature
  std::vector<nlp::CharacterEncoder> encoders_;  ///< by feature; may be empty
  dynet::LSTMBuilder forward_;
  dynet::LSTMBuilder backward_;
  dynet::Parameter mlp_weight_, mlp_bias_, weight_, bias_;
  dynet::ChainCrf crf_;
  // State of the current graph.
  bool training_ = false;
  dynet::Expression mlp_weight_node_, mlp_bias_node_, weight_node_, bias_node_;
};

/// Sentences per graph.
inline constexpr std::size_t kTogether = 32;

inline std::vector<const std::vector<std::string>*> addresses_of(
    const std::vector<std::vector<std::string>>& sentences) {
  std::vector<const std::vector<std::string>*> all;
  for (const std::vector<std::string>& words : sentences) all.push_back(&words);
  return all;
}

/// The best tags of sentences, by all threads of the model; sentences of similar length share a
/// graph. `name` is the title of a progress bar, or empty.
std::vector<Tagging> tag_all(Model& model,
                             const std::vector<const std::vector<std::string>*>& sentences,
                             bool probabilities = false, const std::string& name = "");

/// Scores the model and its baseline on a corpus. `found`, if given, receives the tags and their
/// probabilities.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                std::vector<Tagging>* found = nullptr);

}  // namespace tagger

BOOST_CLASS_VERSION(tagger::ModelSettings, 1)
BOOST_CLASS_VERSION(tagger::Description, 1)
