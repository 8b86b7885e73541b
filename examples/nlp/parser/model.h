#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dynet-like/dynet.h"
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

/// A parser: what an encoder says about the words of a sentence decides about moves, or about arcs.
class Model : public nlp::DescribedModel<Description> {
 public:
  static constexpr const char* kProgram = "parser";  ///< whose files it is saved in

  Model(Description description, const nlp::Start& start);

  Encoded encode(const Sentence& sentence) const;
  bool knows_tag(const std::string& tag) const { return tags_.contains(tag); }
  bool knows_label(const std::string& label) const { return labels_.contains(label); }
  /// Training target from the sentence's tree, which is made projective if the model's trees are.
  /// Only for training sentences.
  Target target(const Sentence& sentence) const;

  /// Declares the parameters in an empty graph; sentences declared after it share them.
  void begin_graph(dynet::ComputationGraph& graph, bool training);
  /// Minus the log-likelihood of what is to be learned.
  dynet::Expression loss(const Encoded& sentence, const Target& target);
  /// Parses the sentences in one graph, which is cleared before.
  std::vector<Tree> parse(dynet::ComputationGraph& graph, std::span<const Encoded> sentences,
                          bool probabilities = false);

 private:
  using Scorer = std::variant<MoveScorer, ArcScorer>;
  static Scorer make_scorer(const Description& description, dynet::ParameterCollection& parameters);

  dynet::Dict words_, tags_, labels_, characters_;
  Encoder encoder_;
  Scorer scorer_;
};

/// The tags of sentences, and the labels of their trees, that a model does not know.
class Unknown {
 public:
  /// `name` is that of the file.
  Unknown(const Model& model, const std::string& name)
      : model_(model), name_(name), tags_("tag", name), labels_("label", name) {}
  void add(const Sentence& sentence);
  /// Number of words added; 0 if the model knows the tag of one of them.
  std::size_t words_in_vain() const { return tags_.count() == words_ ? words_ : 0; }
  /// Warns. Throws UserError if none of the tags is known: nothing can be made of such data.
  void report() const;

 private:
  const Model& model_;
  const std::string name_;
  nlp::UnknownNames tags_, labels_;
  std::string first_tag_;
  std::size_t words_ = 0;
};
/// The same for all sentences of a file.
void report_unknown(const Model& model, const Treebank& sentences, const std::string& name);

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

/// With a bar under the name, if it has one.
Parsed parse_all(Model& model, const Treebank& sentences, const ParseOptions& options,
                 const std::string& name);

/// Scores parsed sentences, and the trivial parser.
Report score(const Model& model, const Treebank& sentences, const std::vector<Tree>& trees,
             const std::string& name);
/// The same after parsing them.
Report evaluate(Model& model, const Treebank& sentences, const std::string& name);

}  // namespace parser
