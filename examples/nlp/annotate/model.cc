#include "examples/nlp/annotate/model.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "dynet-like/param/storage.h"
#include "examples/nlp/annotate/edit_script.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/vocabulary.h"
#include "examples/nlp/parser/transitions.h"

namespace annotate {

using dynet::Expression;
using namespace nlp;

namespace {

constexpr std::ptrdiff_t kMostLetters = 100;  ///< of a word that are read
const char* const kSameWord = "k0,0,0,0,0:";  ///< rule of a lemma that is the form

/// Class of a word's value in a column, the rule of a lemma; nothing if the file does not say it.
/// No features are `_`, but not of a word whose part of speech is not said either.
std::optional<std::string> class_of(std::size_t output, const Sentence& sentence, std::size_t i) {
  const std::string& value = sentence.columns[output][i];
  const bool missing = output == kFeats   ? sentence.columns[kUpos][i] == "_"
                       : output == kLemma ? sentence.words[i] != "_"
                                          : true;
  if (value == "_" && missing) return std::nullopt;
  return output == kLemma ? edit_script(sentence.words[i], value) : value;
}

/// Features of a class that it shares with others: those of FEATS, the letters of XPOS with their
/// places, and what a rule of lemmas does to case, beginning and end of a word.
std::vector<std::string> parts_of(std::size_t output, const std::string& text) {
  std::vector<std::string> parts;
  if (output == kFeats && text != "_") parts = split_fields(text, '|');
  if (output == kXpos)
    for (std::size_t i = 0; i < text.size(); ++i) parts.push_back(std::to_string(i) + text[i]);
  if (output == kLemma) parts = parts_of_edit_script(text);
  return parts;
}

/// Parts that several classes have.
struct ClassParts {
  std::vector<float> matrix;  ///< classes x parts, by columns: 1 for a class with the part
  unsigned count = 0;
};
ClassParts parts_of(std::size_t output, const std::vector<std::string>& classes) {
  std::map<std::string, std::vector<std::size_t>> with;  // classes by part
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (const std::string& part : parts_of(output, classes[i])) with[part].push_back(i);
  ClassParts parts;
  for (const auto& [part, having] : with) {
    if (having.size() < 2) continue;
    parts.matrix.resize(parts.matrix.size() + classes.size());
    for (const std::size_t i : having) parts.matrix[parts.count * classes.size() + i] = 1;
    ++parts.count;
  }
  return parts;
}

parser::Description trees_of(const Description& description) {
  parser::Description trees;
  trees.settings.hidden = description.settings.tree_hidden;
  trees.settings.arc = description.settings.arc;
  trees.settings.label = description.settings.label;
  trees.settings.dropout = description.settings.dropout;
  trees.settings.graph = true;
  trees.settings.crossing = description.crossing;
  trees.labels = description.labels;
  return trees;
}

std::vector<dynet::LSTMBuilder> lstms(unsigned layers, unsigned input, unsigned hidden,
                                      dynet::ParameterCollection& parameters) {
  std::vector<dynet::LSTMBuilder> all;
  for (unsigned i = 0; i < 2 * layers; ++i)
    all.emplace_back(1, i < 2 ? input : 2 * hidden, hidden, parameters);
  return all;
}

}  // namespace

void ModelSettings::check() const {
  require_size("word size", word);
  require_size("character size", character);
  require_size("hidden size", hidden);
  require_layers(layers);
  require_size("hidden size of trees", tree_hidden);
  require_layers(tree_layers);
  require_size("layer before lemmas", mlp);
  require_size("arc size", arc);
  require_size("label size", label);
  require_dropout(dropout);
}

void Description::check() const {
  require(std::none_of(treebank.begin(), treebank.end(), [](char c) { return c == '\n'; }),
          "the name of its treebank has several lines");
  settings.check();
  segmenter.check();
  require_known_texts("words", words);
  require_known_texts("characters", characters, 2);
  for (std::size_t output = 0; output < kOutputs; ++output)
    require_texts(std::string("classes of ") + conllu::kNames[kColumns[output]], classes[output]);
  for (const auto& combination : tags)
    for (std::size_t output = 0; output < combination.size(); ++output)
      require(combination[output] < classes[output].size(), "it has a tag without a class");
  require_texts("labels", labels, 0);
}

namespace {

/// Classes of UPOS, XPOS and FEATS that a word has together. A column that no word has is none.
std::vector<std::array<unsigned, 3>> tags_of(
    const Treebank& train, const std::array<std::vector<std::string>, kOutputs>& classes) {
  std::set<std::array<unsigned, 3>> tags;
  for (const Sentence& sentence : train.sentences) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      std::array<unsigned, 3> combination{};
      bool is_known = true;
      for (std::size_t output = 0; output < combination.size(); ++output) {
        const std::vector<std::string>& all = classes[output];  // sorted
        const std::optional<std::string> text = class_of(output, sentence, i);
        is_known = is_known && (text || all.size() == 1);
        if (text)
          combination[output] =
              static_cast<unsigned>(std::lower_bound(all.begin(), all.end(), *text) - all.begin());
      }
      if (is_known) tags.insert(combination);
    }
  }
  return {tags.begin(), tags.end()};
}

}  // namespace

Description describe(const Description& chosen, const Treebank& train, const WordVectors& vectors) {
  Description description;
  description.treebank = chosen.treebank;
  description.settings = chosen.settings;
  description.segmenter = describe(chosen.segmenter, train.paragraphs);
  Collector words;
  std::array<std::map<std::string, std::size_t>, kOutputs> counts;
  std::set<std::string> labels;
  std::size_t trees = 0, crossing = 0;
  for (const Sentence& sentence : train.sentences) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      words.add(sentence.words[i]);
      for (std::size_t output = 0; output < kOutputs; ++output)
        if (const auto text = class_of(output, sentence, i)) ++counts[output][*text];
    }
    labels.insert(sentence.labels.begin(), sentence.labels.end());
    trees += !sentence.heads.empty();
    crossing += !sentence.heads.empty() && !parser::is_projective(sentence.heads);
  }
  description.words = with_words_of(vectors, words.take());
  description.characters = known_characters_of(train.sentences);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    std::map<std::string, std::size_t>& all = counts[output];
    const std::string otherwise = output == kLemma && !all.empty() ? kSameWord : "_";
    // A rule seen once makes inventions of other words.
    if (output == kLemma) std::erase_if(all, [](const auto& item) { return item.second < 2; });
    if (all.empty()) all[otherwise] = 1;
    for (const auto& [text, count] : all) description.classes[output].push_back(text);
  }
  description.tags = tags_of(train, description.classes);
  description.labels.assign(labels.begin(), labels.end());
  // A projective tree is found more often if few cross.
  description.crossing = 20 * crossing > trees;
  return description;
}

Description with_stage(Description old, const Description& now, Stage stage) {
  old.treebank = now.treebank;
  switch (stage) {
    case Stage::kAll:
      return now;
    case Stage::kSegmenter:
      old.segmenter = now.segmenter;
      break;
    case Stage::kTagger:
      old.settings.mlp = now.settings.mlp;
      old.classes = now.classes;
      old.tags = now.tags;
      break;
    case Stage::kParser:
      old.settings.tree_hidden = now.settings.tree_hidden;
      old.settings.tree_layers = now.settings.tree_layers;
      old.settings.arc = now.settings.arc;
      old.settings.label = now.settings.label;
      old.labels = now.labels;
      old.crossing = now.crossing;
      break;
  }
  return old;
}

Model::Model(Description description, const Start& start)
    : DescribedModel(std::move(description), start),
      words_(make_dict(description_.words)),
      characters_(make_dict(description_.characters)),
      labels_(make_dict(description_.labels)),
      segmenter_weights_(parameters_.add_subcollection("segmenter")),
      tagger_weights_(parameters_.add_subcollection("tagger")),
      parser_weights_(parameters_.add_subcollection("parser")),
      segmenter_(description_.segmenter, segmenter_weights_),
      letters_(CharacterEncoder::Kind::kLstm, description_.settings.character,
               description_.characters.size(), parameters_) {
  const ModelSettings& s = description_.settings;
  const auto zero = dynet::ParameterInitConst(0);
  word_vectors_ = parameters_.add_lookup_parameters(
      static_cast<unsigned>(description_.words.size()), {s.word}, "words");
  const unsigned word = s.word + s.character, state = 2 * s.hidden;
  shared_lstms_ = lstms(s.layers, word, s.hidden, parameters_);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    const auto classes = static_cast<unsigned>(description_.classes[output].size());
    classes_[output] = make_dict(description_.classes[output]);
    const unsigned input = output == kLemma ? s.mlp : state;
    weights_[output] = tagger_weights_.add_parameters({classes, input}, "class-weight");
    biases_[output] = tagger_weights_.add_parameters({classes}, zero, "class-bias");
    ClassParts parts = parts_of(output, description_.classes[output]);
    if (parts.count == 0) continue;
    part_weights_[output] = tagger_weights_.add_parameters({parts.count, input}, "part-weight");
    parts_[output] = std::move(parts.matrix);
  }
  mlp_weight_ = tagger_weights_.add_parameters({s.mlp, state + word}, "lemma-weight");
  mlp_bias_ = tagger_weights_.add_parameters({s.mlp}, zero, "lemma-bias");
  if (description_.labels.empty()) return;
  tree_lstms_ = lstms(s.tree_layers, state + word, s.tree_hidden, parser_weights_);
  root_ = parser_weights_.add_parameters({2 * s.tree_hidden}, "root");
  trees_.emplace(trees_of(description_), parser_weights_);
}

std::string Model::prefix_of(Stage stage) {
  return stage == Stage::kSegmenter ? "/segmenter/"
         : stage == Stage::kTagger  ? "/tagger/"
                                    : "/parser/";
}

void Model::copy_except(const Model& other, Stage stage) {
  const auto copy = [&](const auto& own, const auto& others) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < own.size(); ++i) places[own[i].get_fullname()] = i;
    for (const auto& from : others)
      if (from.get_fullname().rfind(prefix_of(stage), 0) != 0)
        own[places.at(from.get_fullname())].get_storage().copy(from.get_storage());
  };
  copy(parameters_.parameters_list(), other.parameters_.parameters_list());
  copy(parameters_.lookup_parameters_list(), other.parameters_.lookup_parameters_list());
}

void Model::train_only(Stage stage) {
  const auto freeze = [&](const auto& weights) {
    for (const auto& weight : weights)
      weight.set_updated(stage == Stage::kAll ||
                         weight.get_fullname().rfind(prefix_of(stage), 0) == 0);
  };
  freeze(parameters_.parameters_list());
  freeze(parameters_.lookup_parameters_list());
}

void Model::use(const WordVectors& vectors, std::size_t trained, std::ostream& out) {
  use_vectors(vectors, description_.words, trained, word_vectors_, out);
}

Encoded Model::encode(const std::vector<std::string>& words) const {
  Encoded encoded;
  for (const std::string& word : words) {
    encoded.words.push_back(static_cast<unsigned>(words_.convert(word)));
    std::vector<unsigned> letters = character_numbers(word, characters_);
    if (std::ssize(letters) > kMostLetters)  // the ends of a word say most
      letters.erase(letters.begin() + kMostLetters / 2, letters.end() - kMostLetters / 2);
    encoded.characters.push_back(std::move(letters));
  }
  return encoded;
}

Encoded Model::encode(const Sentence& sentence) const {
  Encoded encoded = encode(sentence.words);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      const auto text = class_of(output, sentence, i);
      encoded.classes[output].push_back(text && classes_[output].contains(*text)
                                            ? static_cast<unsigned>(classes_[output].convert(*text))
                                            : Encoded::kNothing);
    }
  }
  if (sentence.heads.empty() || !trees_) return encoded;
  for (const std::string& label : sentence.labels)  // a parser that is not trained may lack some
    if (!labels_.contains(label)) return encoded;
  encoded.tree.heads = description_.crossing ? sentence.heads : parser::projective(sentence.heads);
  for (const std::string& label : sentence.labels)
    encoded.tree.labels.push_back(static_cast<unsigned>(labels_.convert(label)));
  return encoded;
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  graph_ = &graph;
  training_ = training;
  segmenter_.begin_graph(graph, training);
  letters_.begin_graph(graph);
  for (std::size_t output = 0; output < kOutputs; ++output) {
    weight_nodes_[output] = parameter(graph, weights_[output]);
    bias_nodes_[output] = parameter(graph, biases_[output]);
    if (parts_[output].empty()) continue;
    const auto classes = static_cast<unsigned>(description_.classes[output].size());
    part_nodes_[output] = dynet::input(
        graph, {classes, static_cast<unsigned>(parts_[output].size()) / classes}, parts_[output]);
    part_weight_nodes_[output] = parameter(graph, part_weights_[output]);
  }
  mlp_weight_node_ = parameter(graph, mlp_weight_);
  mlp_bias_node_ = parameter(graph, mlp_bias_);
  for (dynet::LSTMBuilder& lstm : shared_lstms_) lstm.new_graph(graph);
  if (!trees_) return;
  for (dynet::LSTMBuilder& lstm : tree_lstms_) lstm.new_graph(graph);
  root_node_ = parameter(graph, root_);
  trees_->begin_graph(graph, training);
}

Expression Model::dropped(const Expression& x) const {
  return parser::dropped(x, description_.settings.dropout, training_);
}

void Model::drop(std::vector<Expression>& vectors) const {
  const float rate = description_.settings.dropout;
  if (!training_ || rate == 0 || vectors.empty()) return;
  const Expression mask = dropout(dynet::ones(*graph_, vectors[0].dim()), rate);
  for (Expression& vector : vectors) vector = cmult(vector, mask);
}

std::vector<Expression> Model::run(std::span<dynet::LSTMBuilder> lstms,
                                   std::vector<Expression> vectors) const {
  for (std::size_t layer = 0; layer < lstms.size(); layer += 2) {
    dynet::LSTMBuilder &forward = lstms[layer], &backward = lstms[layer + 1];
    forward.start_new_sequence();
    backward.start_new_sequence();
    std::vector<Expression> left(vectors.size()), right(vectors.size());
    drop(vectors);
    for (std::size_t i = 0; i < vectors.size(); ++i) left[i] = forward.add_input(vectors[i]);
    for (std::size_t i = vectors.size(); i-- > 0;) right[i] = backward.add_input(vectors[i]);
    for (std::size_t i = 0; i < vectors.size(); ++i)
      vectors[i] = dynet::concatenate({left[i], right[i]});
  }
  drop(vectors);
  return vectors;
}

Model::States Model::read(const Encoded& sentence) {
  States states;
  for (std::size_t i = 0; i < sentence.size(); ++i)
    states.words.push_back(dynet::concatenate({lookup(*graph_, word_vectors_, sentence.words[i]),
                                               letters_.encode(sentence.characters[i])}));
  states.shared = run(shared_lstms_, states.words);
  if (!trees_) return states;
  std::vector<Expression> inputs;
  for (std::size_t i = 0; i < sentence.size(); ++i)
    inputs.push_back(dynet::concatenate({states.shared[i], states.words[i]}));
  states.trees = run(tree_lstms_, std::move(inputs));
  states.trees.insert(states.trees.begin(), root_node_);
  return states;
}

Expression Model::scores(const States& states, std::size_t word, std::size_t output) const {
  Expression input = states.shared[word];
  if (output == kLemma)
    input = dropped(tanh(dynet::affine_transform(
        {mlp_bias_node_, mlp_weight_node_, dynet::concatenate({input, states.words[word]})})));
  if (parts_[output].empty())
    return dynet::affine_transform({bias_nodes_[output], weight_nodes_[output], input});
  return dynet::affine_transform({bias_nodes_[output], weight_nodes_[output], input,
                                  part_nodes_[output], part_weight_nodes_[output] * input});
}

Expression Model::loss(const Encoded& sentence, Stage stage) {
  if (stage == Stage::kSegmenter) return dynet::input(*graph_, 0.0f);
  const States states = read(sentence);
  std::vector<Expression> losses;
  for (std::size_t output = 0; output < kOutputs; ++output)
    for (std::size_t i = 0; predicts(output) && stage != Stage::kParser && i < sentence.size(); ++i)
      if (const unsigned wanted = sentence.classes[output][i]; wanted != Encoded::kNothing)
        losses.push_back(pickneglogsoftmax(scores(states, i, output), wanted));
  if (trees_ && !sentence.tree.heads.empty() && stage != Stage::kTagger)
    losses.push_back(trees_->loss(states.trees, sentence.tree));
  return losses.empty() ? dynet::input(*graph_, 0.0f) : sum(losses);
}

void Model::look_up(const std::string& word, const std::vector<float>& upos_scores,
                    Columns& columns) const {
  const auto score = [&](const Lexicon::Entry& entry) {
    if (entry.upos == "_" || upos_scores.empty() || !classes_[kUpos].contains(entry.upos))
      return -std::numeric_limits<float>::infinity();
    return upos_scores[static_cast<std::size_t>(classes_[kUpos].convert(entry.upos))];
  };
  const Lexicon::Entry* best = nullptr;
  for (const Lexicon::Entry& entry : lexicon_->of(word)) {
    // An entry with the predicted lemma wins over others of its part of speech.
    if (!best || std::pair(score(*best), best->lemma == columns[kLemma]) <
                     std::pair(score(entry), entry.lemma == columns[kLemma]))
      best = &entry;
  }
  if (!best) return;
  for (const auto& [output, text] :
       {std::pair(kUpos, &best->upos), {kLemma, &best->lemma}, {kFeats, &best->feats}})
    if (*text != "_") columns[output] = *text;
}

namespace {

/// The best class of each output; UPOS, XPOS and FEATS are a combination in `tags`, if there are
/// any.
std::array<std::size_t, kOutputs> best_classes(
    const std::array<std::vector<float>, kOutputs>& scores,
    const std::vector<std::array<unsigned, 3>>& tags) {
  std::array<std::size_t, kOutputs> best;
  for (std::size_t output = 0; output < kOutputs; ++output)
    best[output] = static_cast<std::size_t>(
        std::max_element(scores[output].begin(), scores[output].end()) - scores[output].begin());
  if (tags.empty()) return best;
  float most = -std::numeric_limits<float>::infinity();
  for (const auto& [upos, xpos, feats] : tags) {
    const float score = scores[kUpos][upos] + scores[kXpos][xpos] + scores[kFeats][feats];
    if (score <= most) continue;
    most = score;
    best[kUpos] = upos;
    best[kXpos] = xpos;
    best[kFeats] = feats;
  }
  return best;
}

}  // namespace

std::vector<Annotation> Model::annotate(dynet::ComputationGraph& graph,
                                        std::span<const std::vector<std::string>> sentences) {
  if (interrupt_ != nullptr) interrupt_->look();
  graph.clear();
  begin_graph(graph, false);
  std::vector<Annotation> found(sentences.size());
  std::vector<parser::Vectors> trees;
  std::vector<Expression> nodes;
  for (const std::vector<std::string>& words : sentences) {
    const States states = read(encode(words));
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::size_t output = 0; output < kOutputs; ++output)
        if (predicts(output)) nodes.push_back(scores(states, i, output));
    trees.push_back(states.trees);
  }
  std::vector<parser::Arcs> arcs;
  if (trees_) arcs = trees_->parse(trees, false);  // computes all in batches
  auto node = nodes.begin();
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    Annotation& sentence = found[s];
    sentence.words = sentences[s];
    for (const std::string& word : sentence.words) {
      Columns columns;
      std::array<std::vector<float>, kOutputs> values;
      for (std::size_t output = 0; output < kOutputs; ++output) {
        values[output].resize(description_.classes[output].size());
        if (!predicts(output)) continue;
        values[output] = as_vector((node++)->value());
        require_scores(values[output]);
      }
      const auto best = best_classes(values, description_.tags);
      for (std::size_t output = 0; output < kOutputs; ++output)
        columns[output] = description_.classes[output][best[output]];
      if (std::string& lemma = columns[kLemma]; lemma != "_")
        lemma = apply_edit_script(lemma, word).value_or(word);
      if (lexicon_) look_up(word, values[kUpos], columns);
      for (std::size_t output = 0; output < kOutputs; ++output)
        sentence.columns[output].push_back(std::move(columns[output]));
    }
    if (!trees_) continue;
    sentence.heads = arcs[s].heads;
    // In UD the label is root where the head is 0, and nowhere else.
    for (std::size_t word = 0; word < sentence.size(); ++word) {
      const std::string& label = description_.labels[arcs[s].labels[word]];
      sentence.labels.push_back(sentence.heads[word] == 0 ? "root"
                                : label == "root"         ? "dep"
                                                          : label);
    }
  }
  return found;
}

}  // namespace annotate
