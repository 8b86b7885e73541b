#pragma once

#include <boost/serialization/version.hpp>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

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
  bool spaces_within = false;  ///< true: a token may contain white space

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& letter& hidden& dropout& letters& scripts& spaces_within;
  }
  void check() const;  ///< see nlp::Checked
};

/// Collects letters and scripts; the sizes are those of `sizes`.
SegmenterDescription describe(SegmenterDescription sizes, const std::vector<Paragraph>& train);

/// Cuts text into sentences, tokens and words: a bidirectional LSTM over the letters says of each
/// whether a token, or a sentence, ends with it (Straka, Hajic and Strakova, LREC 2016), and of the
/// last letter of a token which rule splits it into words.
class Segmenter {
 public:
  Segmenter(const SegmenterDescription& description, dynet::ParameterCollection& parameters);

  /// Declares the parameters in an empty graph.
  void begin_graph(dynet::ComputationGraph& graph, bool training);

  /// Negative log-likelihood of the cuts of one sentence of a paragraph, read with so many letters
  /// around it; summed over the letters. The numbers must be random: the distance from the end of
  /// the letters that are read would say where the sentence ends.
  dynet::Expression loss(const Paragraph& paragraph, std::size_t sentence, std::size_t left,
                         std::size_t right);

  /// Cuts a paragraph, whatever its sentences are; clears the graph first, before each of the parts
  /// in which a long paragraph is read.
  std::vector<Tokens> segment(dynet::ComputationGraph& graph, const Paragraph& paragraph);

  /// Letters that are read on either side of those that are cut.
  static constexpr std::size_t kContext = 40;

 private:
  /// Unit that ends with a letter.
  enum class End : unsigned { kNothing, kToken, kSentence };
  static constexpr unsigned kEnds = 3;

  unsigned number_of(char32_t letter) const;
  /// States of the letters [begin, end).
  std::vector<dynet::Expression> read(const Paragraph& paragraph, std::size_t begin,
                                      std::size_t end, std::size_t left_context = kContext,
                                      std::size_t right_context = kContext);
  dynet::Expression end_scores(const dynet::Expression& state) const;
  dynet::Expression script_scores(const dynet::Expression& state) const;
  /// End of the part of a text that is cut in one graph: a space where there is one.
  static std::size_t end_of_part(const std::u32string& letters, std::size_t begin);
  /// Splits the tokens that end behind letter `begin`, whose states begin there.
  void split_tokens(const Paragraph& paragraph, const std::vector<dynet::Expression>& states,
                    std::size_t begin, std::vector<Tokens>& sentences) const;

  const SegmenterDescription& description_;
  std::unordered_map<char32_t, unsigned> numbers_;
  std::unordered_map<std::string, unsigned> scripts_;
  dynet::LookupParameter letters_;
  dynet::LSTMBuilder forward_, backward_;
  dynet::Parameter end_weight_, end_bias_, script_weight_, script_bias_;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
  dynet::Expression end_weight_node_, end_bias_node_, script_weight_node_, script_bias_node_;
};

}  // namespace annotate
