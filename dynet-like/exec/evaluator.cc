#include "dynet-like/graph/evaluator.h"

#include "dynet-like/exec/executor.h"
#include "dynet-like/plan/bound.h"

namespace dynet {
namespace {

class FloatEvaluator final : public Evaluator {
 public:
  explicit FloatEvaluator(const GraphStore& graph) : graph_(graph), executor_(graph) {}

  void forward(NodeId last) override { executor_.forward(last); }
  void invalidate() override { executor_.invalidate(); }
  void backward(NodeId loss, bool full) override { executor_.backward(loss, full); }
  Tensor value(NodeId id) override { return {graph_.nodes[id].dim, executor_.value(id)}; }
  Tensor gradient(NodeId id) override { return {graph_.nodes[id].dim, executor_.gradient(id)}; }
  void truncate(NodeId size) override { executor_.truncate(size); }
  void clear() override { executor_.clear(); }
  void release() override { executor_.release(); }
  void set_check_validity(bool check) override { executor_.set_check_validity(check); }
  void set_gradient_lane(std::optional<unsigned> number) override {
    executor_.parameters().set_lane(number);
  }
  void set_inference(bool inference) override {
    inference_ = inference;
    executor_.set_inference(inference);
    choose_planner();
  }
  void set_workers(Workers* workers) override { executor_.set_workers(workers); }
  GraphStatistics statistics() const override {
    return {graph_.nodes.size(), executor_.batches(),
            least_batches(graph_, 0, executor_.evaluated()), executor_.value_bytes(),
            executor_.gradient_bytes()};
  }
  void set_batching(bool batch) override {
    batching_ = batch;
    choose_planner();
  }

 private:
  void choose_planner() {
    executor_.set_planner(inference_  ? plan_for_inference
                          : batching_ ? plan_in_batches
                                      : plan_in_order);
  }

  bool batching_ = true, inference_ = false;
  const GraphStore& graph_;
  Executor<float> executor_;
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const GraphStore& graph) {
  return std::make_unique<FloatEvaluator>(graph);
}

}  // namespace dynet
