#pragma once

#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/all_values.h"

namespace dynet::test {

/// A tagger in three parts, each with its own device; null: the device of the graph.
class SplitModel {
 public:
  struct Devices {
    Device *words = nullptr, *rnn = nullptr, *out = nullptr;
  };

  explicit SplitModel(const Devices& at) : at_(at) {
    ParameterCollection rnn = pc.add_subcollection("rnn"), out = pc.add_subcollection("out");
    rnn.set_device(at.rnn);
    lstm = VanillaLSTMBuilder(2, 6, 8, rnn);
    w = out.add_parameters({5, 8}, "w");
    b = out.add_parameters({5}, "b");
    out.set_device(at.out);
    words = at.words ? pc.add_lookup_parameters(20, {6}, "words", at.words)
                     : pc.add_lookup_parameters(20, {6}, "words");
  }

  /// Loss of one sentence or a batch of two. Each word's scores are part of the next word's input.
  Expression loss(ComputationGraph& g, unsigned seed, bool two = false) {
    lstm.new_graph(g);
    lstm.start_new_sequence();
    const auto moved = [&](const Expression& x, Device* to) {
      return to_device(x, to ? to : g.store().devices[0]);
    };
    const Expression W = parameter(g, w), B = parameter(g, b);
    std::vector<Expression> losses;
    Expression last;
    words_read.clear();
    for (unsigned t = 0; t < 3 + seed % 3; ++t) {
      const unsigned word = (seed * 7 + t * t) % 20, tag = (seed + t) % 5;
      words_read.push_back(two ? lookup(g, words, std::vector<unsigned>{word, (word + 1) % 20})
                               : lookup(g, words, word));
      Expression x = moved(tanh(words_read.back()), at_.rnn);
      if (last.pg) x = x + moved(pick_range(last, 0, 1), at_.rnn);
      const Expression h = moved(dropout(lstm.add_input(x), 0.2f), at_.out);
      last = affine_transform({B, W, h});
      losses.push_back(two ? sum_batches(pickneglogsoftmax(last, {tag, 4 - tag}))
                           : pickneglogsoftmax(last, tag));
    }
    return sum(losses);
  }

  ParameterCollection pc;
  LookupParameter words;
  VanillaLSTMBuilder lstm;
  Parameter w, b;
  std::vector<Expression> words_read;  ///< of the last sentence

 private:
  Devices at_;
};

/// Results of some updates of a `SplitModel`, with graphs on their own device.
struct SplitOutcome {
  std::vector<float> losses, of_words, parameters;
};

struct SplitTraining {
  Device* own = default_device;
  bool batched = true;
  unsigned updates = 4;
};

inline SplitOutcome train(const SplitModel::Devices& at, const SplitTraining& how = {}) {
  SplitModel m(at);
  AdamTrainer trainer(m.pc);
  SplitOutcome result;
  for (unsigned i = 0; i < how.updates; ++i) {
    ComputationGraph g(how.batched);
    g.set_device(how.own);
    g.set_seed(i + 1);
    const Expression loss = sum({m.loss(g, 3 * i), m.loss(g, i + 1), m.loss(g, i + 5, true)});
    result.losses.push_back(as_scalar(loss.value()));
    g.backward(loss);
    for (const Expression& x : m.words_read)
      for (const float v : as_vector(x.gradient())) result.of_words.push_back(v);
    trainer.update();
  }
  result.parameters = all_values(m.pc);
  return result;
}

}  // namespace dynet::test
