#include "benchmarks/training/train.h"

#include <algorithm>

#include "benchmarks/measure.h"
#include "benchmarks/memory.h"
#include "benchmarks/training/least_batches.h"
#include "dynet-like/base/workers.h"
#include "dynet-like/plan/plan_maker.h"

namespace bench {
namespace {

using namespace dynet;

constexpr int kEvery = 16;        // one in kEvery updates is examined
constexpr double kWarmUp = 0.25;  // share of the time for warming up memory
constexpr double kMiB = 1 << 20;

/// Task that builds the graph of a part of an update's samples, with its costs.
struct Shard {
  std::unique_ptr<Task> task;
  int buffer = -1;  // gradient buffer; -1: the thread's
  double build = 0, forward = 0, backward = 0, loss = 0;
  double plan = 0;
  std::size_t lower_bound = 0;  // see least_batches
  GraphStatistics statistics;

  void run(std::size_t first, std::size_t count, const Options& options, bool look) {
    double time = now();
    const auto lap = [&](double& phase) {
      const double t = now();
      phase = t - time;
      time = t;
    };
    ComputationGraph cg(options.batching);
    cg.set_precision(options.precision);
    if (buffer >= 0) cg.set_gradient_buffer(static_cast<unsigned>(buffer));
    const Expression e = task->build(cg, first, count);
    lap(build);
    if (look) {
      Plan fresh;
      PlanMaker planner(options.batching ? PlanPolicy::in_batches : PlanPolicy::in_order);
      const auto make = [&] { planner.make(cg.store(), 0, static_cast<NodeId>(cg.size()), fresh); };
      make();  // allocates the planner's memory
      plan = fastest(1, make);
      lower_bound = least_batches(cg.store(), 0, static_cast<NodeId>(cg.size()));
    }
    loss = static_cast<double>(as_scalar(e.value()));
    lap(forward);
    cg.backward(e);
    lap(backward);
    if (look) statistics = cg.statistics();
  }
};

/// Sums over the examined updates.
struct Look {
  double updates = 0, units = 0, plan = 0, nodes = 0, batches = 0, lower_bound = 0;

  void add(const std::vector<Shard>& shards, double units_of_update, Result& result) {
    ++updates;
    units += units_of_update;
    double values = 0, gradients = 0;
    for (const Shard& s : shards) {
      plan += s.plan;
      nodes += static_cast<double>(s.statistics.nodes);
      batches += static_cast<double>(s.statistics.batches);
      lower_bound += static_cast<double>(s.lower_bound);
      values += static_cast<double>(s.statistics.value_bytes);
      gradients += static_cast<double>(s.statistics.gradient_bytes);
    }
    result.value_mib = std::max(result.value_mib, values / kMiB);
    result.gradient_mib = std::max(result.gradient_mib, gradients / kMiB);
  }
};

std::size_t units_of(const std::vector<Shard>& shards) {
  std::size_t units = 0;
  for (const Shard& s : shards) units += s.task->units;
  return units;
}

}  // namespace

Result train(Task& task, std::size_t samples, const Options& options) {
  forget_peak();
  AdamTrainer trainer(task.model, 0.001f);
  trainer.clipping_enabled = false;
  Workers workers(options.threads);
  const auto clock = options.threads > 1 ? wall_clock : now;

  std::vector<Shard> shards(options.shards_of(samples));
  for (std::size_t k = 0; k < shards.size(); ++k) {
    shards[k].task = task.share();
    if (shards.size() > 1) shards[k].buffer = static_cast<int>(k);
  }

  Result result;
  Look look;
  std::size_t first = 0, units = 0;
  double warm = 0;
  int measured = 0;  // updates after the warm-up
  for (; result.seconds < options.seconds; first += samples) {
    const bool is_warm = warm >= kWarmUp * options.seconds;
    const bool looked_at = is_warm && measured++ % kEvery == 0;
    const auto work = [&](unsigned k) {
      const std::size_t begin = samples * k / shards.size(),
                        end = samples * (k + 1) / shards.size();
      shards[k].run(first + begin, end - begin, options, looked_at);
    };
    const double start = clock();
    if (shards.size() == 1)
      work(0);
    else
      workers.run(static_cast<unsigned>(shards.size()), work);
    const double computed = clock();
    trainer.update();
    const double end = clock();

    const auto units_of_update = static_cast<double>(units_of(shards) - units);
    units = units_of(shards);
    if (!is_warm) {
      warm += end - start;
      continue;
    }
    if (looked_at) {
      look.add(shards, units_of_update, result);
      continue;
    }
    result.seconds += end - start;
    result.update += end - computed;
    result.units += units_of_update;
    ++result.updates;
    for (const Shard& s : shards) {
      result.build += s.build;
      result.forward += s.forward;
      result.backward += s.backward;
      result.loss += s.loss;
    }
  }
  if (look.updates > 0) {
    result.plan = look.plan / look.units;
    result.nodes = look.nodes / look.updates;
    result.batches = look.batches / look.updates;
    result.lower_bound = look.lower_bound / look.updates;
  }
  result.peak_mib = peak_resident();
  return result;
}

}  // namespace bench
