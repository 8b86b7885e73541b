#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "benchmarks/training/task.h"

namespace bench {

struct GpuTask {
  const char* name;
  std::size_t samples;  ///< of an update
  std::function<std::unique_ptr<Task>()> make;
};

/// The training tasks that are measured on a GPU.
const std::vector<GpuTask>& gpu_tasks();
constexpr std::size_t kSentences = 64;  ///< of a minibatch of the language model
/// Its text, with the 10,000 words that its softmax is to have.
Text gpu_text();

}  // namespace bench
