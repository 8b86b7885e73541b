// Training benchmark of this library. Prints one table.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>

#include "benchmarks/measure.h"
#include "benchmarks/training/report.h"

namespace {

using namespace bench;

Result median(std::vector<Result> results) {
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(results.size() / 2);
  std::nth_element(results.begin(), middle, results.end(),
                   [](const Result& a, const Result& b) { return a.rate() < b.rate(); });
  return *middle;
}

/// Frees cached memory before a task, so that its memory peak is its own.
void give_memory_back() {
  dynet::release_graph_memory();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains the tasks that the library is measured by, and prints one table.");
  std::string folder, task, json;
  std::size_t group = 0;
  int rounds = 3;
  Report report;
  Options& options = report.options;
  app.add_option("data", folder,
                 "folder with sst/, wikigold/ and wikitext2/; random data of the same shape if "
                 "there is none")
      ->envname("DYNET_DATA");
  app.add_option("--task", task, "only this one")
      ->check(CLI::IsMember({"tree", "tagger", "columns", "lm"}));
  app.add_option("--group", group, "only this size of group or minibatch");
  app.add_option("--seconds", options.seconds, "for each round of each task")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", rounds, "each from fresh parameters; the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "that share an update's samples or a graph's batches")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--shards", options.shards,
                 "graphs that an update's samples are shared out to; without it 4 for several "
                 "threads")
      ->check(CLI::PositiveNumber);
  app.add_flag("!--no-batching", options.batching, "run every node alone");
  const std::map<std::string, dynet::Precision> precisions = {
      {"float32", dynet::Precision::float32}, {"bf16", dynet::Precision::bf16}};
  app.add_option("--precision", options.precision, "of products: float32 or bf16")
      ->transform(CLI::CheckedTransformer(precisions))
      ->default_str("float32");
  app.add_option("--json", json, "write the figures to this file");
  CLI11_PARSE(app, argc, argv);

  try {
    report.data = folder.empty() ? "random data in the shape of the files" : "data of " + folder;
    for (const Row& row : rows()) {
      if (!task.empty() && task != row.task) continue;
      if (group != 0 && group != row.group) continue;
      std::vector<Result> results;
      for (int r = 0; r < rounds; ++r) {
        report.calibrator = std::max(report.calibrator, calibrator());
        give_memory_back();
        results.push_back(train(*make_task(row, folder), row.samples, options));
      }
      report.lines.push_back({&row, median(std::move(results))});
      std::cerr << row.name << " done\n";
    }
    if (report.lines.empty()) throw std::runtime_error("no task has this size of group");
    print_table(report, std::cout);
    if (!json.empty()) {
      std::ofstream file(json);
      write_json(report, file);
      if (!file.flush()) throw std::runtime_error("cannot write " + json);
    }
  } catch (const std::exception& e) {
    std::cerr << "bench-training: " << e.what() << "\n";
    return 1;
  }
}
