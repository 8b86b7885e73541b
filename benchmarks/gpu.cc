// Three training tasks on the GPUs and on one thread of the CPU, by the wall clock. Writes
// the data too, so that another program can be trained on the same in the same order.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

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

/// What the CPU's part was compiled for; that of a program from elsewhere may be slow.
constexpr const char* kCompiledFor =
#if defined(__AVX512F__)
    "AVX-512";
#elif defined(__AVX2__)
    "AVX2";
#else
    "any x86-64";
#endif

/// Who multiplies, and how.
struct Where {
  dynet::Device* device;
  dynet::Precision precision;
};

/// Updates for so many seconds, one at least. Returns how many they took.
double train(Task& task, dynet::Trainer& trainer, const Where& where, std::size_t samples,
             double seconds) {
  const double begin = wall_clock();
  for (std::size_t first = 0;; first += samples) {
    dynet::ComputationGraph cg;
    cg.set_device(where.device);
    cg.set_precision(where.precision);
    const dynet::Expression loss = task.build(cg, first, samples);
    cg.backward(loss);
    trainer.update();
    if (wall_clock() < begin + seconds) continue;
    as_scalar(loss.value());  // waits for the device
    return wall_clock() - begin;
  }
}

/// Units a second, after some that are not counted.
double rate(const GpuTask& m, const Where& where, double seconds) {
  const auto task = m.make();
  dynet::SimpleSGDTrainer trainer(task->model, 0.01f);
  train(*task, trainer, where, m.samples, seconds / 4);
  task->units = 0;
  const double took = train(*task, trainer, where, m.samples, seconds);
  return static_cast<double>(task->units) / took;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains three tasks on every device and prints units a second, as JSON.");
  std::string only, write, file;
  const std::map<std::string, dynet::Precision> precisions = {
      {"float32", dynet::Precision::float32},
      {"tf32", dynet::Precision::tf32},
      {"bf16", dynet::Precision::bf16}};
  dynet::Precision precision = dynet::Precision::float32;
  double seconds = 10;
  app.add_option("--task", only, "only this one")->check(CLI::IsMember({"tree", "bilstm", "lm"}));
  app.add_option("--precision", precision,
                 "of products: float32, tf32 or bf16; the last two on GPUs only")
      ->transform(CLI::CheckedTransformer(precisions))
      ->default_str("float32");
  app.add_option("--seconds", seconds, "for each task on each device")->capture_default_str();
  app.add_option("--json", file, "write what is known to this file, after each figure");
  app.add_option("--write-data", write, "write the data to this file, and do nothing else");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!write.empty()) {
      std::ofstream(write) << data();
      return 0;
    }
    json all = {{"compiled_for", kCompiledFor}};
    for (const GpuTask& m : gpu_tasks())
      if (only.empty() || only == m.name)
        for (dynet::Device* d : dynet::get_device_manager()->get_devices())
          if (precision == dynet::Precision::float32 || d->type == dynet::DeviceType::GPU) {
            all[m.name][std::string(d->name)] = rate(m, {d, precision}, seconds);
            if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
          }
    std::cout << all.dump(1) << '\n';
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
