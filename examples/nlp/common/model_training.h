#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/dynet.h"
#include "examples/nlp/common/model_file.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/run_report.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// What an update learns from.
struct Update {
  unsigned epoch = 0;                ///< from 1
  std::size_t number = 0;            ///< within the epoch, from 0
  std::vector<std::size_t> samples;  ///< places in the training data
};

/// What a run begins with: what its checkpoint holds, which must have begun as the command asks;
/// or, if it is new, a model of what `describe()` returns. `data_mark` tells the training data
/// apart.
template <class Checkpoint, class Command, class Describe>
Checkpoint begin_run(const Command& command, std::uint64_t data_mark, Describe describe) {
  Checkpoint now;
  if (command.resume) {
    now = load_checkpoint<Checkpoint>(command.checkpoint());
    Command begun = command, wanted = command;
    begun.description = now.model->description();
    begun.settings = now.settings;
    require_same(command, kept_options(begun), kept_options(wanted));
    require_same_data(command, now.state.data_mark, data_mark);
  } else {
    now.settings = command.settings;
    now.state.data_mark = data_mark;
    const std::uint64_t seed = derived_seed(now.settings.seed, kWeights);
    now.model = std::make_unique<typename Checkpoint::Model>(describe(), seed);
    now.trainer = make_trainer(now.model->parameters(), now.settings);
  }
  now.model->set_device(command.device);
  return now;
}

/// A training run over fixed data, from the command to the scores of the best model. The outcome
/// depends on the data, the settings and the seed alone, however often the run was interrupted.
///
/// A program adds its update, and `Report evaluate(Model&, const Corpus&, const std::string&
/// name)`, which scores a model; the report can print itself and names its figures. The command has
/// a `description` with what the user chose of the model, and `settings`.
template <class Model, class Command, class Corpus, class Report>
class ModelTraining : public Training {
 public:
  /// Trains, prints how good the best model is, and where it is saved.
  void run(std::ostream& out) {
    Command actual = command_;
    actual.description = model_.description();
    actual.settings = settings_;
    RunReport report(command_, Model::kProgram, all_options(actual));
    print_run(out);
    run_epochs(*this, now_.state, command_, out, &report);
    const auto best = load_model<Model>(command_.model, command_.device);
    const auto score = [&](const Corpus& corpus, const char* name) {
      if (corpus.empty()) return;
      const Report scored = evaluate(*best, corpus, name);
      scored.print(out);
      report.scores(name, scored.figures());
    };
    score(data_.dev, "dev");
    score(data_.test, "test");
    out << "saved in " << command_.model << std::endl;
  }

  std::vector<std::size_t> begin_epoch(unsigned epoch) final {
    std::vector<std::size_t> order(sizes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(derived_seed(settings_.seed, kOrder, epoch));
    random.shuffle(order);
    updates_ = make_updates(order, random);
    std::vector<std::size_t> sizes;
    for (const std::vector<std::size_t>& samples : updates_) sizes.push_back(units(samples));
    return sizes;
  }

  double update(unsigned epoch, std::size_t number, double epochs_done) final {
    trainer_.learning_rate = decayed_rate(settings_.learning_rate, settings_.decay, epochs_done);
    return step({epoch, number, updates_[number]});
  }

  std::uint64_t clips() const final { return trainer_.clips; }

  bool has_dev() const final { return !data_.dev.empty(); }
  DevScore score_dev() final {
    const Report report = evaluate(model_, data_.dev, "dev");
    return {decisive(report), dev_text(report), report.figures()};
  }
  void save_model() final { nlp::save_model(command_.model, model_); }
  void save_checkpoint(const dynet::SaveOptions& how) final {
    nlp::save_checkpoint(command_.checkpoint(), now_, how);
  }

 protected:
  using Settings = decltype(Command::settings);

  template <class Describe>
  ModelTraining(const Command& command, const Parts<Corpus>& data, std::uint64_t data_mark,
                Describe describe)
      : command_(command),
        data_(data),
        now_(begin_run<Checkpoint<Model, Settings>>(command, data_mark, describe)),
        model_(*now_.model),
        trainer_(*now_.trainer),
        settings_(now_.settings) {}

  /// One more sample, of so many units.
  void add_sample(std::size_t units) { sizes_.push_back(units); }

  /// Makes the graph of an update and learns from it; returns the loss, summed over the units of
  /// these samples.
  virtual double step(const Update& update) = 0;
  /// Forward, backward, update: all of a step but its graph. The losses add up to that of so many
  /// units; returns their sum.
  double learn(const std::vector<dynet::Expression>& losses, std::size_t units) {
    const dynet::Expression total = sum(losses);
    const dynet::Expression loss = settings_.mean_loss ? total / static_cast<float>(units) : total;
    graph_.forward(loss);
    const auto value = static_cast<double>(as_scalar(total.value()));
    require_finite(value);
    graph_.backward(loss);
    trainer_.update();
    return value;
  }
  /// So many units these samples have.
  std::size_t units(const std::vector<std::size_t>& samples) const {
    std::size_t sum = 0;
    for (const std::size_t sample : samples) sum += sizes_[sample];
    return sum;
  }
  /// What the data and the model are.
  virtual void print_run(std::ostream& out) const = 0;
  /// The score that decides which model is best: more is better.
  virtual double decisive(const Report& report) const = 0;
  /// What the line of an epoch says: "dev accuracy 93.21 %".
  virtual std::string dev_text(const Report& report) const = 0;
  /// The samples of each update of an epoch, whose order is drawn.
  virtual std::vector<std::vector<std::size_t>> make_updates(const std::vector<std::size_t>& order,
                                                             Random& /*random*/) const {
    std::vector<std::vector<std::size_t>> updates((order.size() + settings_.batch - 1) /
                                                  settings_.batch);
    for (std::size_t i = 0; i < order.size(); ++i) {
      updates[i / settings_.batch].push_back(order[i]);
    }
    return updates;
  }

  /// Random numbers for the sample at this place of an update, and for its dropout.
  Random draws(const Update& update, std::size_t place) const {
    return Random(derived_seed(derived_seed(settings_.seed, kDraws), update.epoch,
                               update.number * settings_.batch + place));
  }
  std::uint64_t dropout_seed(const Update& update) const {
    return derived_seed(derived_seed(settings_.seed, kDropout), update.epoch,
                        update.number * settings_.batch);
  }

  const Command& command_;
  const Parts<Corpus>& data_;

 private:
  Checkpoint<Model, Settings> now_;

 protected:
  Model& model_;
  dynet::Trainer& trainer_;
  const Settings& settings_;       ///< of the run, which may have begun before
  dynet::ComputationGraph graph_;  ///< kept from update to update for its memory

 private:
  std::vector<std::size_t> sizes_;                 ///< of the samples
  std::vector<std::vector<std::size_t>> updates_;  ///< of this epoch
};

}  // namespace nlp
