#include "dynet-like/graph/evaluator.h"

#include <algorithm>

#include "dynet-like/exec/executor.h"
#include "dynet-like/plan/bound.h"

namespace dynet {
namespace {

class FloatEvaluator final : public Evaluator {
 public:
  explicit FloatEvaluator(const GraphStore& graph)
      : graph_(graph), on_processor_(graph), executor_(&on_processor_) {}

  void forward(NodeId last) override { executor_->forward(last); }
  void invalidate() override {
    executor_->invalidate();
    copies_.reset();
  }
  void backward(NodeId loss, bool full) override { executor_->backward(loss, full); }
  Tensor value(NodeId id) override { return at_home(id, executor_->value(id)); }
  Tensor gradient(NodeId id) override { return at_home(id, executor_->gradient(id)); }
  void truncate(NodeId size) override { executor_->truncate(size); }
  void clear() override {
    executor_->clear();
    copies_.reset();
  }
  void release() override {
    on_processor_.release();
    on_device_.reset();
    executor_ = &on_processor_;
    copies_.release();
  }
  void set_check_validity(bool check) override {
    check_ = check;
    executor_->set_check_validity(check);
  }
  void set_gradient_lane(std::optional<unsigned> number) override {
    lane_ = number;
    executor_->parameters().set_lane(number);
  }
  void set_inference(bool inference) override {
    inference_ = inference;
    executor_->set_inference(inference);
    choose_planner();
  }
  void set_workers(Workers* workers) override { executor_->set_workers(workers); }
  void set_precision(Precision precision) override {
    precision_ = precision;
    executor_->runner().set_precision(precision);
  }
  void set_device(Device* device) override {
    if (device->type == DeviceType::CPU) {
      executor_ = &on_processor_;
    } else {
      if (!on_device_ || device_ != device->device_id) {
        executor_ = &on_processor_;
        on_device_ = std::make_unique<Executor<float>>(
            graph_, plan_in_order, Runner<float>(cuda::kDevices.make_machine(device->device_id)));
        device_ = device->device_id;
      }
      executor_ = on_device_.get();
    }
    executor_->set_check_validity(check_);
    executor_->parameters().set_lane(lane_);
    executor_->set_inference(inference_);
    executor_->runner().set_precision(precision_);
    choose_planner();
  }
  GraphStatistics statistics() const override {
    return {graph_.nodes.size(), executor_->batches(),
            least_batches(graph_, 0, executor_->evaluated()), executor_->value_bytes(),
            executor_->gradient_bytes()};
  }
  void set_batching(bool batch) override {
    batching_ = batch;
    choose_planner();
  }

 private:
  void choose_planner() {
    executor_->set_planner(inference_  ? plan_for_inference
                           : batching_ ? plan_in_batches
                                       : plan_in_order);
  }
  // The numbers of a node where the host can read them.
  Tensor at_home(NodeId id, float* numbers) {
    const Dim& dim = graph_.nodes[id].dim;
    Runner<float>& runner = executor_->runner();
    if (runner.on_device()) {
      const float* const read = runner.read(numbers, dim.size());
      numbers = copies_.allocate_array<float>(dim.size());
      std::copy_n(read, dim.size(), numbers);
    }
    return {dim, numbers};
  }

  bool batching_ = true, inference_ = false, check_ = false;
  std::optional<unsigned> lane_;
  Precision precision_ = Precision::float32;
  const GraphStore& graph_;
  Executor<float> on_processor_;
  std::unique_ptr<Executor<float>> on_device_;  // of the device that was asked for last
  int device_ = -1;
  Executor<float>* executor_;
  Arena copies_;  // of numbers on the device
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const GraphStore& graph) {
  return std::make_unique<FloatEvaluator>(graph);
}

}  // namespace dynet
