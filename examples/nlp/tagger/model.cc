#include "model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace tagger {

using namespace nlp;

namespace {

/// Values with a vector, in order of first appearance, after the unknown one.
std::vector<std::string> collect_views(const Corpus& train, const std::string& feature) {
  if (reads_characters(feature)) return known_characters_of(train);
  std::map<std::string, std::size_t> counts;
  std::vector<std::string> order;
  for (const Sentence& sentence : train) {
    for (const std::string& word : sentence.words) {
      std::string view = view_of(word, feature);
      if (++counts[view] == 1) order.push_back(std::move(view));
    }
  }
  const std::size_t needed = identifies_word(feature) ? 1 : 2;
  std::vector<std::string> views = {kUnknown};
  for (const std::string& view : order) {
    if (view != kUnknown && counts[view] >= needed) views.push_back(view);
  }
  return views;
}

/// Index of the largest of each `count` values.
std::vector<unsigned> largest_of(const std::vector<float>& values, std::size_t count) {
  std::vector<unsigned> best;
  for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(count))
    best.push_back(
        static_cast<unsigned>(std::max_element(at, at + static_cast<std::ptrdiff_t>(count)) - at));
  return best;
}

/// Element `best`, the largest, of the softmax of the scores.
float softmax_of_largest(const float* scores, std::size_t count, unsigned best) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(scores[i] - scores[best]);
  return 1 / sum;
}

unsigned input_dim(const ModelSettings& settings) {
  unsigned dim = 0;
  for (const Feature& feature : settings.features) dim += feature.dim;
  return dim;
}

/// First feature that identifies words; must exist.
std::size_t word_feature(const ModelSettings& settings) {
  const auto found =
      std::find_if(settings.features.begin(), settings.features.end(),
                   [](const Feature& feature) { return identifies_word(feature.name); });
  return static_cast<std::size_t>(found - settings.features.begin());
}

bool allows(const dynet::TagConstraints& c, const std::vector<unsigned>& tags) {
  if (tags.empty()) return true;
  for (std::size_t i = 1; i < tags.size(); ++i)
    if (!c.follows[tags[i] * c.tags + tags[i - 1]]) return false;
  return c.begins[tags.front()] && c.ends[tags.back()];
}

/// True if at least one tag sequence is allowed.
bool allows_some(const dynet::TagConstraints& c) {
  std::vector<bool> reached = c.begins;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < c.tags; ++i)
      for (std::size_t j = 0; reached[i] && j < c.tags; ++j)
        if (c.follows[i + c.tags * j] && !reached[j]) more = reached[j] = true;
  }
  for (std::size_t i = 0; i < c.tags; ++i)
    if (reached[i] && c.ends[i]) return true;
  return false;
}

/// True if some tag may repeat through a whole sentence, so that every length has an allowed
/// sequence.
bool allows_any_length(const dynet::TagConstraints& c) {
  for (std::size_t i = 0; i < c.tags; ++i)
    if (c.begins[i] && c.ends[i] && c.follows[i + c.tags * i]) return true;
  return false;
}

/// Constraints of the first scheme that all training sentences follow; none if no scheme fits.
dynet::TagConstraints constraints_of(const std::vector<std::string>& tags, const Corpus& train) {
  const dynet::Dict dict = make_dict(tags);
  for (const auto scheme : {dynet::TagScheme::bmes, dynet::TagScheme::bioes, dynet::TagScheme::bio,
                            dynet::TagScheme::iob1}) {
    try {
      const dynet::TagConstraints allowed = dynet::tag_constraints(scheme, tags);
      if (!allows_any_length(allowed)) continue;
      const auto keeps_to_it = [&](const Sentence& sentence) {
        std::vector<unsigned> numbers;
        for (const std::string& tag : sentence.tags)
          numbers.push_back(static_cast<unsigned>(dict.convert(tag)));
        return allows(allowed, numbers);
      };
      if (std::all_of(train.begin(), train.end(), keeps_to_it)) return allowed;
    } catch (const dynet::ArgumentError&) {  // tags of another scheme
    }
  }
  return {};
}

/// Converts a batch of score vectors to the columns of a matrix.
dynet::Expression as_columns(const dynet::Expression& scores) {
  const dynet::Dim d = scores.dim();
  return reshape(scores, dynet::Dim({d.rows(), d.bd}));
}

}  // namespace

void ModelSettings::check() const {
  const std::string text = features_text(features);
  require(parse_features(text) == features, "its features are " + in_quotes(text));
  require_size("hidden size", hidden);
  require_layers(layers);
  if (mlp > 0) require_size("tanh layer", mlp);
  require_dropout(dropout);
}

void DataSettings::check() const {
  require_number("format", static_cast<double>(format), 0, static_cast<double>(Format::kParallel));
  split.check();
}

void Description::check() const {
  data.check();
  settings.check();
  require(views.size() == settings.features.size(),
          "it has views of " + std::to_string(views.size()) + " features and not of " +
              std::to_string(settings.features.size()));
  for (std::size_t f = 0; f < views.size(); ++f) {
    const std::string& feature = settings.features[f].name;
    require_known_texts("views of " + feature, views[f], reads_characters(feature) ? 2 : 1);
  }
  require_texts("tags", tags);
  require_number("kind of tags", static_cast<double>(kind), 0,
                 static_cast<double>(TagKind::kMarks));
  const std::size_t n = allowed.tags;
  require((n == 0 || n == tags.size()) && allowed.follows.size() == n * n &&
              allowed.begins.size() == n && allowed.ends.size() == n,
          "what tags may follow one another is not said of its " + std::to_string(tags.size()) +
              " tags");
  require(n == 0 || allows_some(allowed), "it allows no sequence of tags");
}

Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train,
                     const WordVectors& vectors) {
  Description description;
  description.data = data;
  description.settings = settings;
  for (const Feature& feature : settings.features) {
    description.views.push_back(collect_views(train, feature.name));
  }
  if (!vectors.words.empty()) {
    std::vector<std::string>& views = description.views[word_feature(settings)];
    views = with_words_of(vectors, std::move(views));
  }
  std::set<std::string> tags;
  for (const Sentence& sentence : train) tags.insert(sentence.tags.begin(), sentence.tags.end());
  description.tags.assign(tags.begin(), tags.end());
  if (is_running_text(data.format)) {
    description.kind = TagKind::kMarks;
  } else if (are_span_tags(description.tags)) {
    description.kind = TagKind::kSpans;
  }
  description.baseline = Baseline(train);
  if (settings.crf && description.kind == TagKind::kSpans)
    description.allowed = constraints_of(description.tags, train);
  return description;
}

Model::Model(Description description, const Start& start)
    : DescribedModel(std::move(description), start),
      tag_dict_(make_dict(description_.tags)),
      forward_(description_.settings.layers, input_dim(description_.settings),
               description_.settings.hidden, parameters_),
      backward_(description_.settings.layers, input_dim(description_.settings),
                description_.settings.hidden, parameters_) {
  const ModelSettings& settings = description_.settings;
  for (std::size_t f = 0; f < settings.features.size(); ++f) {
    const auto& [name, dim] = settings.features[f];
    const std::vector<std::string>& views = description_.views[f];
    dicts_.push_back(make_dict(views));
    tables_.emplace_back();
    encoders_.emplace_back();
    if (reads_characters(name)) {
      const auto kind =
          name == "charcnn" ? CharacterEncoder::Kind::kCnn : CharacterEncoder::Kind::kLstm;
      encoders_.back() = CharacterEncoder(kind, dim, views.size(), parameters_);
    } else {
      tables_.back() =
          parameters_.add_lookup_parameters(static_cast<unsigned>(views.size()), {dim}, name);
    }
  }
  unsigned dim = 2 * settings.hidden;
  if (settings.mlp > 0) {
    mlp_weight_ = parameters_.add_parameters({settings.mlp, dim}, "mlp-weight");
    mlp_bias_ =
        parameters_.add_parameters({settings.mlp}, dynet::ParameterInitConst(0), "mlp-bias");
    dim = settings.mlp;
  }
  const auto tags = static_cast<unsigned>(description_.tags.size());
  weight_ = parameters_.add_parameters({tags, dim}, "tag-weight");
  bias_ = parameters_.add_parameters({tags}, dynet::ParameterInitConst(0), "tag-bias");
  if (settings.crf)
    crf_ = dynet::ChainCrf(parameters_, dynet::ChainCrf::Settings{tags, description_.allowed});
}

Encoded Model::encode_words(std::span<const std::string> words) const {
  Encoded encoded;
  encoded.words = words.size();
  encoded.views.resize(dicts_.size());
  encoded.characters.resize(dicts_.size());
  for (std::size_t f = 0; f < dicts_.size(); ++f) {
    const std::string& feature = description_.settings.features[f].name;
    for (const std::string& word : words) {
      if (reads_characters(feature))
        encoded.characters[f].push_back(character_numbers(word, dicts_[f]));
      else
        encoded.views[f].push_back(
            static_cast<unsigned>(dicts_[f].convert(view_of(word, feature))));
    }
  }
  return encoded;
}

Encoded Model::encode(const Sentence& sentence) const {
  Encoded encoded = encode_words(sentence.words);
  encoded.tags.reserve(sentence.tags.size());
  for (const std::string& tag : sentence.tags) {
    encoded.tags.push_back(tag_dict_.contains(tag) ? static_cast<unsigned>(tag_dict_.convert(tag))
                                                   : 0u);
  }
  return encoded;
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  training_ = training;
  forward_.new_graph(graph);
  backward_.new_graph(graph);
  for (std::size_t f = 0; f < encoders_.size(); ++f)
    if (reads_characters(description_.settings.features[f].name)) encoders_[f].begin_graph(graph);
  if (description_.settings.mlp > 0) {
    mlp_weight_node_ = parameter(graph, mlp_weight_);
    mlp_bias_node_ = parameter(graph, mlp_bias_);
  }
  weight_node_ = parameter(graph, weight_);
  bias_node_ = parameter(graph, bias_);
  if (description_.settings.crf) crf_.new_graph(graph);
}

dynet::Expression Model::scores(dynet::ComputationGraph& graph, const Encoded& sentence,
                                const std::vector<bool>& hide) {
  const ModelSettings& settings = description_.settings;
  const bool drop = training_ && settings.dropout > 0;
  const std::size_t words = sentence.size();

  // One batch of all words: one node per feature instead of one per word.
  std::vector<dynet::Expression> vectors;
  for (std::size_t f = 0; f < tables_.size(); ++f) {
    if (reads_characters(settings.features[f].name)) {
      std::vector<dynet::Expression> read;
      for (const std::vector<unsigned>& characters : sentence.characters[f])
        read.push_back(encoders_[f].encode(characters));
      vectors.push_back(concatenate_to_batch(read));
      continue;
    }
    std::vector<unsigned> views = sentence.views[f];
    if (identifies_word(settings.features[f].name)) {
      for (std::size_t i = 0; i < hide.size() && i < words; ++i) {
        if (hide[i]) views[i] = 0;
      }
    }
    vectors.push_back(lookup(graph, tables_[f], views));
  }
  dynet::Expression input = vectors.size() == 1 ? vectors[0] : concatenate(vectors);
  if (drop) input = dropout(input, settings.dropout);

  forward_.start_new_sequence();
  backward_.start_new_sequence();
  const dynet::Expression columns = as_columns(input);
  const dynet::Expression read = dynet::concatenate(
      {forward_.transduce_columns(columns), backward_.transduce_columns(columns, true)});
  dynet::Expression state =
      reshape(read, dynet::Dim({read.dim().rows()}, static_cast<unsigned>(words)));
  if (drop) state = dropout(state, settings.dropout);
  if (settings.mlp > 0) {
    state = tanh(dynet::affine_transform({mlp_bias_node_, mlp_weight_node_, state}));
  }
  return dynet::affine_transform({bias_node_, weight_node_, state});
}

dynet::Expression Model::loss(dynet::ComputationGraph& graph, const Encoded& sentence,
                              const std::vector<bool>& hide) {
  const dynet::Expression result = scores(graph, sentence, hide);
  if (description_.settings.crf) return -crf_.log_prob(as_columns(result), sentence.tags);
  return sum_batches(pickneglogsoftmax(result, sentence.tags));
}

/// Words of a sentence that are tagged in one graph, some of them as context alone.
struct Model::Piece {
  const std::vector<std::string>& sentence;
  std::size_t begin, end;
  Tagging& result;
  dynet::Expression scores = {}, marginals = {};

  std::size_t left() const { return begin - std::min(begin, kContext); }
  std::size_t right() const { return std::min(sentence.size(), end + kContext); }
};

std::vector<Tagging> Model::tag(dynet::ComputationGraph& graph,
                                const std::vector<const std::vector<std::string>*>& sentences,
                                bool probabilities) {
  std::vector<Tagging> results(sentences.size());
  std::vector<Piece> pieces;
  std::size_t words = 0;
  const auto finish = [&] {
    tag_pieces(graph, pieces, probabilities);
    pieces.clear();
    words = 0;
  };
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (std::size_t begin = 0; begin < sentences[i]->size(); begin += kPiece) {
      const std::size_t end = std::min(sentences[i]->size(), begin + kPiece);
      if (words + (end - begin) > kPiece) finish();
      pieces.push_back({*sentences[i], begin, end, results[i]});
      words += end - begin;
    }
  finish();
  return results;
}

void Model::tag_pieces(dynet::ComputationGraph& graph, std::vector<Piece>& pieces,
                       bool probabilities) {
  if (pieces.empty()) return;
  graph.clear();
  begin_graph(graph, false);
  const bool is_crf = description_.settings.crf;
  dynet::Expression last;
  for (Piece& p : pieces) {
    const auto words = std::span(p.sentence).subspan(p.left(), p.right() - p.left());
    last = p.scores = scores(graph, encode_words(words), {});
    if (is_crf) last = p.scores = as_columns(p.scores);
    if (is_crf && probabilities) last = p.marginals = crf_.marginals(p.scores);
  }
  graph.forward(last);  // and all before it
  const std::size_t count = description_.tags.size();
  for (const Piece& p : pieces) {
    const std::vector<float> values = as_vector(p.scores.value());
    if (!is_crf) require_scores(values);
    const std::vector<unsigned> best = is_crf ? crf_.best(p.scores) : largest_of(values, count);
    const std::vector<float> marginals =
        is_crf && probabilities ? as_vector(p.marginals.value()) : std::vector<float>();
    for (std::size_t i = p.begin - p.left(); i < p.end - p.left(); ++i) {
      p.result.tags.push_back(description_.tags[best[i]]);
      if (!probabilities) continue;
      const float* const own = (is_crf ? marginals : values).data() + i * count;
      p.result.probabilities.push_back(is_crf ? own[best[i]]
                                              : softmax_of_largest(own, count, best[i]));
    }
  }
}

std::vector<Candidate> Model::tag_best(dynet::ComputationGraph& graph,
                                       const std::vector<std::string>& words, std::size_t n) {
  if (words.size() > kPiece)
    throw UserError("the best tags of a sentence are found for at most " + std::to_string(kPiece) +
                    " words, not for " + std::to_string(words.size()));
  if (words.empty()) return {};
  graph.clear();
  begin_graph(graph, false);
  const dynet::Expression emissions = as_columns(scores(graph, encode_words(words), {}));
  const auto tags = static_cast<unsigned>(description_.tags.size());
  std::vector<dynet::ScoredTags> best;
  double log_z;
  if (description_.settings.crf) {
    best = crf_.best(emissions, n);
    log_z = static_cast<double>(as_scalar(crf_.log_partition(emissions).value()));
  } else {  // a chain without transition scores
    const dynet::Expression log_probabilities = log_softmax(emissions);
    best = dynet::best_sequences(
        {tags, static_cast<unsigned>(words.size()), as_vector(log_probabilities.value()),
         std::vector<float>(std::size_t{tags} * tags), std::vector<float>(tags),
         std::vector<float>(tags)},
        n);
    log_z = 0;
  }
  std::vector<Candidate> candidates;
  for (const dynet::ScoredTags& found : best) {
    Candidate& candidate = candidates.emplace_back();
    for (const unsigned tag : found.tags) candidate.tags.push_back(description_.tags[tag]);
    candidate.probability = std::min(1.0, std::exp(found.score - log_z));
  }
  return candidates;
}

void Model::use(const WordVectors& vectors, const Corpus& train, std::ostream& out) {
  const std::size_t f = word_feature(description_.settings);
  const std::size_t trained = collect_views(train, description_.settings.features[f].name).size();
  use_vectors(vectors, description_.views[f], trained, tables_[f], out);
}

void Model::report_unknown_tags(const Corpus& corpus, const std::string& name) const {
  if (description_.kind == TagKind::kMarks) return;  // marks are an open set
  UnknownNames unknown("tag", name);
  for (const Sentence& sentence : corpus) {
    for (const std::string& tag : sentence.tags) {
      if (!tag_dict_.contains(tag)) unknown.add(tag, sentence.line);
    }
  }
  unknown.report("it gets none of these words right");
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                std::vector<Tagging>* found) {
  const Description& description = model.description();
  Report report(name, description.kind);
  std::vector<const std::vector<std::string>*> sentences;
  for (const Sentence& sentence : corpus) sentences.push_back(&sentence.words);
  std::vector<Tagging> taggings = tag_all(model, sentences, found != nullptr, name);
  for (std::size_t i = 0; i < corpus.size(); ++i)
    report.add(corpus[i], taggings[i].tags, description.baseline);
  if (found != nullptr) *found = std::move(taggings);
  return report;
}

std::vector<Tagging> tag_all(Model& model,
                             const std::vector<const std::vector<std::string>*>& sentences,
                             bool probabilities, const std::string& name) {
  std::vector<std::size_t> sizes;
  for (const std::vector<std::string>* words : sentences) sizes.push_back(words->size());
  return predict_by_size(
      model, sizes, kTogether, name, "sentences",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const std::size_t> part) {
        std::vector<const std::vector<std::string>*> together;
        for (const std::size_t i : part) together.push_back(sentences[i]);
        return mine.tag(graph, together, probabilities);
      });
}

}  // namespace tagger
