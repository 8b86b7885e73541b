// Runs of many processes whose graphs are on devices: the bits are those of one.

#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/in_process.h"
#include "tests/cuda/training.h"

using namespace dynet;
using namespace dynet::test;

namespace {

struct Run {
  unsigned lanes = 4, updates = 5;
  std::vector<std::size_t> batches = {5, 1, 4, 7, 2};
  bool sparse = true, threads = false;
  /// Device of a lane's graph; null: the CPU.
  std::function<Device*(unsigned lane, unsigned rank)> device = [](unsigned, unsigned) {
    return gpu();
  };
};

/// Gradients of a batch of `size` samples, of which `loss` makes that of the i-th.
template <class Loss>
void backward(DistributedTrainer& trainer, std::size_t size,
              const std::function<Device*(unsigned lane)>& device, Loss loss) {
  trainer.for_each_lane(size, [&](const Lane& lane) {
    DeviceGraph cg(device(lane.number));
    lane.begin(cg);
    std::vector<Expression> losses;
    for (std::size_t i = lane.samples.begin; i < lane.samples.end; ++i)
      losses.push_back(loss(cg, static_cast<unsigned>(i)));
    const Expression total = sum(losses);
    const double value = as_scalar(cg.forward(total));
    cg.backward(total);
    return value;
  });
}

/// The numbers of each rank after a run.
std::vector<Floats> numbers_after(unsigned world, const Run& run) {
  std::vector<Floats> numbers(world);
  InProcessGroup group(world);
  group.run([&](Communicator& c) {
    Model model;
    AdamTrainer adam(model.pc, 0.02f);
    adam.clip_threshold = 0.5f;
    adam.sparse_updates_enabled = run.sparse;
    Workers workers(run.threads ? 2 : 1);
    DistributedTrainer trainer(adam, c, {run.lanes, 3, 0}, &workers, 2);
    for (unsigned update = 0; update < run.updates; ++update) {
      const std::size_t size = run.batches[update % run.batches.size()];
      backward(
          trainer, size, [&](unsigned lane) { return run.device(lane, c.rank()); },
          [&](ComputationGraph& cg, unsigned i) { return model.loss(cg, 10 * update + i); });
      trainer.update(1.0f / static_cast<float>(size));
    }
    numbers[c.rank()] = Outcome(model.pc, adam).numbers;
  });
  return numbers;
}

void check_same_everywhere(const Run& run, const std::vector<unsigned>& worlds) {
  const Floats expected = numbers_after(1, run)[0];
  for (const unsigned world : worlds) {
    const std::vector<Floats> all = numbers_after(world, run);
    for (unsigned r = 0; r < world; ++r) {
      INFO("rank " << r << " of " << world);
      CHECK(all[r] == expected);
    }
  }
}

}  // namespace

TEST_CASE("a run on devices has the same bits for any number of processes", "[cuda]") {
  for (const bool sparse : {false, true}) {
    Run run;
    run.sparse = sparse;
    check_same_everywhere(run, {2, 3, 4});
  }
  Run many;
  many.lanes = 3;
  check_same_everywhere(many, {5});  // two of them have no lane, and no gradient ever
  Run threads;
  threads.threads = true;
  check_same_everywhere(threads, {2});
}

TEST_CASE("each process may have a device of its own", "[cuda][devices]") {
  if (cuda::kDevices.count() < 2) {
    skip("there is one device");
    return;
  }
  Run run;
  const Floats expected = numbers_after(1, run)[0];
  run.device = [](unsigned, unsigned rank) {
    return gpu(static_cast<int>(rank) % cuda::kDevices.count());
  };
  for (const unsigned world : {2u, 4u})
    for (const Floats& numbers : numbers_after(world, run)) CHECK(numbers == expected);
  Run turns;  // of one process, which adds them up on the CPU then
  turns.device = [](unsigned lane, unsigned) { return gpu(static_cast<int>(lane) % 2); };
  check_same_everywhere(turns, {2, 4});
}

TEST_CASE("some lanes may be on the CPU", "[cuda]") {
  Run run;
  run.device = [](unsigned lane, unsigned) { return lane == 1 ? nullptr : gpu(); };
  check_same_everywhere(run, {2, 3, 4});
}

TEST_CASE("parameters on two devices in one graph", "[cuda]") {
  Floats first;
  for (const unsigned world : {1u, 2u, 4u}) {
    InProcessGroup group(world);
    std::vector<Floats> numbers(world);
    group.run([&](Communicator& c) {
      ParameterCollection pc;
      ParameterCollection there = pc.add_subcollection("there");
      there.set_device(&kCpu);
      LookupParameter words = there.add_lookup_parameters(20, {6});
      Parameter w = pc.add_parameters({4, 6}), both = pc.add_parameters({4});
      SimpleSGDTrainer sgd(pc, 0.1f);
      DistributedTrainer trainer(sgd, c, {4, 3});
      for (unsigned update = 0; update < 3; ++update) {
        backward(
            trainer, 6, [](unsigned) { return gpu(); },
            [&](ComputationGraph& cg, unsigned i) {
              const Expression x = to_device(lookup(cg, words, 7 * update + i), gpu());
              return squared_norm(parameter(cg, w) * x + parameter(cg, both));
            });
        trainer.update();
      }
      numbers[c.rank()] = Outcome(pc, sgd).numbers;
    });
    if (world == 1) first = numbers[0];
    for (const Floats& of_rank : numbers) CHECK(of_rank == first);
  }
}

#ifndef DYNET_TEST_GPU
TEST_CASE("in a group of one all stays on the device", "[cuda]") {
  const auto world = make_self_communicator();
  Model model;
  AdamTrainer adam(model.pc, 0.02f);
  DistributedTrainer trainer(adam, *world, {4, 3}, nullptr, 0);
  std::size_t copies = 0;
  for (unsigned update = 0; update < 4; ++update) {
    copies = emulation::counts().copies;
    trainer.for_each_lane(4, [&](const Lane& lane) {
      DeviceGraph cg;
      lane.begin(cg);
      const Expression loss = model.loss(cg, lane.number);
      cg.backward(loss);
      return 0.0;
    });
    trainer.update();
  }
  CHECK(emulation::counts().copies == copies);
}
#endif
