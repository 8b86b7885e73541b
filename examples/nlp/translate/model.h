#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "examples/nlp/common/model.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/translate/corpus.h"
#include "examples/nlp/translate/evaluate.h"
#include "examples/nlp/translate/network.h"
#include "examples/nlp/translate/tokens.h"

namespace translate {

/// How texts become tokens.
struct TokenSettings {
  Unit source = Unit::kWord, target = Unit::kWord;
  unsigned pieces = 4000;  ///< merges that are learned for each language
  unsigned min_count = 2;  ///< tokens that training has less often are unknown

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& source& target& pieces& min_count;
  }
  void check() const;  ///< see nlp::Checked
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  Format format = Format::kTab;  ///< of the training data
  nlp::Split split;              ///< of it, so that eval finds the same parts
  TokenSettings tokens;
  NetworkSettings network;
  std::vector<std::string> source, target;  ///< that have a vector; unknown and end come first
  Pieces source_pieces, target_pieces;
  std::vector<std::size_t>
      longest;  ///< by tokens of a text: most of translations of such and shorter

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& format& split& tokens& network& source& target& source_pieces& target_pieces& longest;
  }
  void check() const;  ///< see nlp::Checked
};

/// No translation is longer, in tokens; nor longer than so many for each token of the text and its
/// end, whatever a file says of those in training.
inline constexpr std::size_t kLongest = 10000, kMostForEach = 100;

/// Fills in what the training data decide.
Description describe(Description chosen, const Corpus& train);

/// Translation of a text.
struct Answer {
  std::string text;
  double score = 0;                 ///< log-probability by length, in nats
  std::vector<std::string> tokens;  ///< of the text
  /// Attention of each token, and of the end, to the source tokens; empty for a transformer.
  std::vector<std::vector<float>> attention;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& text& score& tokens& attention;
  }
};

/// Reads a text and writes what it means in another language.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "translate";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  /// The tokens of a text that is to be translated.
  std::vector<std::string> source_tokens(const std::string& text) const;
  /// Their numbers.
  Source encode_source(const std::string& text) const;
  /// The numbers of the tokens of a translation; those that can only be copied have numbers behind
  /// the vocabulary.
  Ids encode_target(const std::string& text, const Source& source) const;

  /// A search gives up translations that are longer, for a text of so many tokens: twice as long as
  /// the longest in training, and as 5 tokens more than the text; or as kLongest and kMostForEach
  /// allow.
  std::size_t most_tokens(std::size_t source) const;

  /// Declares the parameters in an empty graph; texts declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the translation, of which `smoothing` goes to all tokens alike
  /// (Szegedy et al., CVPR 2016) unless tokens may be copied.
  /// `read` is what the network reads instead of the translation's beginnings.
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing, const Ids& read);
  dynet::Expression loss(const Source& source, const Ids& target, float smoothing) {
    return loss(source, target, smoothing, beginnings(target));
  }
  /// Scores {V,T+1} of the vocabulary's tokens after each beginning of a translation.
  dynet::Expression scores(const Source& source, const Ids& target);
  /// The best translations of each text; they share a graph, which is cleared before.
  std::vector<std::vector<Answer>> translate(dynet::ComputationGraph& graph,
                                             std::span<const std::string> texts,
                                             const SearchSettings& how);

 private:
  template <class Network>
  std::vector<std::vector<Answer>> search(Network& network, std::span<const std::string> texts,
                                          const SearchSettings& how);

  dynet::Dict source_, target_;
  std::vector<LstmNetwork> lstm_;                ///< one or none
  std::vector<TransformerNetwork> transformer_;  ///< likewise
};

/// Scores the model on all pairs.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                const SearchSettings& how);
/// The same with a beam of one: what training asks for after each epoch.
Report evaluate(Model& model, const Corpus& corpus, const std::string& name);

}  // namespace translate
