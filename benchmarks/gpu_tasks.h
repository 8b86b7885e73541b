#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "benchmarks/training/task.h"

namespace bench {

struct GpuTask {
  const char* name;
  std::size_t samples;  ///< samples per update
  std::function<std::unique_ptr<Task>()> make;
};

/// Training tasks measured on a GPU.
const std::vector<GpuTask>& gpu_tasks();
constexpr std::size_t kSentences = 64;  ///< sentences per minibatch of the language model
/// Text of the language model, with the 10,000 words of its softmax.
Text gpu_text();

}  // namespace bench
