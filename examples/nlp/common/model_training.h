#pragma once

#include <algorithm>
#include <array>
#include <boost/archive/binary_oarchive.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/dynet.h"
#include "dynet-like/graph/observer.h"
#include "examples/nlp/common/about.h"
#include "examples/nlp/common/model_file.h"
#include "examples/nlp/common/options.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/run_report.h"
#include "examples/nlp/common/split.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// Samples of an update, or of a part of an update.
struct Update {
  unsigned epoch = 0;                ///< from 1
  std::size_t number = 0;            ///< within the epoch, from 0
  std::vector<std::size_t> samples;  ///< indices in the training data
  std::size_t first = 0;             ///< index of the first sample within the whole update
  std::size_t size = 0;              ///< number of samples of the whole update
  std::size_t units = 0;             ///< number of units, such as words, of the whole update
};

/// Initial checkpoint of a run. A resumed run loads its checkpoint, which must agree with the
/// options of the command; a new run loads the model of --init, which must fit the command, or
/// constructs one from the result of `describe()`. `data_mark` identifies the training data.
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
    if (dynet::started_by_launcher() && !command.was_given("--parts"))
      now.settings.parts = dynet::DistributedState().lanes;
    now.state.data_mark = data_mark;
    if (!command.init.empty()) {
      const auto adapt = [&](auto& description) {
        if constexpr (requires { command.describe_data(description); })
          command.describe_data(description);
      };
      now.model = load_model<typename Checkpoint::Model>(command.init, command.device, adapt);
      Command has = command, wanted = command;
      has.description = now.model->description();
      require_fitting(command, kept_options(has), kept_options(wanted));
    } else {
      const std::uint64_t seed = derived_seed(now.settings.seed, kWeights);
      now.model = std::make_unique<typename Checkpoint::Model>(describe(), seed);
    }
    now.trainer = make_trainer(now.model->parameters(), now.settings);
  }
  now.model->set_device(command.device);
  return now;
}

/// Training run over fixed data, from the command to the scores of the best model. The result
/// depends on the data, the settings and the seed only, regardless of interruptions.
///
/// Programs add the update, and `Report evaluate(Model&, const Corpus&, const std::string& name)`;
/// reports can print themselves and have named figures. The command has a `description` with the
/// user's choices for the model, and `settings`.
template <class Model, class Command, class Corpus, class Report>
class ModelTraining : public Training {
 public:
  /// Trains, prints the scores of the best model, and the path of its file.
  void run(std::ostream& out) {
    if (command_.world->size() > 1) dynet::require_same(*command_.world, facts());
    RunReport report(command_, Model::kProgram, settings(), now_.state.epoch, &model_.parameters());
    print_run(out);
    run_epochs(*this, now_.state, command_, out, &report);
    // Other processes get the weights, since they may not see the file.
    std::unique_ptr<Model> loaded;
    if (writes()) loaded = load_model<Model>(command_.model, command_.device);
    Model& best = loaded ? *loaded : model_;
    dynet::synchronize(*command_.world, best.parameters());
    best.set_workers(&workers_);
    best.set_world(command_.world.get());
    const auto score = [&](const Corpus& corpus, const char* name) {
      if (corpus.empty()) return Figures();
      const Report scored = evaluate(best, corpus, name);
      scored.print(out);
      report.scores(name, scored.figures());
      return scored.figures();
    };
    const Figures dev = score(data_.dev, "dev"), test = score(data_.test, "test");
    if (!test.empty() && writes()) nlp::save_model(command_.model, best, about(dev, test));
    out << "saved in " << command_.model << "\nnext: " << Model::kProgram << ' ' << Model::kUse
        << " --model " << command_.model << std::endl;
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
    trainer_.learning_rate = learning_rate(epochs_done);
    if (average() > 0 && trainer_.moving_average() == dynet::MovingAverage::None)
      trainer_.exponential_moving_average(average());
    const std::vector<std::size_t>& samples = updates_[number];
    if (dynet::Observer* const observer = dynet::find_observer())
      observer->add_samples(samples.size());
    return step({epoch, number, samples, 0, samples.size(), units(samples)});
  }

  std::uint64_t clips() const final { return trainer_.clips; }

  bool has_dev() const final { return !data_.dev.empty(); }
  DevScore score_dev() final {
    const Averaged averaged(*this);
    const Report report = evaluate(model_, data_.dev, "dev");
    dev_ = report.figures();
    return {decisive(report), dev_text(report), dev_};
  }
  void save_model() final {
    const Averaged averaged(*this);
    if (writes()) nlp::save_model(command_.model, model_, about(dev_, {}));
  }
  void save_checkpoint(const dynet::SaveOptions& how) final {
    if (writes()) nlp::save_checkpoint(command_.checkpoint(), now_, how);
  }
  int agreed(int mine) final {
    if (command_.world->size() == 1) return mine;
    return static_cast<int>(command_.world->allreduce({writes() ? mine : 0.0})[0]);
  }

 protected:
  using Settings = decltype(Command::settings);

  /// `fingerprint_of(corpus)` identifies a corpus. Warns of dev and test data that equal the
  /// training data.
  template <class FingerprintOf, class Describe>
  ModelTraining(const Command& command, const Parts<Corpus>& data, FingerprintOf fingerprint_of,
                Describe describe)
      : command_(command),
        data_(data),
        now_(begin_run<Checkpoint<Model, Settings>>(command, fingerprint_of(data.train), describe)),
        model_(*now_.model),
        trainer_(*now_.trainer),
        settings_(now_.settings),
        workers_(command.threads),
        distributed_(trainer_, *command.world, {std::max(1u, settings_.parts), settings_.seed},
                     &workers_),
        marks_{fingerprint_of(data.dev), fingerprint_of(data.test)} {
    model_.set_workers(&workers_);
    model_.set_world(command.world.get());
    trainer_.set_workers(&workers_);
    for (const auto& [corpus, name] : parts()) {
      if (corpus != &data.train && marks_[corpus != &data.dev] == now_.state.data_mark)
        warn(name + " is the same as the training data: its scores say nothing of other data");
    }
  }

  /// Warns of data with mostly unknown words, or other items named by `what`; `numbers` returns
  /// those of a sample, and `unknown` is the number of an unknown item. `why` ends the sentence.
  template <class Numbers>
  void warn_of_unknown(const std::string& what, unsigned unknown, Numbers numbers,
                       const std::string& why = "") const {
    for (const auto& [corpus, name] : parts()) {
      Ratio known;
      for (const auto& sample : *corpus)
        for (const unsigned number : numbers(sample)) known.count(number != unknown);
      if (2 * known.right < known.total)
        warn(name + ": the model knows " + percent(known.value()) + " of the " + what + why);
    }
  }

  /// Registers a sample with its number of units; `work` is proportional to its computation time.
  void add_sample(std::size_t units, std::size_t work) {
    sizes_.push_back(units);
    work_.push_back(work);
  }
  void add_sample(std::size_t units) { add_sample(units, units); }

  /// Builds the graph of some samples and learns from it; returns the loss, summed over their
  /// units. Parts of an update call it concurrently, each with its own model and graph.
  virtual double learn(Model& model, dynet::ComputationGraph& graph,
                       const Update& update) const = 0;
  /// Runs forward and backward of these losses, whose sum is that of the samples; returns the sum.
  double learn_from(dynet::ComputationGraph& graph, const std::vector<dynet::Expression>& losses,
                    const Update& update) const {
    const dynet::Expression total = sum(losses);
    const dynet::Expression loss =
        settings_.mean_loss ? total / static_cast<float>(update.units) : total;
    graph.forward(loss);
    const auto value = static_cast<double>(as_scalar(total.value()));
    require_finite(value);
    graph.backward(loss);
    return value;
  }
  /// Number of units of these samples.
  std::size_t units(const std::vector<std::size_t>& samples) const {
    std::size_t sum = 0;
    for (const std::size_t sample : samples) sum += sizes_[sample];
    return sum;
  }
  /// Prints the data and the model.
  virtual void print_run(std::ostream& out) const = 0;
  /// Score for model selection; higher is better.
  virtual double decisive(const Report& report) const = 0;
  /// Labels that the model distinguishes, for the metadata of its file; none by default.
  virtual std::vector<std::string> labels() const { return {}; }
  /// Text of the dev score in the line of an epoch: "dev accuracy 93.21 %".
  virtual std::string dev_text(const Report& report) const = 0;
  /// Learning rate after `epochs_done` epochs, a fraction.
  virtual float learning_rate(double epochs_done) const {
    return decayed_rate(settings_.learning_rate, settings_.decay, epochs_done);
  }
  /// Zero, or beta of a moving average of the weights, which is scored and saved instead of the
  /// weights: in each update it becomes beta times itself plus 1 - beta times the weights (Polyak
  /// and Juditsky 1992).
  virtual float average() const { return 0; }
  /// Number of updates in `epochs_done` epochs, if each has as many updates as the current epoch.
  std::uint64_t updates_done(double epochs_done) const {
    return static_cast<std::uint64_t>(
        std::llround(epochs_done * static_cast<double>(updates_.size())));
  }
  /// Samples of each update of an epoch, from a random order of all samples.
  virtual std::vector<std::vector<std::size_t>> make_updates(const std::vector<std::size_t>& order,
                                                             Random& /*random*/) const {
    std::vector<std::vector<std::size_t>> updates((order.size() + settings_.batch - 1) /
                                                  settings_.batch);
    for (std::size_t i = 0; i < order.size(); ++i) {
      updates[i / settings_.batch].push_back(order[i]);
    }
    return updates;
  }

  /// Random numbers for the sample at an index of an update, and for its dropout.
  Random draws(const Update& update, std::size_t place) const {
    return Random(derived_seed(derived_seed(settings_.seed, kDraws), update.epoch,
                               update.number * settings_.batch + update.first + place));
  }
  std::uint64_t dropout_seed(const Update& update) const {
    return derived_seed(derived_seed(settings_.seed, kDropout), update.epoch,
                        update.number * settings_.batch + update.first);
  }

  const Command& command_;
  const Parts<Corpus>& data_;

 private:
  Checkpoint<Model, Settings> now_;

 protected:
  Model& model_;
  dynet::Trainer& trainer_;
  const Settings& settings_;       ///< settings of the run, which may be a resumed one
  dynet::ComputationGraph graph_;  ///< kept between updates for its memory

 private:
  /// Swaps the averaged weights in, if there are any, while it exists.
  class Averaged {
   public:
    explicit Averaged(ModelTraining& of) : trainer_(of.average() > 0 ? &of.trainer_ : nullptr) {
      if (trainer_) trainer_->swap_params_to_moving_average(true, true);
    }
    ~Averaged() {
      if (trainer_) trainer_->swap_params_to_weights();
    }
    Averaged(const Averaged&) = delete;
    Averaged& operator=(const Averaged&) = delete;

   private:
    dynet::Trainer* trainer_;
  };

  /// Non-empty parts of the data, with their names in messages.
  std::vector<std::pair<const Corpus*, std::string>> parts() const {
    std::vector<std::pair<const Corpus*, std::string>> all;
    const auto add = [&](const Corpus& corpus, const std::string& file, const std::string& part) {
      if (!corpus.empty())
        all.push_back(
            {&corpus, file.empty() ? "the " + part + " part of " + command_.train : file});
    };
    add(data_.train, command_.train, "train");
    add(data_.dev, command_.dev, "dev");
    add(data_.test, command_.test, "test");
    return all;
  }
  /// True if this process writes files.
  bool writes() const { return command_.world->rank() == 0; }
  /// Options of the model and of its training.
  OptionValues settings() const {
    Command actual = command_;
    actual.description = model_.description();
    actual.settings = settings_;
    return all_options(actual);
  }
  /// Everything that determines the result, with digests of large objects.
  dynet::RunFacts facts() const {
    const TrainLimits& limits = command_.limits;
    std::ostringstream description;
    boost::archive::binary_oarchive(description, boost::archive::no_header) << model_.description();
    Fingerprint described;
    described.add(description.str());
    const auto digest = [](std::uint64_t of) { return std::to_string(of); };
    dynet::RunFacts facts = {{"the program", Model::kProgram}};
    for (const auto& option : settings()) facts.push_back(option);
    facts.insert(facts.end(),
                 {{"--epochs", std::to_string(limits.epochs)},
                  {"--patience", std::to_string(limits.patience)},
                  {"--max-seconds", option_text(limits.max_seconds)},
                  {"--device", command_.device->type == dynet::DeviceType::GPU ? "GPU" : "CPU"},
                  {"the epoch", std::to_string(now_.state.epoch)},
                  {"the update", std::to_string(now_.state.position)},
                  {"the digest of the training data", digest(now_.state.data_mark)},
                  {"the digest of the dev data", digest(marks_[0])},
                  {"the digest of the test data", digest(marks_[1])},
                  {"the digest of the model's description", digest(described.value())},
                  {"the digest of the weights", digest(distributed_.parameter_checksum())}});
    return facts;
  }
  std::string about(const Figures& dev, const Figures& test) const {
    return about_text({Model::kProgram, labels(), settings(), model_.parameters().parameter_count(),
                       now_.state.best_epoch, dev, test},
                      command_);
  }

  /// Learns from all samples of an update, and makes it. Parts are lanes, so that the result is
  /// independent of threads and processes.
  double step(const Update& update) {
    if (settings_.parts < 2 && command_.world->size() == 1) {
      const double loss = learn(model_, graph_, update);
      trainer_.update();
      return loss;
    }
    // Balances the work of the parts.
    std::vector<std::size_t> work, samples;
    for (const std::size_t sample : update.samples) work.push_back(work_[sample]);
    for (const std::size_t k : dynet::balanced_order(work, distributed_.state().lanes))
      samples.push_back(update.samples[k]);
    distributed_.for_each_lane(update.size, [&](const dynet::Lane& lane) {
      const auto part = take_part();
      part->graph.set_gradient_buffer(lane.number);
      Update share = update;
      share.first = lane.samples.begin;
      const auto begin = samples.begin();
      share.samples.assign(begin + static_cast<std::ptrdiff_t>(lane.samples.begin),
                           begin + static_cast<std::ptrdiff_t>(lane.samples.end));
      return learn(part->model, part->graph, share);
    });
    distributed_.update();
    return distributed_.loss();
  }

  struct Part {
    explicit Part(const Model& of) : model(of) {}
    Model model;  ///< a copy that shares the weights
    dynet::ComputationGraph graph;
  };
  /// A part for exclusive use until the returned pointer is destroyed.
  auto take_part() {
    const std::lock_guard lock(parts_mutex_);
    if (parts_.empty()) parts_.push_back(std::make_unique<Part>(model_));
    const auto give_back = [this](Part* part) {
      const std::lock_guard again(parts_mutex_);
      parts_.emplace_back(part);
    };
    std::unique_ptr<Part, decltype(give_back)> taken(parts_.back().release(), give_back);
    parts_.pop_back();
    return taken;
  }

  dynet::Workers workers_;
  dynet::DistributedTrainer distributed_;
  const std::array<std::uint64_t, 2> marks_;  ///< identify dev and test data
  std::mutex parts_mutex_;
  std::vector<std::unique_ptr<Part>> parts_;       ///< at most one per thread
  Figures dev_;                                    ///< of the last epoch
  std::vector<std::size_t> sizes_, work_;          ///< by sample
  std::vector<std::vector<std::size_t>> updates_;  ///< of this epoch
};

}  // namespace nlp
