// LSTM language model: word vectors of 128 numbers, 256 hidden units by default, a softmax over all
// words; one minibatch of parallel sentences.
#include <algorithm>
#include <random>
#include <utility>

#include "benchmarks/training/task.h"

namespace bench {
namespace {

using namespace dynet;

constexpr unsigned kWord = 128;

using Minibatch = std::vector<std::vector<unsigned>>;

struct Minibatches {
  std::vector<Minibatch> of;
  unsigned begin;  // first input of every sentence
};

class LanguageModel : public Task {
 public:
  LanguageModel(const Text& text, std::size_t minibatch, unsigned hidden)
      : data_(std::make_shared<const Minibatches>(
            Minibatches{make_minibatches(text, minibatch), text.words - 1})),
        words_(model.add_lookup_parameters(text.words, {kWord})),
        lstm_(1, kWord, hidden, model),
        output_(model.add_parameters({text.words, hidden})),
        bias_(model.add_parameters({text.words}, ParameterInitConst(0.0f))) {}

  std::unique_ptr<Task> share() const override { return std::make_unique<LanguageModel>(*this); }

  Expression build(ComputationGraph& cg, std::size_t first, std::size_t count) override {
    lstm_.new_graph(cg);
    const Expression output = parameter(cg, output_), bias = parameter(cg, bias_);
    losses_.clear();
    for (std::size_t k = first; k < first + count; ++k)
      add_losses(cg, output, bias, data_->of[k % data_->of.size()]);
    return sum(losses_);
  }

 private:
  void add_losses(ComputationGraph& cg, const Expression& output, const Expression& bias,
                  const Minibatch& sentences) {
    const auto batch = static_cast<unsigned>(sentences.size());
    std::vector<unsigned> previous(batch, data_->begin), current(batch);
    std::vector<float> mask(batch);
    std::vector<Expression> losses;
    lstm_.start_new_sequence();
    for (std::size_t t = 0; t < sentences.front().size(); ++t) {  // the first is the longest
      std::size_t live = 0;
      for (std::size_t k = 0; k < batch; ++k) {
        const bool inside = t < sentences[k].size();
        current[k] = inside ? sentences[k][t] : 0;
        mask[k] = inside ? 1.0f : 0.0f;
        live += inside;
      }
      const Expression h = lstm_.add_input(lookup(cg, words_, previous));
      Expression loss = linear_cross_entropy({bias, output, h}, current);
      if (live < batch) loss = cmult(loss, input(cg, Dim({1}, batch), mask));
      losses.push_back(loss);
      units += live;
      previous = current;
    }
    losses_.push_back(sum_batches(sum(losses)));
  }

  std::shared_ptr<const Minibatches> data_;
  LookupParameter words_;
  VanillaLSTMBuilder lstm_;
  Parameter output_, bias_;
  std::vector<Expression> losses_;
};

}  // namespace

std::vector<Minibatch> make_minibatches(const Text& text, std::size_t size) {
  Minibatch sorted = text.sentences;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Minibatch> all;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    if (k % size == 0) all.emplace_back();
    all.back().push_back(std::move(sorted[k]));
  }
  std::shuffle(all.begin(), all.end(), std::mt19937(1));
  return all;
}

std::unique_ptr<Task> make_language_model(const Text& text, std::size_t minibatch,
                                          unsigned hidden) {
  return std::make_unique<LanguageModel>(text, minibatch, hidden);
}

}  // namespace bench
