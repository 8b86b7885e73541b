// A process of a run over MPI in which something goes wrong, for run_mpi.py. The first argument
// says what: `throw`, `die` (of SIGKILL), `hang`, or `goes-well`. `cost N...` measures what summing
// N numbers takes, see docs/distributed.md.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dynet-like/distributed/distributed_trainer.h"
#include "dynet-like/distributed/mpi/world.h"
#include "dynet-like/dynet.h"

using namespace dynet;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The median time of an update of n numbers whose gradients cost next to nothing, one following the
// other.
void measure(Communicator& world, unsigned n) {
  ParameterCollection model;
  Parameter W = model.add_parameters({n});
  SimpleSGDTrainer sgd(model, 0.1f);
  sgd.clipping_enabled = false;
  DistributedTrainer trainer(sgd, world, {}, nullptr, 0);
  const auto own = static_cast<unsigned>(trainer.own_lanes().begin);
  std::vector<double> times;
  const std::uint64_t sent = world.sent_bytes();
  constexpr unsigned kTimes = 21;
  world.barrier();
  auto begin = Clock::now();
  for (unsigned k = 0; k < kTimes; ++k) {
    trainer.for_each_lane(32, [&](const Lane& lane) {
      if (lane.number != own) return 0.0;
      ComputationGraph cg;
      lane.begin(cg);
      const Expression loss = sum_elems(parameter(cg, W));
      cg.forward(loss);
      cg.backward(loss);
      return 0.0;
    });
    trainer.update();
    times.push_back(milliseconds_since(begin));
    begin = Clock::now();
  }
  std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
  if (world.rank() == 0)
    std::cout << n << " numbers: " << times[kTimes / 2] << " ms an update, "
              << (world.sent_bytes() - sent) / kTimes << " bytes sent" << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "goes-well";
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto world = join_world();
  if (what == "cost") {
    for (const std::string& n : words) measure(*world, static_cast<unsigned>(std::stoul(n)));
    return 0;
  }
  // Short only where a process is waited for in vain: a loaded machine may be slow to answer.
  world->set_timeout(std::chrono::seconds(what == "hang" ? 2 : 60));
  guarded(*world, [&] {
    ParameterCollection model;
    Parameter W = model.add_parameters({300, 300});
    SimpleSGDTrainer sgd(model, 0.1f);
    DistributedTrainer trainer(sgd, *world);
    for (int update = 0; update < 5; ++update) {
      if (update == 3 && world->rank() == world->size() - 1) {
        if (what == "throw") throw std::runtime_error("out of cheese");
        if (what == "die") std::raise(SIGKILL);
        if (what == "hang") std::this_thread::sleep_for(std::chrono::seconds(120));
      }
      trainer.for_each_lane(64, [&](const Lane& lane) {
        ComputationGraph cg;
        lane.begin(cg);
        const Expression loss = squared_norm(parameter(cg, W));
        const double value = as_scalar(cg.forward(loss));
        cg.backward(loss);
        return value;
      });
      trainer.update(1.0f / 64);
    }
    if (world->rank() == 0) std::cout << "all is well" << std::endl;
  });
} catch (const std::exception& e) {
  std::cerr << "ended: " << e.what() << std::endl;
  return 3;
}
