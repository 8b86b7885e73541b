#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/parser/conllu.h"
#include "examples/nlp/parser/evaluate.h"
#include "examples/nlp/parser/transitions.h"

namespace parser {

/// The shape of a model.
struct ModelSettings {
  unsigned word = 100;    ///< size of a word's vector
  unsigned tag = 25;      ///< of a tag's
  unsigned hidden = 125;  ///< of the LSTMs, in each direction
  unsigned layers = 2;
  unsigned mlp = 100;  ///< size of the tanh layer before the moves
  float dropout = 0.3f;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& word& tag& hidden& layers& mlp& dropout;
  }
};

/// All of a model but its weights: enough to make a model of the same shape.
struct Description {
  ModelSettings settings;
  std::vector<std::string> words, tags;  ///< that have a vector; the first stands for all others
  std::vector<std::string> labels;
  Baseline baseline;

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& settings& words& tags& labels& baseline;
  }
};

/// Collects words, tags and labels from the training sentences.
Description describe(const ModelSettings& settings, const Treebank& train);

/// A sentence as numbers.
struct Encoded {
  std::vector<unsigned> words, tags;
  std::size_t size() const { return words.size(); }
};

/// A greedy transition parser (Kiperwasser and Goldberg, TACL 2016): the vectors of a word and of
/// its tag; layers of LSTMs from both sides; and for a move a tanh layer over what they say about
/// the three top words of the stack and the next word of the buffer.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "parser";  ///< whose files it is saved in

  Model(Description description, std::uint64_t seed);

  Encoded encode(const Sentence& sentence) const;
  /// Warns of tags in the data, and of labels of its trees, that the model does not know. Throws
  /// UserError if it knows none of the tags: nothing can be made of such data.
  void report_unknown(const Treebank& sentences, const std::string& name) const;
  /// The moves to learn for its tree, made projective. Only for training sentences.
  std::vector<Move> moves(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of the moves, summed over them.
  dynet::Expression loss(dynet::ComputationGraph& graph, const Encoded& sentence,
                         const std::vector<Move>& moves);
  /// Parses the sentences in step, in one graph, which is cleared before: each waits for its next
  /// move until the scores of all moves that are due have been built. The probability of an arc is
  /// that of the move that made it, among those that were allowed then.
  std::vector<Tree> parse(dynet::ComputationGraph& graph, std::span<const Encoded> sentences,
                          bool probabilities = false);

 private:
  static constexpr std::size_t kSeen = 4;  ///< words that decide a move

  using Vectors = std::vector<dynet::Expression>;
  /// What the LSTMs say about the root and the words, by number.
  Vectors read(dynet::ComputationGraph& graph, const Encoded& sentence);
  /// The scores of the moves in a state.
  dynet::Expression scores(const Vectors& vectors, const State& state) const;
  dynet::Expression dropped(const dynet::Expression& x) const;

  dynet::Dict words_, tags_, labels_;
  dynet::LookupParameter word_table_, tag_table_;
  std::vector<dynet::LSTMBuilder> lstms_;  ///< by layer, one for each direction
  dynet::Parameter root_, none_, hidden_bias_, weight_, bias_;
  std::array<dynet::Parameter, kSeen> hidden_weights_;  ///< of the next word, then of the stack
  // Of the current graph.
  bool training_ = false;
  dynet::Expression root_node_, none_node_, hidden_bias_node_, weight_node_, bias_node_;
  std::array<dynet::Expression, kSeen> hidden_weight_nodes_;
};

/// The trees of all sentences, and what they took.
struct Parsed {
  std::vector<Tree> trees;
  std::size_t nodes = 0, batches = 0;  ///< of the graphs
  double seconds = 0;                  ///< of this process' CPU time
};

/// How many sentences are parsed together where nobody says otherwise.
inline constexpr std::size_t kTogether = 32;

struct ParseOptions {
  std::size_t together = kTogether;  ///< sentences of similar length at a time
  bool probabilities = false;
};

Parsed parse_all(Model& model, const Treebank& sentences, const ParseOptions& options,
                 const std::string& name);

/// Scores parsed sentences, and the trivial parser.
Report score(const Model& model, const Treebank& sentences, const std::vector<Tree>& trees,
             const std::string& name);
/// The same after parsing them.
Report evaluate(Model& model, const Treebank& sentences, const std::string& name);

}  // namespace parser
