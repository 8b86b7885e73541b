#include "benchmarks/gpu_tasks.h"

namespace bench {

Text gpu_text() {
  Text text = make_text();
  text.words = 10'000;
  return text;
}

const std::vector<GpuTask>& gpu_tasks() {
  static const std::vector<GpuTask> all = {
      {"tree", 256, [] { return make_tree_cells(make_trees()); }},
      {"bilstm", 64, [] { return make_tagger(make_tagged_text(), 256); }},
      {"lm", 1, [] { return make_language_model(gpu_text(), kSentences, 1024); }},
      {"columns", 64, [] { return make_tagger(make_tagged_text(), 256, true); }}};
  return all;
}

}  // namespace bench
