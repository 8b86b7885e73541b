#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dynet-like/dynet.h"
#include "dynet-like/io/dict.h"
#include "examples/nlp/common/model.h"
#include "examples/nlp/common/text_input.h"
#include "examples/nlp/parser/arc_scorer.h"
#include "examples/nlp/parser/conllu.h"
#include "examples/nlp/parser/encoder.h"
#include "examples/nlp/parser/evaluate.h"
#include "examples/nlp/parser/move_scorer.h"
#include "examples/nlp/parser/settings.h"

namespace parser {

/// Collects words, tags and labels from the training sentences.
Description describe(const ModelSettings& settings, const Treebank& train);

/// A parser: an encoder of sentences with a scorer of moves or of arcs.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "parser";  ///< program name in its files
  static constexpr const char* kUse = "parse";       ///< command that a new model is for

  Model(Description description, const nlp::Start& start);

  Encoded encode(const Sentence& sentence) const;
  bool knows_tag(const std::string& tag) const { return tags_.contains(tag); }
  bool knows_label(const std::string& label) const { return labels_.contains(label); }
  /// Training target from the tree of a training sentence, projectivized if the model's trees are
  /// projective.
  Target target(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Negative log-likelihood of the target.
  dynet::Expression loss(const Encoded& sentence, const Target& target);
  /// Parses the sentences in one graph, which is cleared first.
  std::vector<Tree> parse(dynet::ComputationGraph& graph, std::span<const Encoded> sentences,
                          bool probabilities = false);

 private:
  using Scorer = std::variant<MoveScorer, ArcScorer>;
  static Scorer make_scorer(const Description& description, dynet::ParameterCollection& parameters);

  dynet::Dict words_, tags_, labels_, characters_;
  Encoder encoder_;
  Scorer scorer_;
};

/// Tags and labels of sentences that are unknown to a model.
class Unknown {
 public:
  /// `name` is the name of the file.
  Unknown(const Model& model, const std::string& name)
      : model_(model), name_(name), tags_("tag", name), labels_("label", name) {}
  void add(const Sentence& sentence);
  /// Number of words added; 0 if the model knows one of their tags.
  std::size_t words_in_vain() const { return tags_.count() == words_ ? words_ : 0; }
  /// Prints warnings. Throws UserError if none of the tags is known.
  void report() const;

 private:
  const Model& model_;
  const std::string name_;
  nlp::UnknownNames tags_, labels_;
  std::string first_tag_;
  std::size_t words_ = 0;
};
/// Adds and reports all sentences of a file.
void report_unknown(const Model& model, const Treebank& sentences, const std::string& name);

/// Trees of all sentences, and their cost.
struct Parsed {
  std::vector<Tree> trees;
  std::size_t nodes = 0, batches = 0;  ///< in the graphs
  double seconds = 0;                  ///< CPU time of this process
};

/// Default number of sentences per graph.
inline constexpr std::size_t kTogether = 32;

struct ParseOptions {
  std::size_t together = kTogether;  ///< sentences of similar length per graph
  bool probabilities = false;
};

/// Parses all sentences; a progress bar is titled `name`, unless it is empty.
Parsed parse_all(Model& model, const Treebank& sentences, const ParseOptions& options,
                 const std::string& name);

/// Scores of parsed sentences, and of the trivial parser.
Report score(const Model& model, const Treebank& sentences, const std::vector<Tree>& trees,
             const std::string& name);
/// Parses and scores sentences.
Report evaluate(Model& model, const Treebank& sentences, const std::string& name);

}  // namespace parser
