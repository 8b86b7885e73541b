// BiLSTM tagger: word vectors of 128 numbers, 2 x 50 hidden units by default, a tanh layer of 32, a
// tag per word; word by word, or with the columns of a matrix for the words of a sentence.
#include <utility>

#include "benchmarks/training/task.h"

namespace bench {
namespace {

using namespace dynet;

constexpr unsigned kWord = 128, kLayer = 32;

class Tagger : public Task {
 public:
  Tagger(TaggedText data, unsigned hidden, bool columns)
      : columns_(columns),
        data_(std::make_shared<const TaggedText>(std::move(data))),
        words_(model.add_lookup_parameters(data_->words, {kWord})),
        forward_(1, kWord, hidden, model),
        backward_(1, kWord, hidden, model),
        hidden_(model.add_parameters({kLayer, 2 * hidden})),
        output_(model.add_parameters({data_->tags, kLayer})) {}

  std::unique_ptr<Task> share() const override { return std::make_unique<Tagger>(*this); }

  Expression build(ComputationGraph& cg, std::size_t first, std::size_t count) override {
    forward_.new_graph(cg);
    backward_.new_graph(cg);
    const Expression hidden = parameter(cg, hidden_), output = parameter(cg, output_);
    losses_.clear();
    for (std::size_t k = first; k < first + count; ++k) {
      const TaggedSentence& s = data_->sentences[k % data_->sentences.size()];
      const std::size_t n = s.words.size();
      units += n;
      if (columns_) {
        losses_.push_back(loss_of_columns(cg, s, hidden, output));
        continue;
      }
      x_.resize(n);
      left_.resize(n);
      right_.resize(n);
      for (std::size_t t = 0; t < n; ++t) x_[t] = lookup(cg, words_, s.words[t]);
      forward_.start_new_sequence();
      for (std::size_t t = 0; t < n; ++t) left_[t] = forward_.add_input(x_[t]);
      backward_.start_new_sequence();
      for (std::size_t t = n; t-- > 0;) right_[t] = backward_.add_input(x_[t]);
      for (std::size_t t = 0; t < n; ++t) {
        const Expression h = tanh(hidden * concatenate({left_[t], right_[t]}));
        losses_.push_back(linear_cross_entropy({output, h}, s.tags[t]));
      }
    }
    return sum(losses_);
  }

 private:
  Expression loss_of_columns(ComputationGraph& cg, const TaggedSentence& s,
                             const Expression& hidden, const Expression& output) {
    const auto n = static_cast<unsigned>(s.words.size());
    const Expression x = reshape(lookup(cg, words_, s.words), {kWord, n});
    forward_.start_new_sequence();
    backward_.start_new_sequence();
    const Expression y =
        concatenate({forward_.transduce_columns(x), backward_.transduce_columns(x, true)});
    const Expression h = reshape(tanh(hidden * y), Dim({kLayer}, n));  // a batch of words
    return sum_batches(linear_cross_entropy({output, h}, s.tags));
  }

  bool columns_;
  std::shared_ptr<const TaggedText> data_;
  LookupParameter words_;
  VanillaLSTMBuilder forward_, backward_;
  Parameter hidden_, output_;
  std::vector<Expression> x_, left_, right_, losses_;
};

}  // namespace

std::unique_ptr<Task> make_tagger(TaggedText data, unsigned hidden, bool columns) {
  return std::make_unique<Tagger>(std::move(data), hidden, columns);
}

}  // namespace bench
