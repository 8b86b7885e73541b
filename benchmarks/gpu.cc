// Three training tasks on a GPU and on one CPU thread, in wall-clock time. Can store the data, so
// that another program can train on them in the same order.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>
#ifdef BENCH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "benchmarks/gpu_tasks.h"
#include "benchmarks/measure.h"
#include "benchmarks/training/task.h"

namespace {

using namespace bench;
using nlohmann::json;

json data() {
  json trees = json::array(), sentences = json::array();
  for (const auto& tree : make_trees().trees) {
    json nodes = json::array();
    for (const TreeNode& n : tree) nodes.push_back({n.label, n.word, n.left, n.right});
    trees.push_back(std::move(nodes));
  }
  for (const TaggedSentence& s : make_tagged_text().sentences)
    sentences.push_back({s.words, s.tags});
  return {{"trees", std::move(trees)},
          {"tree_words", make_trees().words},
          {"sentences", std::move(sentences)},
          {"sentence_words", make_tagged_text().words},
          {"minibatches", make_minibatches(gpu_text(), kSentences)},
          {"text_words", gpu_text().words}};
}

/// A measurement. The last three of the list are for comparison with one CPU thread.
struct Figure {
  const char* name;
  std::size_t task;     ///< index in gpu_tasks()
  std::size_t samples;  ///< samples per update
  dynet::DeviceType device = dynet::DeviceType::GPU;
  dynet::Precision precision = dynet::Precision::float32;
};

constexpr Figure kFigures[] = {
    {"tree 16", 0, 16},
    {"tree 64", 0, 64},
    {"tree 256", 0, 256},
    {"tree 1024", 0, 1024},
    {"bilstm 16", 1, 16},
    {"bilstm 64", 1, 64},
    {"bilstm 256", 1, 256},
    {"columns 64", 3, 64},
    {"columns 256", 3, 256},
    {"lm float32", 2, 1},
    {"lm tf32", 2, 1, dynet::DeviceType::GPU, dynet::Precision::tf32},
    {"lm bf16", 2, 1, dynet::DeviceType::GPU, dynet::Precision::bf16},
    {"tree 256, CPU", 0, 256, dynet::DeviceType::CPU},
    {"bilstm 64, CPU", 1, 64, dynet::DeviceType::CPU},
    {"lm float32, CPU", 2, 1, dynet::DeviceType::CPU},
};

dynet::Device* find_device(dynet::DeviceType type) {
  for (dynet::Device* d : dynet::get_device_manager()->get_devices())
    if (d->type == type) return d;
  return nullptr;
}

/// Used memory of the first GPU, in MB.
double device_memory() {
#ifdef BENCH_CUDA
  std::size_t free = 0, all = 0;
  if (cudaMemGetInfo(&free, &all) == cudaSuccess) return 1e-6 * static_cast<double>(all - free);
#endif
  return 0;
}

/// Runs updates for `seconds`, at least one. Returns the actual time.
double train(Task& task, dynet::Trainer& trainer, const Figure& f, dynet::Device* device,
             double seconds) {
  const double begin = wall_clock();
  for (std::size_t first = 0;; first += f.samples) {
    dynet::ComputationGraph cg;
    cg.set_device(device);
    cg.set_precision(f.precision);
    const dynet::Expression loss = task.build(cg, first, f.samples);
    cg.backward(loss);
    trainer.update();
    if (wall_clock() < begin + seconds) continue;
    as_scalar(loss.value());  // waits for the device
    return wall_clock() - begin;
  }
}

/// Units per second after warm-up, and the GPU memory used.
json measure(const Figure& f, dynet::Device* device, double seconds) {
  dynet::release_graph_memory();
  const double before = device_memory();
  const auto task = gpu_tasks()[f.task].make();
  dynet::SimpleSGDTrainer trainer(task->model, 0.01f);
  train(*task, trainer, f, device, seconds / 4);
  task->units = 0;
  const double took = train(*task, trainer, f, device, seconds);
  return {{"rate", static_cast<double>(task->units) / took}, {"mb", device_memory() - before}};
}

}  // namespace

int main(int argc, char** argv) {
  const double begin = wall_clock();
  CLI::App app(
      "Trains three tasks on the first GPU and on the CPU. Prints units a second, as JSON.");
  std::string only, write, file;
  double seconds = 10, limit = 0;
  app.add_option("--task", only, "only this one")
      ->check(CLI::IsMember({"tree", "bilstm", "columns", "lm"}));
  app.add_option("--seconds", seconds, "the most for each figure")->capture_default_str();
  app.add_option("--limit", limit, "seconds for everything; figures get less time, to end by then");
  app.add_option("--json", file, "write what is known to this file, after each figure");
  app.add_option("--write-data", write, "first write the data to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!write.empty()) std::ofstream(write) << data();
    json all = {{"kernels", dynet::isa_name()}, {"figures", json::object()}};
    std::vector<const Figure*> figures;
    for (const Figure& f : kFigures)
      if (find_device(f.device) && std::string_view(f.name).starts_with(only))
        figures.push_back(&f);
    for (std::size_t k = 0; k < figures.size(); ++k) {
      const Figure& f = *figures[k];
      // A third of the time is for warm-up.
      const double share = (begin + limit - wall_clock()) / static_cast<double>(figures.size() - k);
      const double time = limit > 0 ? std::clamp(share / 1.5, 0.0, seconds) : seconds;
      all["figures"][f.name] = measure(f, find_device(f.device), time);
      if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    }
    std::cout << all.dump(1) << '\n';
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
