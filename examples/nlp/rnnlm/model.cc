#include "model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "examples/nlp/common/check.h"

namespace rnnlm {
namespace {

constexpr float kImpossible = -1e9f;

// The network that `settings.network` does not select has no parameters.
dynet::LSTMBuilder make_lstm(const ModelSettings& settings,
                             dynet::ParameterCollection& parameters) {
  if (settings.network != Network::kLstm) return {};
  return {settings.layers, settings.word, settings.hidden, parameters};
}

Transformer make_transformer(const ModelSettings& settings,
                             dynet::ParameterCollection& parameters) {
  if (settings.network != Network::kTransformer) return {};
  return {settings.transformer, settings.layers, settings.hidden, parameters};
}

}  // namespace

LogUniform::LogUniform(unsigned n) : n_(n), log_range_(std::log(n + 1.0)) {}

unsigned LogUniform::draw(nlp::Random& random) const {
  const double place = std::exp(random.uniform() * log_range_) - 1.0;
  return std::min(n_ - 1, static_cast<unsigned>(place));
}

double LogUniform::log_probability(unsigned k) const {
  return std::log(std::log1p(1.0 / (k + 1.0)) / log_range_);
}

Softmax::Softmax(Loss loss, unsigned hidden, unsigned tokens,
                 dynet::ParameterCollection& parameters)
    : hidden_(hidden), tokens_(tokens), proposal_(tokens), loss_(loss) {
  if (loss_ == Loss::kFull) {
    weight_ = parameters.add_parameters({tokens, hidden}, "softmax-weight");
    bias_ = parameters.add_parameters({tokens}, dynet::ParameterInitConst(0), "softmax-bias");
  } else {
    weight_rows_ = parameters.add_lookup_parameters(tokens, {hidden}, "softmax-weight");
    bias_rows_ = parameters.add_lookup_parameters(tokens, {1u}, dynet::ParameterInitConst(0),
                                                  "softmax-bias");
  }
}

void Softmax::new_graph(dynet::ComputationGraph& graph) {
  graph_ = &graph;
  ready_ = false;
}

dynet::Expression Softmax::scores(const dynet::Expression& h) {
  if (!ready_) {
    if (loss_ == Loss::kFull) {
      weight_node_ = parameter(*graph_, weight_);
      bias_node_ = parameter(*graph_, bias_);
    } else {
      weight_node_ = transpose(parameter(*graph_, weight_rows_));
      bias_node_ = reshape(parameter(*graph_, bias_rows_), {tokens_});
    }
    ready_ = true;
  }
  return dynet::affine_transform({bias_node_, weight_node_, h});
}

dynet::Expression Softmax::losses(const dynet::Expression& h,
                                  const std::vector<unsigned>& targets) {
  return pickneglogsoftmax(scores(h), targets);
}

dynet::Expression Softmax::sampled_losses(const dynet::Expression& h,
                                          const std::vector<unsigned>& targets, unsigned samples,
                                          nlp::Random& random) {
  const auto count = static_cast<unsigned>(targets.size());
  std::vector<unsigned> drawn(samples);
  std::vector<float> shifts(samples), repeats;
  for (unsigned k = 0; k < samples; ++k) {
    drawn[k] = proposal_.draw(random);
    const double expected =
        std::log(static_cast<double>(samples)) + proposal_.log_probability(drawn[k]);
    shifts[k] = static_cast<float>(-expected);
  }
  repeats.reserve(std::size_t{count} * samples);
  for (unsigned target : targets) {
    for (unsigned token : drawn) repeats.push_back(token == target ? kImpossible : 0.0f);
  }

  const dynet::Expression rows =
      transpose(reshape(lookup(*graph_, weight_rows_, drawn), {hidden_, samples}));
  const dynet::Expression biases =
      reshape(lookup(*graph_, bias_rows_, drawn), {samples}) + input(*graph_, {samples}, shifts);
  const dynet::Expression others = dynet::affine_transform({biases, rows, h}) +
                                   input(*graph_, dynet::Dim({samples}, count), repeats);
  const dynet::Expression right =
      dot_product(lookup(*graph_, weight_rows_, targets), h) + lookup(*graph_, bias_rows_, targets);
  return pickneglogsoftmax(dynet::concatenate({right, others}), std::vector<unsigned>(count, 0));
}

void ReadOptions::check() const {
  nlp::require_number("format", static_cast<double>(format), 0,
                      static_cast<double>(Format::kBible));
  nlp::require_named("level", kLevels, level);
}

void TransformerShape::check() const {
  nlp::require_number("number of heads", heads, 1, 256);
  nlp::require_size("feed-forward size", feed_forward);
  nlp::require_named("kind of positions", kPositions, positions);
  nlp::require_number("context", context, 1, 1e5);
}

void ModelSettings::check() const {
  nlp::require_size("word size", word);
  nlp::require_size("hidden size", hidden);
  nlp::require_layers(layers);
  nlp::require_dropout(dropout);
  nlp::require_named("loss", kLosses, loss);
  nlp::require_number("number of samples", samples, 1, kMostSamples);
  nlp::require_named("network", kNetworks, network);
  transformer.check();
  if (network == Network::kLstm) return;
  const unsigned heads = transformer.heads,
                 even = transformer.positions == Positions::kRotary ? 2 : 1;
  nlp::require(word == hidden && hidden % heads == 0 && hidden / heads % even == 0,
               "its sizes fit no transformer of " + std::to_string(heads) + " heads: word " +
                   std::to_string(word) + ", hidden " + std::to_string(hidden));
}

void DataSettings::check() const {
  read.check();
  split.check();
  nlp::require_number("order of n-grams", ngram, 0, 9);
}

void Description::check() const {
  data.check();
  settings.check();
  nlp::require_texts("tokens", tokens, 2);
  ngram.check();
  nlp::require(ngram.order() == 0 || ngram.vocabulary() == tokens.size(),
               "its n-grams are of " + std::to_string(ngram.vocabulary()) + " tokens, and it has " +
                   std::to_string(tokens.size()));
}

Description describe(const DataSettings& data, const ModelSettings& settings, const Corpus& train) {
  Description description;
  description.data = data;
  description.settings = settings;
  description.tokens = collect_tokens(train, data.min_count);
  const Vocabulary vocabulary(description.tokens);
  std::vector<Ids> ids;
  for (const Sentence& sentence : train) ids.push_back(vocabulary.encode(sentence));
  description.ngram = Ngram(data.ngram, vocabulary.size(), ids);
  return description;
}

Model::Model(Description description, const nlp::Start& start)
    : DescribedModel(std::move(description), start),
      vocabulary_(description_.tokens),
      table_(parameters_.add_lookup_parameters(vocabulary_.size(), {description_.settings.word},
                                               "words")),
      lstm_(make_lstm(description_.settings, parameters_)),
      transformer_(make_transformer(description_.settings, parameters_)),
      softmax_(description_.settings.loss, description_.settings.hidden, vocabulary_.size(),
               parameters_) {}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  graph_ = &graph;
  training_ = training;
  const float rate = training ? description_.settings.dropout : 0.0f;
  if (is_lstm()) {
    lstm_.set_dropout(rate, 0.0f);
    lstm_.new_graph(graph);
  } else {
    transformer_.new_graph(graph, rate);
  }
  softmax_.new_graph(graph);
}

void Model::begin_sentences(const Memory& memory) {
  if (!is_lstm()) return transformer_.start();
  std::vector<dynet::Expression> start;
  for (const std::vector<float>& part : memory.parts) {
    const auto size = static_cast<unsigned>(part.size()) / memory.batch;
    start.push_back(input(*graph_, dynet::Dim({size}, memory.batch), part));
  }
  lstm_.start_new_sequence(start);
}

std::size_t Model::steps_together(std::size_t most) const {
  return is_lstm() ? most : description_.settings.transformer.context;
}

dynet::Expression Model::step(const std::vector<unsigned>& tokens) {
  const dynet::Expression vectors = lookup(*graph_, table_, tokens);
  return dropped(is_lstm() ? lstm_.add_input(vectors) : transformer_.read(vectors));
}

dynet::Expression Model::dropped(const dynet::Expression& output) const {
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(output, rate) : output;
}

dynet::Expression Model::outputs_of_piece(const Minibatch& batch, std::size_t begin,
                                          std::size_t end) {
  const std::size_t steps = end - begin, sentences = batch.size();
  std::vector<unsigned> inputs(steps * sentences);  // sentence by sentence
  std::vector<unsigned> order;                      // indices in `inputs`, step by step
  for (std::size_t t = 0; t < steps; ++t) {
    const std::vector<unsigned> tokens = batch.inputs(begin + t);
    for (std::size_t s = 0; s < sentences; ++s) {
      const std::size_t place = s * steps + t;
      inputs[place] = tokens[s];
      order.push_back(static_cast<unsigned>(place));
    }
  }
  const unsigned size = description_.settings.hidden;
  const dynet::Dim columns({size, static_cast<unsigned>(steps)}, static_cast<unsigned>(sentences));
  const dynet::Expression read =
      transformer_.read(reshape(lookup(*graph_, table_, inputs), columns));
  const dynet::Dim vectors({size}, static_cast<unsigned>(inputs.size()));
  return pick_batch_elems(reshape(dropped(read), vectors), order);
}

dynet::Expression Model::outputs(const Minibatch& batch, std::size_t begin, std::size_t end) {
  std::vector<dynet::Expression> parts;
  for (std::size_t t = begin; t < end;) {
    if (is_lstm()) {
      parts.push_back(step(batch.inputs(t++)));
    } else {
      // Padding follows the tokens of a sentence, so causal attention ignores it.
      const std::size_t stop = std::min(end, t + transformer_.room());
      parts.push_back(outputs_of_piece(batch, t, stop));
      t = stop;
    }
  }
  return concatenate_to_batch(parts);
}

dynet::Expression Model::losses(const Minibatch& batch, std::size_t begin, std::size_t end,
                                nlp::Random* random) {
  const dynet::Expression all = outputs(batch, begin, end);
  const std::vector<unsigned> targets = batch.targets(begin, end);
  const ModelSettings& settings = description_.settings;
  const dynet::Expression losses =
      random != nullptr && settings.loss == Loss::kSampled
          ? softmax_.sampled_losses(all, targets, settings.samples, *random)
          : softmax_.losses(all, targets);
  const auto count = static_cast<unsigned>(targets.size());
  return cmult(losses, input(*graph_, dynet::Dim({1}, count), batch.mask(begin, end)));
}

Memory Model::memory() const {
  Memory memory;
  if (!is_lstm()) return memory;
  for (const dynet::Expression& part : lstm_.final_s()) {
    memory.batch = part.dim().batch_elems();
    memory.parts.push_back(as_vector(part.value()));
  }
  return memory;
}

}  // namespace rnnlm
