#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/dynet.h"
#include "examples/nlp/annotate/text.h"

namespace annotate {

/// Sizes of a segmenter, and all that it knows besides its weights.
struct SegmenterDescription {
  unsigned letter = 24;  ///< size of a letter's vector
  unsigned hidden = 64;  ///< per direction of the LSTM
  float dropout = 0.2f;
  /// Letters with a vector, as UTF-8; each was seen at least twice. Others share one by their kind.
  std::vector<std::string> letters;
  /// Rules that split tokens into words, see split_script; each was seen at least twice.
  std::vector<std::string> scripts;
  /// Tokens with a vector, each seen at least twice; none without scripts.
  std::vector<std::string> tokens;
  bool spaces_within = false;  ///< true: a token may contain white space

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& letter& hidden& dropout& letters& scripts& tokens& spaces_within;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects letters and scripts; the sizes are those of `sizes`.
SegmenterDescription describe(SegmenterDescription sizes, const std::vector<Paragraph>& train);

/// Units that are found in a text. What is larger is given: with kTokens each paragraph is a
/// sentence, with kWords it has its sentences and tokens.
enum class Find { kSentences, kTokens, kWords };

/// Cuts text into sentences, tokens and words: a bidirectional LSTM over the letters says of each
/// whether a token, or a sentence, ends with it (Straka, Hajic and Strakova, LREC 2016), and of the
/// last letter of a token which rule splits it into words.
class Segmenter {
 public:
  Segmenter(const SegmenterDescription& description, dynet::ParameterCollection& parameters);

  /// Declares the parameters in an empty graph.
  void begin_graph(dynet::ComputationGraph& graph, bool training);

  /// Negative log-likelihood of the cuts of a paragraph behind its letters [begin, end), summed.
  /// The limits must not depend on where sentences end, since the model sees where a text is cut
  /// off.
  dynet::Expression loss(const Paragraph& paragraph, std::size_t begin, std::size_t end);

  /// See Model::set_interrupt.
  void set_interrupt(dynet::Interrupt* interrupt) { interrupt_ = interrupt; }
  /// Finds the sentences of paragraphs, tokens, and the words of each token; see Find. Clears the
  /// graph first, before each of the parts in which long texts are read. A paragraph is cut in the
  /// same way in any company.
  std::vector<std::vector<Tokens>> segment(dynet::ComputationGraph& graph,
                                           std::span<const Paragraph> paragraphs,
                                           Find find = Find::kSentences);

  /// Letters that are cut in one graph.
  static constexpr std::size_t kPart = 2048;

 private:
  /// Unit that ends with a letter.
  enum class End : unsigned { kNothing, kToken, kSentence };
  static constexpr unsigned kEnds = 3;

  unsigned number_of(char32_t letter) const;
  /// States of the letters [begin, end).
  std::vector<dynet::Expression> read(const Paragraph& paragraph, std::size_t begin,
                                      std::size_t end);
  dynet::Expression end_scores(const dynet::Expression& state) const;
  /// Scores of the scripts of a token; the state is that of its last letter.
  dynet::Expression script_scores(const std::string& token, const dynet::Expression& state) const;
  /// Text of a paragraph that is being cut, without white space at its ends.
  struct Cut {
    Paragraph paragraph;             ///< with the sentences that are found
    std::size_t offset = 0;          ///< of its first letter
    std::size_t begin = 0, end = 0;  ///< letters that are in the graph
    bool in_sentence = false, in_token = false;
    std::vector<dynet::Expression> states = {}, scores = {};  ///< of these letters
  };
  static Cut begin_cut(const Paragraph& paragraph, Find find);
  /// Adds the next letters to the graph.
  void read_next(Cut& cut, Find find);
  /// Cuts the letters that are in the graph, whose scores are computed.
  void cut_tokens(Cut& cut, Find find) const;
  /// Splits the tokens that end in the letters that are in the graph.
  void split_tokens(std::span<Cut> cuts) const;

  const SegmenterDescription& description_;
  std::unordered_map<char32_t, unsigned> numbers_;
  std::unordered_map<std::string, unsigned> scripts_, tokens_;
  dynet::LookupParameter letters_, token_vectors_;
  dynet::LSTMBuilder forward_, backward_;
  dynet::Parameter end_weight_, end_bias_, script_weight_, script_bias_, token_weight_;
  dynet::Interrupt* interrupt_ = nullptr;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
  dynet::Expression end_weight_node_, end_bias_node_, script_weight_node_, script_bias_node_,
      token_weight_node_;
};

}  // namespace annotate
