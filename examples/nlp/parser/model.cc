#include "examples/nlp/parser/model.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <set>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/vocabulary.h"

namespace parser {

using namespace nlp;

void ModelSettings::check() const {
  require_size("word size", word);
  require_size("tag size", tag);
  require_size("hidden size", hidden);
  require_layers(layers);
  require_size("tanh layer", mlp);
  require_dropout(dropout);
  require_size("arc size", arc);
  require_size("label size", label);
  if (character > 0) require_size("character size", character);
}

void Description::check() const {
  settings.check();
  require_known_texts("words", words);
  require_known_texts("tags", tags);
  if (settings.character > 0) require_known_texts("characters", characters, 2);
  require_texts("labels", labels);
  baseline.check();
}

Description describe(const ModelSettings& settings, const Treebank& train) {
  Description description;
  description.settings = settings;
  description.baseline = Baseline(train);
  nlp::Collector words, tags;
  std::set<std::string> labels;
  for (const Sentence& sentence : train) {
    for (const std::string& word : sentence.words) words.add(word);
    for (const std::string& tag : sentence.tags) tags.add(tag);
    labels.insert(sentence.tree.labels.begin(), sentence.tree.labels.end());
  }
  description.words = words.take();
  description.tags = tags.take();
  if (settings.character > 0) description.characters = known_characters_of(train);
  description.labels.assign(labels.begin(), labels.end());
  return description;
}

Model::Scorer Model::make_scorer(const Description& description,
                                 dynet::ParameterCollection& parameters) {
  if (description.settings.graph) return ArcScorer(description, parameters);
  return MoveScorer(description, parameters);
}

Model::Model(Description description, const Start& start)
    : DescribedModel(std::move(description), start),
      words_(nlp::make_dict(description_.words)),
      tags_(nlp::make_dict(description_.tags)),
      labels_(nlp::make_dict(description_.labels)),
      characters_(nlp::make_dict(description_.characters)),
      encoder_(description_, parameters_),
      scorer_(make_scorer(description_, parameters_)) {}

Encoded Model::encode(const Sentence& sentence) const {
  Encoded encoded;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    encoded.words.push_back(static_cast<unsigned>(words_.convert(sentence.words[i])));
    encoded.tags.push_back(static_cast<unsigned>(tags_.convert(sentence.tags[i])));
    if (description_.settings.character > 0)
      encoded.characters.push_back(character_numbers(sentence.words[i], characters_));
  }
  return encoded;
}

Target Model::target(const Sentence& sentence) const {
  Target target;
  for (const std::string& label : sentence.tree.labels) {
    target.labels.push_back(static_cast<unsigned>(labels_.convert(label)));
  }
  const ModelSettings& settings = description_.settings;
  target.heads = sentence.tree.heads;
  if (!settings.graph || !settings.crossing) target.heads = projective(target.heads);
  if (!settings.graph) target.moves = oracle(target.heads, target.labels);
  return target;
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  encoder_.begin_graph(graph, training);
  std::visit([&](auto& scorer) { scorer.begin_graph(graph, training); }, scorer_);
}

dynet::Expression Model::loss(const Encoded& sentence, const Target& target) {
  const Vectors vectors = encoder_.read(sentence);
  return std::visit([&](const auto& scorer) { return scorer.loss(vectors, target); }, scorer_);
}

std::vector<Tree> Model::parse(dynet::ComputationGraph& graph, std::span<const Encoded> sentences,
                               bool probabilities) {
  graph.clear();
  begin_graph(graph, false);
  std::vector<Vectors> vectors;
  for (const Encoded& sentence : sentences) vectors.push_back(encoder_.read(sentence));
  const std::vector<Arcs> found =
      std::visit([&](const auto& scorer) { return scorer.parse(vectors, probabilities); }, scorer_);
  std::vector<Tree> trees;
  for (const Arcs& arcs : found) {
    Tree& tree = trees.emplace_back();
    tree.heads = arcs.heads;
    tree.probabilities = arcs.probabilities;
    for (const unsigned label : arcs.labels) tree.labels.push_back(description_.labels[label]);
  }
  return trees;
}

void Unknown::add(const Sentence& sentence) {
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::size_t line = sentence.rows.line_number(i);
    if (words_++ == 0) first_tag_ = sentence.tags[i];
    if (!model_.knows_tag(sentence.tags[i])) tags_.add(sentence.tags[i], line);
    if (!sentence.tree.labels.empty() && !model_.knows_label(sentence.tree.labels[i]))
      labels_.add(sentence.tree.labels[i], line);
  }
}

void Unknown::report() const {
  if (words_in_vain() > 0)
    throw UserError(name_ + ": the model knows none of the tags (column 4, UPOS), such as " +
                    in_quotes(first_tag_) + "; parse --tagger MODEL fills them in");
  tags_.report("it parses such words as it can");
  labels_.report("it gets none of them right");
}

void report_unknown(const Model& model, const Treebank& sentences, const std::string& name) {
  Unknown unknown(model, name);
  for (const Sentence& sentence : sentences) unknown.add(sentence);
  unknown.report();
}

Parsed parse_all(Model& model, const Treebank& sentences, const ParseOptions& options,
                 const std::string& name) {
  const std::clock_t started = std::clock();
  std::vector<std::size_t> sizes;
  for (const Sentence& sentence : sentences) sizes.push_back(sentence.size());
  Parsed parsed;
  std::atomic<std::size_t> nodes{0}, batches{0};
  parsed.trees = nlp::predict_by_size(
      model, sizes, options.together, name, "sentences",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const std::size_t> places) {
        std::vector<Encoded> encoded;
        for (const std::size_t place : places) encoded.push_back(mine.encode(sentences[place]));
        std::vector<Tree> found = mine.parse(graph, encoded, options.probabilities);
        nodes += graph.statistics().nodes;
        batches += graph.statistics().batches;
        return found;
      });
  parsed.nodes = nodes;
  parsed.batches = batches;
  parsed.seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  return parsed;
}

Report score(const Model& model, const Treebank& sentences, const std::vector<Tree>& trees,
             const std::string& name) {
  Report report;
  report.name = name;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    report.add(sentences[i], trees[i], model.description().baseline);
  }
  return report;
}

Report evaluate(Model& model, const Treebank& sentences, const std::string& name) {
  return score(model, sentences, parse_all(model, sentences, {}, name).trees, name);
}

}  // namespace parser
