#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/io/dict.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/translate/corpus.h"
#include "examples/nlp/translate/evaluate.h"
#include "examples/nlp/translate/network.h"
#include "examples/nlp/translate/tokens.h"

namespace translate {

/// Tokenization of texts.
struct TokenSettings {
  Unit source = Unit::kWord, target = Unit::kWord;
  unsigned pieces = 4000;  ///< learned merges per language
  unsigned min_count = 2;  ///< tokens with fewer occurrences in training are unknown

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& source& target& pieces& min_count;
  }
  void check() const;  ///< see nlp::Checked
};

/// Everything of a model except the weights; determines its shape.
struct Description {
  Format format = Format::kTab;  ///< format of the training data
  nlp::Split split;              ///< split of the training data, to find the same parts in eval
  TokenSettings tokens;
  NetworkSettings network;
  std::vector<std::string> source, target;  ///< tokens with a vector, starting with unknown and end
  Pieces source_pieces, target_pieces;
  std::vector<std::size_t>
      longest;  ///< maximum length of translations, by the maximum length of the text

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& format& split& tokens& network& source& target& source_pieces& target_pieces& longest;
  }
  void check() const;  ///< see nlp::Checked
};

/// Upper limits of the length of translations, in tokens: in total, and per token of the text
/// including its end, whatever the file says.
inline constexpr std::size_t kLongest = 10000, kMostForEach = 100;

/// Adds everything that depends on the training data to the user's choices.
Description describe(Description chosen, const Corpus& train);

/// Translation of a text.
struct Answer {
  std::string text;
  double score = 0;                 ///< log-probability over length^alpha, in nats
  std::vector<std::string> tokens;  ///< tokens of the translation
  /// Attention weights of each token, and of the end, on the source tokens; empty for a
  /// transformer.
  std::vector<std::vector<float>> attention;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& text& score& tokens& attention;
  }
};

/// Translation model: an encoder and a decoder.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "translate";  ///< program name in its files
  static constexpr const char* kUse = "translate";      ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  /// Tokens of a source text.
  std::vector<std::string> source_tokens(const std::string& text) const;
  /// Numbers of the tokens of a source text.
  Source encode_source(const std::string& text) const;
  /// Numbers of the tokens of a translation; tokens that can only be copied have numbers beyond the
  /// vocabulary.
  Ids encode_target(const std::string& text, const Source& source) const;

  /// Length at which a search abandons translations, for a text of `source` tokens: the larger of
  /// twice the longest one in training and the text length plus 5, limited by kLongest and
  /// kMostForEach.
  std::size_t most_tokens(std::size_t source) const;

  /// Declares the parameters in an empty graph; texts declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the translation, with label smoothing (Szegedy et al., CVPR 2016)
  /// unless tokens may be copied. The network reads `read`, one input per token and for the end.
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing, const Ids& read);
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing) {
    return loss(source, target, smoothing, beginnings(target));
  }
  /// Scores {V,T+1} of the vocabulary after each prefix of a translation.
  dynet::Expression scores(const Source& source, const Ids& target);
  /// The best translations of each text; all share one graph, which is cleared first.
  std::vector<std::vector<Answer>> translate(dynet::ComputationGraph& graph,
                                             std::span<const std::string> texts,
                                             const SearchSettings& how);

 private:
  template <class Network>
  std::vector<std::vector<Answer>> search(Network& network, std::span<const std::string> texts,
                                          const SearchSettings& how);

  dynet::Dict source_, target_;
  std::vector<LstmNetwork> lstm_;                ///< zero or one
  std::vector<TransformerNetwork> transformer_;  ///< zero or one
};

/// Scores the model on all pairs.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                const SearchSettings& how);
/// Scores the model with a beam of one, for the dev score of each epoch.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace translate
