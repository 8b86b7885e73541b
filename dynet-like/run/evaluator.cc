#include "dynet-like/graph/evaluator.h"

#include <algorithm>
#include <vector>

#include "dynet-like/base/errors.h"
#include "dynet-like/base/isa.h"
#include "dynet-like/run/executor.h"

namespace dynet {
namespace {

class FloatEvaluator final : public Evaluator {
 public:
  explicit FloatEvaluator(const GraphStore& graph)
      : graph_(graph), executor_(graph, PlanPolicy::in_batches) {}

  void forward(NodeId last) override { executor_.forward(last); }
  void invalidate() override {
    executor_.invalidate();
    copies_.reset();
  }
  void backward(NodeId loss, bool full) override { executor_.backward(loss, full); }
  Tensor value(NodeId id) override { return on_host(id, executor_.value(id)); }
  Tensor gradient(NodeId id) override {
    const bool shared = graph_.nodes[id].form->kind == Kind::parameter;
    return on_host(id, executor_.gradient(id), shared);
  }
  void truncate(NodeId size) override { executor_.truncate(size); }
  void clear() override {
    executor_.clear();
    copies_.reset();
  }
  void release() override {
    executor_.release();
    devices_.resize(1);
    copies_.release();
  }
  void set_check_validity(bool check) override { executor_.set_check_validity(check); }
  void set_gradient_buffer(std::optional<unsigned> number) override {
    executor_.set_gradient_buffer(number);
  }
  void set_inference(bool inference) override { executor_.set_inference(inference); }
  void set_interrupt(Interrupt* interrupt) override { executor_.set_interrupt(interrupt); }
  void set_precision(Precision precision) override {
    precision_ = precision;
    executor_.set_precision(precision);
  }
  void use(std::size_t index, Device* device) override {
    std::size_t context = 0;
    while (context < devices_.size() && !devices_[context].is(*device)) ++context;
    if (context == devices_.size()) {
      devices_.reserve(context + 1);
      executor_.add_context(backend_of(*device));
      devices_.push_back(*device);
      executor_.set_precision(precision_);
    }
    executor_.use(index, context);
  }
  GraphStatistics statistics() const override {
    return {graph_.nodes.size(), executor_.batches(), executor_.value_bytes(),
            executor_.gradient_bytes(), isa_name()};
  }
  void set_batching(bool batch) override {
    executor_.set_policy(batch ? PlanPolicy::in_batches : PlanPolicy::in_order);
  }

 private:
  // The numbers of a node where the host can read them.
  Tensor on_host(NodeId id, float* numbers, bool shared = false) {
    const Dim& dim = graph_.nodes[id].dim;
    Backend<float>& backend = executor_.backend(id);
    if (backend.on_device()) {
      const float* const read =
          shared ? backend.read_shared(numbers, dim.size()) : backend.read(numbers, dim.size());
      numbers = copies_.allocate_array<float>(dim.size());
      std::copy_n(read, dim.size(), numbers);
    }
    return {dim, numbers};
  }

  static Backend<float> backend_of(const DeviceDescription& device) {
    if (device.type == DeviceType::CPU) return {};
    const auto there = get_device_manager()->get_devices();
    if (std::none_of(there.begin(), there.end(), [&](Device* d) { return d->is(device); }))
      throw DeviceError("there is no such device");
    return Backend<float>(cuda::kDevices.make_backend(device.device_id));
  }

  Precision precision_ = Precision::float32;
  const GraphStore& graph_;
  Executor<float> executor_;
  std::vector<DeviceDescription> devices_{kCpu};  // by number of the executor's context
  Arena copies_;                                  // of numbers on a device
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const GraphStore& graph) {
  return std::make_unique<FloatEvaluator>(graph);
}

}  // namespace dynet
