#include <algorithm>

#include "dynet-like/graph/device_backend.h"
#include "kernels/cuda/copy.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/queue.h"
#include "kernels/cuda/update.h"

namespace dynet::cuda {
namespace {

class CudaMachine final : public DeviceBackend {
 public:
  explicit CudaMachine(int number) : queue_(make_driver(number)) {}

  const std::shared_ptr<DeviceAllocator>& memory() override { return queue_.driver().memory(); }
  void forward(const OpForm& form, const Batch<float>& batch) override {
    queue_.start_early();
    queue_.begin_operation();
    form.cuda.value.kernels->forward(queue_, batch);
  }
  void backward(const OpForm& form, const GradientBatch<float>& batch) override {
    queue_.start_early();
    queue_.begin_operation();
    form.cuda.value.kernels->backward(queue_, batch);
  }
  void set_precision(Precision precision) override { queue_.set_precision(precision); }
  void copy(std::size_t n, std::size_t size, const float* const* from, float* const* to,
            const Write* writes) override {
    queue_.begin_operation();
    copy_tensors(queue_, n, size, from, to, writes);
  }
  void fill(float* to, std::size_t n, float value, bool add) override {
    queue_.begin_operation();
    fill_numbers(queue_, to, n, value, add);
  }
  void rewind(Arena& arena, Arena::Mark to) override { queue_.rewind(arena, to); }
  void start() override { queue_.flush(); }
  void forget() override { queue_.forget(); }
  void write_after(std::shared_ptr<const Mark>& writer) override { queue_.write_after(writer); }
  void read(float* to, const float* from, std::size_t n) override { queue_.read(to, from, n); }
  void read(float* to, std::size_t n, std::size_t size, const float* const* from) override {
    queue_.read(to, together(n, size, from), n * size);
  }
  void write(std::size_t n, std::size_t size, const float* const* from, float* const* to,
             const Write* writes) override {
    queue_.begin_operation();
    float* const staged = queue_.stage<float>(n * size);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(from[i], size, staged + i * size);
    spread(queue_.on_device(staged), n, size, to, writes);
  }
  void receive(DeviceBackend& other, std::size_t n, std::size_t size, const float* const* from,
               float* const* to, const Write* writes) override {
    if (n * size == 0) return;
    auto& source = static_cast<CudaMachine&>(other);
    const float* const there = source.together(n, size, from);
    queue_.begin_operation();
    float* const here = queue_.temporary(n * size);
    source.queue_.flush();
    queue_.flush();
    Driver &in = queue_.driver(), &out = source.queue_.driver();
    in.wait_for(out);
    in.copy(here, there, n * size * sizeof(float));
    out.wait_for(in);
    spread(here, n, size, to, writes);
  }

 private:
  // Makes n tensors contiguous, until the next operation.
  const float* together(std::size_t n, std::size_t size, const float* const* from) {
    queue_.begin_operation();
    if (n == 0 || Batch<const float>::contiguous(from, n, size)) return n ? from[0] : nullptr;
    float* const all = queue_.temporary(n * size);
    pointers_.clear();
    for (std::size_t i = 0; i < n; ++i) pointers_.push_back(all + i * size);
    writes_.clear();
    writes_.resize(n, Write::store);
    copy_tensors(queue_, n, size, from, pointers_.data(), writes_.data());
    return all;
  }
  // Copies contiguous tensors to their targets.
  void spread(const float* all, std::size_t n, std::size_t size, float* const* to,
              const Write* writes) {
    sources_.clear();
    for (std::size_t i = 0; i < n; ++i) sources_.push_back(all + i * size);
    copy_tensors(queue_, n, size, sources_.data(), to, writes);
  }

  Queue queue_;
  PodVector<float*> pointers_;  // of contiguous tensors
  PodVector<const float*> sources_;
  PodVector<Write> writes_;
};

std::unique_ptr<DeviceBackend> make(int number) { return std::make_unique<CudaMachine>(number); }

void trim_memory() {
  for (int d = 0; d < device_count(); ++d) memory_of(d)->trim();
}

}  // namespace

const Devices kDevices{device_count, make, make_updater, trim_memory};

}  // namespace dynet::cuda
