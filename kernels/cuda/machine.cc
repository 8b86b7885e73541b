#include "dynet-like/graph/machine.h"

#include "kernels/cuda/copy.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/queue.h"
#include "kernels/cuda/update.h"

namespace dynet::cuda {
namespace {

class CudaMachine final : public Machine {
 public:
  explicit CudaMachine(int number) : queue_(make_driver(number)) {}

  const std::shared_ptr<MemorySource>& memory() override { return queue_.driver().memory(); }
  void forward(const OpForm& form, const Batch<float>& batch) override {
    queue_.begin_operation();
    form.cuda.value.kernels->forward(queue_, batch);
  }
  void backward(const OpForm& form, const GradientBatch<float>& batch) override {
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
  void start() override { queue_.flush(); }
  void read(float* to, const float* from, std::size_t n) override { queue_.read(to, from, n); }

 private:
  Queue queue_;
};

std::unique_ptr<Machine> make(int number) { return std::make_unique<CudaMachine>(number); }

}  // namespace

const Devices kDevices{device_count, make, make_updater};

}  // namespace dynet::cuda
