#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/compat/initialize.h"
#include "dynet-like/distributed/distributed_trainer.h"

// How the functions of mp.h work with --dynet-distributed.

namespace dynet::mp::detail {

/// Losses of samples that several processes have computed.
template <class S>
class Losses {
 public:
  void add(std::size_t place, const S& loss) { own_.emplace_back(place, loss); }
  /// Those of all processes, in the order of their places, which follow each other from 0. Forgets
  /// them.
  S sum() {
    std::vector<std::pair<std::size_t, S>> all = std::move(own_);
    own_.clear();
    if (get_world().size() > 1) exchange(all);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    S total{};
    for (auto& [place, loss] : all) total += loss;
    return total;
  }

 private:
  static void exchange(std::vector<std::pair<std::size_t, S>>& all) {
    if constexpr (std::is_trivially_copyable_v<S>) {
      constexpr std::size_t kEach = sizeof(std::size_t) + sizeof(S);
      Communicator::Bytes bytes(all.size() * kEach);
      for (std::size_t k = 0; k < all.size(); ++k) {
        std::memcpy(&bytes[k * kEach], &all[k].first, sizeof(std::size_t));
        std::memcpy(&bytes[k * kEach + sizeof(std::size_t)], &all[k].second, sizeof(S));
      }
      bytes = get_world().allgather(std::move(bytes));
      all.resize(bytes.size() / kEach);
      for (std::size_t k = 0; k < all.size(); ++k) {
        std::memcpy(&all[k].first, &bytes[k * kEach], sizeof(std::size_t));
        std::memcpy(&all[k].second, &bytes[k * kEach + sizeof(std::size_t)], sizeof(S));
      }
    } else {
      throw ArgumentError(
          "mp: the loss must be of a type that can be copied as bytes to be summed "
          "over processes");
    }
  }

  std::vector<std::pair<std::size_t, S>> own_;
};

/// The losses of samples, dealt to lanes and processes; nothing is learnt.
template <class S, class Evaluate>
S evaluate_in_lanes(std::size_t samples, Evaluate evaluate) {
  Communicator& world = get_world();
  const unsigned lanes = *get_lanes();
  const Interval own = lanes_of_rank(lanes, world.rank(), world.size());
  const std::uint64_t first = number_samples(samples);
  Losses<S> losses;
  guarded(world, [&] {
    require_same(world, {{"the number of samples", std::to_string(samples)}});
    for (std::size_t lane = own.begin; lane < own.end; ++lane) {
      const Interval part = samples_of_lane(samples, static_cast<unsigned>(lane), lanes);
      for (std::size_t i = part.begin; i < part.end; ++i) {
        const SampleScope scope(first + i, std::nullopt);
        losses.add(i, evaluate(i));
      }
    }
  });
  return losses.sum();
}

/// Learns from samples, dealt to lanes and processes, and makes an update. `learn(i)` returns the
/// loss of sample i, which gets the place `place` + i.
template <class S, class Learn>
void learn_in_lanes(DistributedTrainer& trainer, std::size_t samples, Losses<S>& losses,
                    std::size_t place, Learn learn) {
  const std::uint64_t first = number_samples(samples);
  trainer.for_each_lane(samples, [&](const Lane& lane) {
    for (std::size_t i = lane.samples.begin; i < lane.samples.end; ++i) {
      const SampleScope scope(first + i, lane.number);
      losses.add(place + i, learn(i));
    }
    return 0.0;
  });
  trainer.update();
}

inline std::unique_ptr<DistributedTrainer> make_distributed(Trainer& trainer) {
  return std::make_unique<DistributedTrainer>(trainer, get_world(),
                                              DistributedState{.lanes = *get_lanes()});
}

/// The loss over `data`, with an update after all of it if there is a trainer.
template <class S, class Learner, class Data>
S run_minibatch(Learner& learner, Trainer* trainer, const Data& data) {
  if (!trainer)
    return evaluate_in_lanes<S>(
        data.size(), [&](std::size_t i) { return learner.LearnFromDatum(data[i], false); });
  Losses<S> losses;
  learn_in_lanes(*make_distributed(*trainer), data.size(), losses, 0,
                 [&](std::size_t i) { return learner.LearnFromDatum(data[i], true); });
  return losses.sum();
}

/// How often something is done, counted in samples.
class Every {
 public:
  explicit Every(std::size_t samples) : samples_(samples) {}
  /// Whether another multiple was reached.
  bool reached(std::size_t seen) {
    return std::exchange(done_, seen / samples_) != seen / samples_;
  }

 private:
  std::size_t samples_, done_ = 0;
};

/// As run_single_process, but that reports and scores come after whole updates.
template <class S, class Learner, class Data, class Order, class Report>
void run_in_lanes(Learner& learner, Trainer& trainer, const Data& train_data, const Data& dev_data,
                  unsigned num_iterations, unsigned dev_frequency, unsigned report_frequency,
                  unsigned batch_size, Order shuffled, Report report) {
  const auto distributed = make_distributed(trainer);
  std::optional<S> best;
  const auto evaluate = [&] {
    S loss = run_minibatch<S>(learner, nullptr, dev_data);
    report("dev", loss, dev_data.size());
    if (best && !(loss < *best)) return;
    best = loss;
    static_cast<void>(trainer.state_views());  // late rows catch up in all processes
    on_rank_zero(get_world(), [&] { learner.SaveModel(); });
  };
  for (unsigned iteration = 0; iteration < num_iterations; ++iteration) {
    const std::vector<std::size_t> order = shuffled(train_data.size());
    Losses<S> losses;
    Every reports(report_frequency), scores(dev_frequency);
    std::size_t reported = 0;
    for (std::size_t first = 0; first < order.size(); first += batch_size) {
      const std::size_t end = std::min<std::size_t>(first + batch_size, order.size());
      learn_in_lanes(*distributed, end - first, losses, first - reported, [&](std::size_t i) {
        return learner.LearnFromDatum(train_data[order[first + i]], true);
      });
      if (reports.reached(end) || end == order.size()) {
        S loss = losses.sum();
        report("train", loss, end - reported);
        reported = end;
      }
      if (scores.reached(end) && end != order.size()) evaluate();
    }
    evaluate();
  }
}

}  // namespace dynet::mp::detail
