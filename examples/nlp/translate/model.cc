#include "examples/nlp/translate/model.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "examples/nlp/common/check.h"
#include "examples/nlp/common/share_out.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace translate {
namespace {

using dynet::Expression;

constexpr std::size_t kTextsPerGraph = 32;
constexpr const char* kEnd = "</s>";

/// Tokens with at least `min_count` occurrences, after unknown and end.
std::vector<std::string> vocabulary(const std::vector<std::vector<std::string>>& texts,
                                    unsigned min_count) {
  std::map<std::string, std::size_t> counts;
  for (const auto& text : texts)
    for (const std::string& token : text) ++counts[token];
  std::vector<std::pair<std::string, std::size_t>> often;
  for (const auto& [token, count] : counts)
    if (count >= min_count && token != nlp::kUnknown && token != kEnd)
      often.push_back({token, count});
  std::stable_sort(often.begin(), often.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> tokens = {nlp::kUnknown, kEnd};
  for (const auto& each : often) tokens.push_back(each.first);
  return tokens;
}

Ids numbers(const std::vector<std::string>& tokens, const dynet::Dict& dict) {
  Ids ids;
  for (const std::string& token : tokens) ids.push_back(static_cast<unsigned>(dict.convert(token)));
  return ids;
}

}  // namespace

void TokenSettings::check() const {
  nlp::require_named("source unit", kUnits, source);
  nlp::require_named("target unit", kUnits, target);
}

void Description::check() const {
  nlp::require_named("format", kFormats, format);
  split.check();
  tokens.check();
  network.check();
  for (const std::vector<std::string>* vocabulary : {&source, &target}) {
    nlp::require_known_texts("tokens", *vocabulary, 2);
    nlp::require((*vocabulary)[kEndToken] == kEnd, "its second token does not end texts");
  }
  for (std::size_t n = 0; n < longest.size(); ++n)
    nlp::require(longest[n] <= kLongest && (n == 0 || longest[n] >= longest[n - 1]),
                 "its longest translation of " + std::to_string(n) + " tokens has " +
                     std::to_string(longest[n]));
}

Description describe(Description d, const Corpus& train) {
  using Texts = std::vector<std::vector<std::string>>;
  const auto side = [&](std::string Pair::*text, Unit unit, Pieces& pieces) {
    if (unit == Unit::kPiece) pieces = Pieces(words_of(train, text), d.tokens.pieces);
    Texts all;
    for (const Pair& pair : train) all.push_back(tokens_of(pair.*text, unit, pieces));
    return all;
  };
  const Texts source = side(&Pair::source, d.tokens.source, d.source_pieces);
  const Texts target = side(&Pair::target, d.tokens.target, d.target_pieces);
  d.source = vocabulary(source, d.tokens.min_count);
  d.target = vocabulary(target, d.tokens.min_count);
  d.longest.clear();
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (d.longest.size() <= source[i].size()) d.longest.resize(source[i].size() + 1);
    std::size_t& most = d.longest[source[i].size()];
    most = std::max(most, std::min(target[i].size(), kLongest));
  }
  for (std::size_t n = 1; n < d.longest.size(); ++n)
    d.longest[n] = std::max(d.longest[n], d.longest[n - 1]);
  return d;
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start),
      source_(nlp::make_dict(description_.source)),
      target_(nlp::make_dict(description_.target)) {
  const auto source = static_cast<unsigned>(description_.source.size()),
             target = static_cast<unsigned>(description_.target.size());
  if (description_.network.kind == Kind::kLstm)
    lstm_.emplace_back(description_.network, source, target, parameters_);
  else
    transformer_.emplace_back(description_.network, source, target, parameters_);
}

std::vector<std::string> Model::source_tokens(const std::string& text) const {
  return tokens_of(text, description_.tokens.source, description_.source_pieces);
}

Source Model::encode_source(const std::string& text) const {
  const std::vector<std::string> tokens = source_tokens(text);
  Source source{numbers(tokens, source_), {}};
  if (description_.network.copy) source.to_copy = extend_vocabulary(target_, tokens);
  return source;
}

Ids Model::encode_target(const std::string& text, const Source& source) const {
  const std::vector<std::string> tokens =
      tokens_of(text, description_.tokens.target, description_.target_pieces);
  Ids ids = numbers(tokens, target_);
  const std::vector<std::string>& others = source.to_copy.others;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = std::find(others.begin(), others.end(), tokens[i]);
    if (place != others.end())
      ids[i] =
          static_cast<unsigned>(target_.size() + static_cast<std::size_t>(place - others.begin()));
  }
  return ids;
}

std::size_t Model::most_tokens(std::size_t source) const {
  const std::vector<std::size_t>& longest = description_.longest;
  const std::size_t seen = longest.empty() ? 0 : longest[std::min(source, longest.size() - 1)];
  return std::min({2 * std::max(source + 5, seen), kLongest, kMostForEach * (source + 1)});
}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  for (LstmNetwork& network : lstm_) network.begin_graph(graph, training);
  for (TransformerNetwork& network : transformer_) network.begin_graph(graph, training);
}

Expression Model::loss(const Source& source, const Ids& target, float smoothing, const Ids& read) {
  return lstm_.empty() ? transformer_[0].loss(source, target, smoothing, read)
                       : lstm_[0].loss(source, target, smoothing, read);
}

Expression Model::scores(const Source& source, const Ids& target) {
  const Ids read = beginnings(target);
  return lstm_.empty() ? transformer_[0].scores(source, read) : lstm_[0].scores(source, read);
}

template <class Network>
std::vector<std::vector<Answer>> Model::search(Network& network, std::span<const std::string> texts,
                                               const SearchSettings& how) {
  std::vector<Source> sources;
  std::vector<typename Network::State> starts;
  dynet::BeamSettings settings;
  for (const std::string& text : texts) {
    sources.push_back(encode_source(text));
    settings.max_lengths.push_back(most_tokens(sources.back().tokens.size()));
    starts.push_back(network.start(sources.back()));
  }
  settings.width = how.beam;
  settings.n = how.n;
  settings.begin = settings.end = kEndToken;
  settings.normalization = dynet::LengthNormalization::kPower;
  settings.alpha = how.alpha;
  const auto step = [&](auto& state, unsigned last) { return network.step(state, last); };
  const auto found = dynet::beam_search(std::move(starts), step, settings);
  std::vector<std::vector<Answer>> answers(texts.size());
  const std::vector<std::string>& words = description_.target;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const auto& hypothesis : found[i]) {
      Answer answer{{}, hypothesis.score, {}, {}};
      for (const unsigned token : hypothesis.tokens)
        answer.tokens.push_back(
            token < words.size() ? words[token] : sources[i].to_copy.others[token - words.size()]);
      answer.text = text_of(answer.tokens, description_.tokens.target);
      if constexpr (std::is_same_v<Network, LstmNetwork>)
        for (const Expression& weights : hypothesis.state.looked)
          answer.attention.push_back(as_vector(weights.value()));
      answers[i].push_back(std::move(answer));
    }
  return answers;
}

std::vector<std::vector<Answer>> Model::translate(dynet::ComputationGraph& graph,
                                                  std::span<const std::string> texts,
                                                  const SearchSettings& how) {
  graph.clear();
  begin_graph(graph, false);
  return lstm_.empty() ? search(transformer_[0], texts, how) : search(lstm_[0], texts, how);
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name,
                const SearchSettings& how) {
  // Texts of similar length need equally many steps.
  std::vector<std::size_t> sizes;
  for (const auto& pair : corpus) sizes.push_back(pair.source.size());
  const auto answers = nlp::predict_by_size(
      model, sizes, kTextsPerGraph, name, "sentences",
      [&](Model& mine, dynet::ComputationGraph& graph, std::span<const std::size_t> places) {
        std::vector<std::string> texts;
        for (const std::size_t place : places) texts.push_back(corpus[place].source);
        return mine.translate(graph, texts, how);
      });
  Report report{name, {}, {}};
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    report.model.add(answers[i].empty() ? "" : answers[i][0].text, corpus[i].target);
    report.baseline.add(corpus[i].source, corpus[i].target);
  }
  return report;
}

Report evaluate(Model& model, const Corpus& corpus, const std::string& name) {
  SearchSettings greedy;
  greedy.beam = 1;
  return evaluate(model, corpus, name, greedy);
}

}  // namespace translate
