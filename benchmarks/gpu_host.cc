// Costs of an update on a GPU: the host's time, the numbers of kernels, products, waits and copies,
// and the least device time of these. Measured on an emulated device that does nothing.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <vector>

#include "benchmarks/gpu_tasks.h"
#include "benchmarks/measure.h"
#include "dynet-like/distributed/distributed_trainer.h"
#include "tests/cuda/emulation/emulation.h"

namespace {

using namespace bench;
namespace emulation = dynet::emulation;

enum Phase { kBuild, kForward, kBackward, kUpdate, kPhases };
constexpr const char* kNames[] = {"build", "forward", "backward", "update"};

// Minimum device time of each, in microseconds.
constexpr double kLaunch = 3, kProduct = 7, kWait = 10;

/// Sums over the counted updates.
struct Sums {
  double seconds[kPhases] = {};
  std::size_t launches[kPhases] = {}, products[kPhases] = {}, waits[kPhases] = {};
  std::size_t nodes = 0, uploads = 0, uploaded = 0;
};

Sums measure(const GpuTask& m, std::size_t updates) {
  constexpr std::size_t kWarm = 3;
  const auto task = m.make();
  dynet::SimpleSGDTrainer trainer(task->model, 0.01f);
  dynet::Device* const device = dynet::get_device_manager()->get_global_device("GPU:0");
  const auto& now = emulation::counts();
  Sums sums;
  for (std::size_t k = 0; k < kWarm + updates; ++k) {
    if (k == kWarm) {
      sums = {};
      sums.uploads -= now.uploads;
      sums.uploaded -= now.uploaded;
    }
    const auto phase = [&](Phase p, auto&& f) {
      const std::size_t launches = now.launches, products = now.products, waits = now.waits;
      const double begin = wall_clock();
      f();
      sums.seconds[p] += wall_clock() - begin;
      sums.launches[p] += now.launches - launches;
      sums.products[p] += now.products - products;
      sums.waits[p] += now.waits - waits;
    };
    dynet::ComputationGraph cg;
    cg.set_device(device);
    dynet::Expression loss;
    phase(kBuild, [&] { loss = task->build(cg, k * m.samples, m.samples); });
    phase(kForward, [&] { cg.incremental_forward(loss); });
    phase(kBackward, [&] { cg.backward(loss); });
    phase(kUpdate, [&] { trainer.update(); });
    sums.nodes += cg.size();
  }
  sums.uploads += now.uploads;
  sums.uploaded += now.uploaded;
  return sums;
}

/// Milliseconds of an update whose samples are divided into lanes, with several threads.
double with_threads(const GpuTask& m, std::size_t updates, unsigned lanes, unsigned threads) {
  constexpr std::size_t kWarm = 3;
  const auto task = m.make();
  std::vector<std::unique_ptr<Task>> tasks;
  for (unsigned k = 0; k < lanes; ++k) tasks.push_back(task->share());
  dynet::SimpleSGDTrainer trainer(task->model, 0.01f);
  const auto world = dynet::make_self_communicator();
  dynet::Workers workers(threads);
  dynet::DistributedTrainer distributed(trainer, *world, {.lanes = lanes}, &workers);
  dynet::Device* const device = dynet::get_device_manager()->get_global_device("GPU:0");
  double begin = 0;
  for (std::size_t k = 0; k < kWarm + updates; ++k) {
    if (k == kWarm) begin = wall_clock();
    distributed.for_each_lane(m.samples, [&](const dynet::Lane& lane) {
      dynet::ComputationGraph cg;
      cg.set_device(device);
      lane.begin(cg);
      const dynet::Expression loss =
          tasks[lane.place]->build(cg, k * m.samples + lane.samples.begin, lane.samples.size());
      cg.incremental_forward(loss);
      cg.backward(loss);
      return 0.0;
    });
    distributed.update();
  }
  return 1e3 * (wall_clock() - begin) / static_cast<double>(updates);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Counts what an update on a GPU asks of the host and of the device.");
  std::size_t updates = 50;
  std::string only;
  app.add_option("--updates", updates, "that are counted")->capture_default_str();
  app.add_option("--task", only, "only this one")
      ->check(CLI::IsMember({"tree", "bilstm", "columns", "lm"}));
  unsigned threads = 1, lanes = 8;
  app.add_option("--threads", threads, "that share the lanes of an update")->capture_default_str();
  app.add_option("--lanes", lanes, "graphs of an update with threads")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    emulation::idle() = true;
    std::cout << "of an update      ms of the host   kernels   products     waits   ms of the "
                 "device, at least\n"
              << std::fixed;
    for (const GpuTask& m : gpu_tasks()) {
      if (!only.empty() && only != m.name) continue;
      const Sums s = measure(m, updates);
      const auto per = [&](auto sum) {
        return static_cast<double>(sum) / static_cast<double>(updates);
      };
      double host = 0, device = 0;
      const auto row = [&](const char* name, double seconds, double launches, double products,
                           double waits) {
        const double least = 1e-3 * (kLaunch * launches + kProduct * products + kWait * waits);
        std::cout << std::left << std::setw(9) << m.name << std::setw(9) << name << std::right
                  << std::setprecision(2) << std::setw(14) << 1e3 * seconds << std::setprecision(0)
                  << std::setw(10) << launches << std::setw(11) << products << std::setw(10)
                  << waits << std::setprecision(2) << std::setw(14) << least << '\n';
        return least;
      };
      for (int p = 0; p < kPhases; ++p) {
        host += per(s.seconds[p]);
        device += row(kNames[p], per(s.seconds[p]), per(s.launches[p]), per(s.products[p]),
                      per(s.waits[p]));
      }
      std::cout << std::left << std::setw(9) << m.name << std::setw(9) << "all" << std::right
                << std::setw(14) << 1e3 * host << std::setw(45) << device << '\n';
      if (threads > 1) {
        const double one = with_threads(m, updates, lanes, 1);
        const double several = with_threads(m, updates, lanes, threads);
        std::cout << std::left << std::setw(9) << m.name << lanes << " lanes: " << one << " ms, "
                  << threads << " threads " << several << " ms, " << one / several << " times\n";
      }
      std::cout << std::left << std::setw(9) << m.name << std::right << std::setprecision(0)
                << per(s.nodes) << " nodes, " << per(s.uploads) << " uploads of "
                << per(s.uploaded) / 1024 << " KiB in all\n";
    }
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
