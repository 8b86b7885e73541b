#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "dynet-like/attributes/indices.h"
#include "dynet-like/attributes/inputs.h"
#include "kernels/cuda/each.cuh"
#include "kernels/cuda/kernels.h"

namespace dynet::cuda {
namespace {

struct Given {
  const float* values;
  std::size_t size;
  __device__ float operator()(std::size_t i, std::size_t e) const { return values[i * size + e]; }
};

void input_forward(Queue& q, const Batch<float>& b) {
  const std::size_t size = b.dim().size();
  float* const values = q.stage<float>(b.count * size);
  for (std::size_t i = 0; i < b.count; ++i)
    std::copy_n(input_values(b, i), size, values + i * size);
  each_value(q, b, Given{q.on_device(values), size});
}

struct Same {
  const float* values;  // by node
  __device__ float operator()(std::size_t i, std::size_t) const { return values[i]; }
};

void constant_forward(Queue& q, const Batch<float>& b) {
  float* const values = q.stage<float>(b.count);
  for (std::size_t i = 0; i < b.count; ++i)
    values[i] = static_cast<float>(b.attr<ConstantAttr>(i).value);
  each_value(q, b, Same{q.on_device(values)});
}

// An element of a node; the indices of a node are distinct.
struct Scattered {
  std::uint32_t node, place;
  float value;
};

DYNET_GLOBAL void scatter_kernel(TensorArray<float> y, const Scattered* all, std::size_t n) {
  begin_kernel();
  for (std::size_t k = thread_number(); k < n; k += thread_count())
    y[all[k].node][all[k].place] = all[k].value;
}

void sparse_input_forward(Queue& q, const Batch<float>& b) {
  std::vector<Scattered> all;
  float* const rest = q.stage<float>(b.count);
  for (std::size_t i = 0; i < b.count; ++i) {
    const auto& a = b.attr<SparseInputAttr>(i);
    const unsigned* const indices = b.payload<SparseInputAttr, unsigned>(i);
    rest[i] = static_cast<float>(a.rest);
    std::vector<std::pair<unsigned, std::uint64_t>> order;  // the last of equal indices counts
    for (std::uint64_t k = 0; k < a.indices; ++k) order.emplace_back(indices[k], k);
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < order.size(); ++k)
      if (k + 1 == order.size() || order[k + 1].first != order[k].first)
        all.push_back({static_cast<std::uint32_t>(i), order[k].first,
                       std::bit_cast<float>(indices[a.indices + order[k].second])});
  }
  each_value(q, b, Same{q.on_device(rest)});
  q.launch_for(all.size(), scatter_kernel, q.outs(b), q.send(all.data(), all.size()), all.size());
}

struct OneHot {
  const unsigned* indices;  // by node and batch element
  std::size_t size, batch;
  __device__ float operator()(std::size_t i, std::size_t e) const {
    const Quotient at = divide(e, size);
    return indices[i * batch + at.by] == at.rest ? 1.0f : 0.0f;
  }
};

void one_hot_forward(Queue& q, const Batch<float>& b) {
  const std::size_t batch = b.dim().bd;
  unsigned* const indices = q.stage<unsigned>(b.count * batch);
  for (std::size_t i = 0; i < b.count; ++i)
    std::copy_n(one_hot_indices(b, i), batch, indices + i * batch);
  each_value(q, b, OneHot{q.on_device(indices), b.dim().batch_size(), batch});
}

}  // namespace

const Kernels kInput = {input_forward, nullptr};
const Kernels kSparseInput = {sparse_input_forward, nullptr};
const Kernels kOneHot = {one_hot_forward, nullptr};
const Kernels kConstant = {constant_forward, nullptr};

}  // namespace dynet::cuda
