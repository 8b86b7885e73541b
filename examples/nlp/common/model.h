#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "dynet-like/base/workers.h"
#include "dynet-like/distributed/communicator.h"
#include "dynet-like/dynet.h"

namespace nlp {

/// A saved model and its device: options of all commands except train.
struct SavedModel {
  std::string model;  ///< path of the file
  dynet::Device* device = &dynet::kCpu;
  unsigned threads = 1;
  bool allow_not_finite = false;  ///< accept infinite and NaN weights
  bool map = false;               ///< use the weights where they lie in the file
};

/// Initialization of the weights of a model.
struct Start {
  Start(std::uint64_t random) : seed(random) {}  // NOLINT: implicit
  std::uint64_t seed;
  std::uint64_t most_numbers = ~std::uint64_t{0};  ///< limit on the number of weights
  bool loads = false;                              ///< weights are loaded next
};

/// Base class of all models: parameters, a description, and the user's device and workers. The
/// description contains everything except the weights, and suffices to construct a model of equal
/// shape. A copy shares the weights, for use in another thread.
template <class D>
class DescribedModel {
 public:
  using Description = D;

  DescribedModel& operator=(const DescribedModel&) = delete;

  const Description& description() const { return description_; }
  dynet::ParameterCollection& parameters() { return parameters_; }
  const dynet::ParameterCollection& parameters() const { return parameters_; }
  void set_device(dynet::Device* device) { device_ = device; }
  /// Workers for predictions, see share_out. They must outlive the model.
  void set_workers(dynet::Workers* workers) { workers_ = workers; }
  dynet::Workers* workers() const { return workers_; }
  unsigned threads() const { return workers_ == nullptr ? 1 : workers_->threads(); }
  /// Processes for predictions; all have this model and call the same functions. They must outlive
  /// the model.
  void set_world(dynet::Communicator* world) { world_ = world; }
  /// Null for a single process.
  dynet::Communicator* world() const {
    return world_ != nullptr && world_->size() > 1 ? world_ : nullptr;
  }

 protected:
  DescribedModel(Description description, const Start& start)
      : shared_(std::make_shared<const Description>(std::move(description))),
        description_(*shared_) {
    parameters_.set_seed(start.seed);
    parameters_.set_room(start.most_numbers);
    if (start.loads) parameters_.skip_initialization();
  }
  DescribedModel(const DescribedModel& other)
      : shared_(other.shared_),
        description_(*shared_),
        parameters_(other.parameters_),
        device_(other.device_),
        workers_(other.workers_),
        world_(other.world_) {}
  ~DescribedModel() = default;
  /// Moves an empty graph to the device of the model.
  void place(dynet::ComputationGraph& graph) const { graph.set_device(device_); }

  // Copies share the description, which may be large.
  std::shared_ptr<const Description> shared_;
  const Description& description_;
  dynet::ParameterCollection parameters_;

 private:
  dynet::Device* device_ = &dynet::kCpu;
  dynet::Workers* workers_ = nullptr;
  dynet::Communicator* world_ = nullptr;
};

}  // namespace nlp
