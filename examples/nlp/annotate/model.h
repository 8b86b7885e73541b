#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "dynet-like/base/interrupt.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/annotate/lexicon.h"
#include "examples/nlp/annotate/segmenter.h"
#include "examples/nlp/annotate/settings.h"
#include "examples/nlp/common/characters.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/parser/arc_scorer.h"

namespace annotate {

/// Encoded words of a sentence, and in training what is to be predicted of them.
struct Encoded {
  static constexpr unsigned kNothing = ~0u;

  std::vector<unsigned> words;
  std::vector<std::vector<unsigned>> characters;
  std::array<std::vector<unsigned>, kOutputs> classes;  ///< kNothing: not to be learned
  parser::Target tree;                                  ///< empty without a tree
  std::size_t size() const { return words.size(); }
};

/// Columns of a word, by output.
using Columns = std::array<std::string, kOutputs>;
/// Predictions for the words of a sentence.
using Annotation = Sentence;

/// A pipeline from text to trees in one network with three stages, which are trained together. The
/// segmenter cuts text into words. A bidirectional LSTM reads these, each as its own vector and one
/// made of its letters; it is shared by the classifiers of the columns UPOS, XPOS, FEATS and LEMMA,
/// and by the LSTM below a biaffine scorer of trees (as in Straka 2018, "UDPipe 2.0 prototype at
/// CoNLL 2018 UD shared task").
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "annotate";  ///< program name in its files
  static constexpr const char* kUse = "run";           ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  Segmenter& segmenter() { return segmenter_; }
  /// Begins with pretrained vectors of words, the first `trained` of which training has.
  void use(const nlp::WordVectors& vectors, std::size_t trained, std::ostream& out);
  /// Copies the weights of another model that is equal in all stages but one, which keeps its own.
  void copy_except(const Model& other, Stage stage);
  /// Freezes all weights but those of a stage.
  void train_only(Stage stage);

  Encoded encode(const std::vector<std::string>& words) const;
  /// The same with what is to be predicted.
  Encoded encode(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the columns and of the tree, or that of a stage.
  dynet::Expression loss(const Encoded& sentence, Stage stage = Stage::kAll);
  /// Words whose analyses are not to be predicted; null for none. It must outlive
  /// the predictions.
  void set_lexicon(const Lexicon* lexicon) { lexicon_ = lexicon; }
  /// Interrupt that may end a prediction between two graphs, by an exception; null for none. It
  /// must outlive the predictions.
  void set_interrupt(dynet::Interrupt* interrupt) {
    interrupt_ = interrupt;
    segmenter_.set_interrupt(interrupt);
  }
  /// Annotates sentences in one graph, which is cleared first.
  std::vector<Annotation> annotate(dynet::ComputationGraph& graph,
                                   std::span<const std::vector<std::string>> sentences);

 private:
  /// States of the words of a sentence.
  struct States {
    std::vector<dynet::Expression> words;   ///< vectors of the words, without their neighbours
    std::vector<dynet::Expression> shared;  ///< of the shared LSTM
    parser::Vectors trees;                  ///< of that of trees, after that of the root
  };
  States read(const Encoded& sentence);
  dynet::Expression dropped(const dynet::Expression& x) const;
  /// Dropout with the same mask for all words of a sentence (Gal and Ghahramani, NIPS 2016).
  void drop(std::vector<dynet::Expression>& vectors) const;
  std::vector<dynet::Expression> run(std::span<dynet::LSTMBuilder> lstms,
                                     std::vector<dynet::Expression> vectors) const;
  /// Scores of the classes of an output for one word.
  dynet::Expression scores(const States& states, std::size_t word, std::size_t output) const;
  /// Prefix of the names of the weights of a stage, except kAll.
  static std::string prefix_of(Stage stage);
  bool predicts(std::size_t output) const { return description_.classes[output].size() > 1; }
  /// Replaces the columns of a word that the lexicon has an analysis of; of several it takes the
  /// one whose UPOS has the best score.
  void look_up(const std::string& word, const std::vector<float>& upos_scores,
               Columns& columns) const;

  dynet::Dict words_, characters_, labels_;
  std::array<dynet::Dict, kOutputs> classes_;
  dynet::ParameterCollection segmenter_weights_, tagger_weights_, parser_weights_;
  Segmenter segmenter_;
  dynet::LookupParameter word_vectors_;
  nlp::CharacterEncoder letters_;
  std::vector<dynet::LSTMBuilder> shared_lstms_, tree_lstms_;  ///< by layer, one per direction
  std::array<dynet::Parameter, kOutputs> weights_, biases_, part_weights_;
  /// Classes x parts of each output whose classes share parts: 1 for a class with the part.
  std::array<std::vector<float>, kOutputs> parts_;
  dynet::Parameter mlp_weight_, mlp_bias_, root_;
  std::optional<parser::ArcScorer> trees_;
  const Lexicon* lexicon_ = nullptr;
  dynet::Interrupt* interrupt_ = nullptr;
  // State of the current graph.
  dynet::ComputationGraph* graph_ = nullptr;
  bool training_ = false;
  std::array<dynet::Expression, kOutputs> weight_nodes_, bias_nodes_, part_nodes_,
      part_weight_nodes_;
  dynet::Expression mlp_weight_node_, mlp_bias_node_, root_node_;
};

}  // namespace annotate
