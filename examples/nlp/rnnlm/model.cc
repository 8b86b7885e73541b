#include "model.h"

#include <utility>

namespace rnnlm {
namespace {

dynet::ParameterCollection seeded_collection(std::uint64_t seed) {
  dynet::ParameterCollection collection;
  collection.set_seed(seed);
  return collection;
}

}  // namespace

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

Model::Model(Description description, std::uint64_t seed)
    : description_(std::move(description)),
      vocabulary_(description_.tokens),
      parameters_(seeded_collection(seed)),
      table_(parameters_.add_lookup_parameters(vocabulary_.size(), {description_.settings.word},
                                               "words")),
      lstm_(description_.settings.layers, description_.settings.word, description_.settings.hidden,
            parameters_),
      softmax_(description_.settings.loss, description_.settings.hidden, vocabulary_.size(),
               parameters_) {}

void Model::begin_graph(dynet::ComputationGraph& graph, bool training) {
  place(graph);
  graph_ = &graph;
  training_ = training;
  lstm_.set_dropout(training ? description_.settings.dropout : 0.0f, 0.0f);
  lstm_.new_graph(graph);
  softmax_.new_graph(graph);
}

void Model::begin_sentences(const Memory& memory) {
  std::vector<dynet::Expression> start;
  for (const std::vector<float>& part : memory.parts) {
    const auto size = static_cast<unsigned>(part.size()) / memory.batch;
    start.push_back(input(*graph_, dynet::Dim({size}, memory.batch), part));
  }
  lstm_.start_new_sequence(start);
}

dynet::Expression Model::step(const std::vector<unsigned>& tokens) {
  const dynet::Expression output = lstm_.add_input(lookup(*graph_, table_, tokens));
  const float rate = description_.settings.dropout;
  return training_ && rate > 0 ? dropout(output, rate) : output;
}

dynet::Expression Model::losses(const Minibatch& batch, std::size_t begin, std::size_t end,
                                nlp::Random* random) {
  std::vector<dynet::Expression> outputs;
  for (std::size_t t = begin; t < end; ++t) outputs.push_back(step(batch.inputs(t)));
  const dynet::Expression all = concatenate_to_batch(outputs);
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
  for (const dynet::Expression& part : lstm_.final_s()) {
    memory.batch = part.dim().batch_elems();
    memory.parts.push_back(as_vector(part.value()));
  }
  return memory;
}

}  // namespace rnnlm
