#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/communicator.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "dynet-like/dynet.h"
#include "dynet-like/io/checksum.h"
#include "dynet-like/param/storage.h"

namespace dynet {

/// How a small tagger is trained on made-up sentences.
struct SmallSettings {
  unsigned lanes = 8, updates = 6, threads = 1;
  std::vector<std::size_t> batches = {11, 3, 16, 1, 7, 24};  ///< sizes, one after the other
  bool sparse = true;
  float clip = 0.5f;
  bool whole_table = false;  ///< one table is used as a matrix as well, by some lanes
  float weight_decay = 0;
  bool average = false;
  bool wordless = false;  ///< most sentences have no word, and so no gradient
};

/// A model with two tables and dense parameters, all its state, and what is needed to go on.
struct SmallRun {
  static constexpr unsigned kWords = 40, kTags = 5, kSize = 6;

  SmallRun(Communicator& w, const SmallSettings& s)
      : settings(s),
        model(s.weight_decay),
        words((model.set_seed(3), model.add_lookup_parameters(kWords, {kSize}, "words"))),
        tags(model.add_lookup_parameters(kTags, {kSize}, "tags")),
        lstm(1, kSize, kSize, model),
        W(model.add_parameters({kTags, kSize}, "W")),
        b(model.add_parameters({kTags}, "b")),
        trainer(model, 0.02f),
        workers(s.threads),
        distributed(trainer, w, {s.lanes, 5, 0}, &workers, 4) {
    trainer.sparse_updates_enabled = s.sparse;
    trainer.clip_threshold = s.clip;
    if (s.average) trainer.exponential_moving_average(0.9f);
    for (unsigned lane = 0; lane < s.lanes; ++lane) builders.push_back(lstm);
  }

  /// The loss of one sentence, which is a function of its number.
  Expression loss_of(ComputationGraph& cg, VanillaLSTMBuilder& builder, std::uint64_t sentence) {
    builder.start_new_sequence();
    const auto draw = [&](unsigned i) {
      std::uint64_t x = (sentence + 1) * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
      x ^= x >> 29;
      return static_cast<unsigned>((x * 0xbf58476d1ce4e5b9u) >> 40);
    };
    if (settings.wordless && sentence % 3 != 0) return input(cg, 0.25f);
    std::vector<Expression> losses;
    unsigned before = 0;
    for (unsigned i = 0; i < 2 + draw(99) % 4; ++i) {
      const unsigned word = draw(i) % kWords;
      builder.add_input(lookup(cg, words, word) + lookup(cg, tags, before));
      Expression h = dropout(builder.back(), 0.2f);
      if (settings.whole_table && sentence % 5 == 0)
        h = h + parameter(cg, words) * one_hot(cg, kWords, word);
      before = (word + before) % kTags;
      losses.push_back(pickneglogsoftmax(parameter(cg, W) * h + parameter(cg, b), before));
    }
    return sum(losses);
  }

  void update() {
    const std::size_t size =
        settings.batches[distributed.state().updates % settings.batches.size()];
    const std::uint64_t first = distributed.state().updates * 1000;
    distributed.for_each_lane(size, [&](const Lane& lane) {
      ComputationGraph cg;
      lane.begin(cg);
      builders[lane.number].new_graph(cg);
      std::vector<Expression> losses;
      for (std::size_t s = lane.samples.begin; s < lane.samples.end; ++s)
        losses.push_back(loss_of(cg, builders[lane.number], first + s));
      const Expression total = sum(losses);
      const double value = as_scalar(cg.forward(total));
      cg.backward(total);
      return value;
    });
    distributed.update(1.0f / static_cast<float>(size));
    losses_seen.push_back(distributed.loss());
  }
  void train(unsigned updates) {
    while (distributed.state().updates < updates) update();
  }

  /// All bits of parameters, the trainer's state, and the losses, as a checksum.
  std::string bits() {
    std::string all;
    const auto put = [&](const float* v, std::size_t n) {
      all.append(reinterpret_cast<const char*>(v), n * sizeof(float));
    };
    for (const auto& view : trainer.state_views())
      for (const float* a : view.arrays) put(a, view.dim.size());
    for (const auto& p : model.get_storage().all_params) put(p->data, p->size());
    for (const double loss : losses_seen)
      all.append(reinterpret_cast<const char*>(&loss), sizeof loss);
    return std::to_string(checksum(all)) + " with " + std::to_string(trainer.clips) + " clips of " +
           std::to_string(all.size()) + " bytes";
  }

  SmallSettings settings;
  ParameterCollection model;
  LookupParameter words, tags;
  VanillaLSTMBuilder lstm;
  Parameter W, b;
  AdamTrainer trainer;
  Workers workers;
  DistributedTrainer distributed;
  std::vector<VanillaLSTMBuilder> builders;
  std::vector<double> losses_seen;
};

/// Trains in a group of this size, and returns the bits, which are the same on all its processes;
/// else those of each.
inline std::string bits_of_run(unsigned world, const SmallSettings& settings,
                               const InProcessGroup::Faults& faults = {}) {
  InProcessGroup group(world, faults);
  std::vector<std::string> bits(world);
  group.run([&](Communicator& c) {
    SmallRun run(c, settings);
    run.train(settings.updates);
    bits[c.rank()] = run.bits();
  });
  std::string all = bits[0];
  for (unsigned r = 1; r < world; ++r)
    if (bits[r] != bits[0]) all += ", rank " + std::to_string(r) + ": " + bits[r];
  return all;
}

}  // namespace dynet
