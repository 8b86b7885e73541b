#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "dynet-like/dynet.h"

namespace nlp {

/// A saved model and where to run it: what all commands but train are told.
struct SavedModel {
  std::string model;  ///< its file
  dynet::Device* device = &dynet::kCpu;
  unsigned threads = 1;
  bool allow_not_finite = false;  ///< weights may be infinite or NaN
};

/// How the weights of a model begin.
struct Start {
  Start(std::uint64_t random) : seed(random) {}  // NOLINT: implicit
  std::uint64_t seed;
  std::uint64_t most_numbers = ~std::uint64_t{0};  ///< of all weights together
};

/// Base class of the models of all programs: parameters, a description, and the device and workers
/// chosen by the user. The description is all of a model but its weights: enough to construct a
/// model of equal shape. A copy shares the weights, for use in another thread.
template <class D>
class DescribedModel {
 public:
  using Description = D;

  DescribedModel& operator=(const DescribedModel&) = delete;

  const Description& description() const { return description_; }
  dynet::ParameterCollection& parameters() { return parameters_; }
  const dynet::ParameterCollection& parameters() const { return parameters_; }
  void set_device(dynet::Device* device) { device_ = device; }
  /// Which share out what the model predicts, see share_out. They must outlive it.
  void set_workers(dynet::Workers* workers) { workers_ = workers; }
  dynet::Workers* workers() const { return workers_; }
  unsigned threads() const { return workers_ == nullptr ? 1 : workers_->threads(); }
  /// Which share out the same, all of which have this model and call the same functions. They must
  /// outlive it.
  void set_world(dynet::Communicator* world) { world_ = world; }
  /// Null if this process is alone.
  dynet::Communicator* world() const {
    return world_ != nullptr && world_->size() > 1 ? world_ : nullptr;
  }

 protected:
  DescribedModel(Description description, const Start& start)
      : shared_(std::make_shared<const Description>(std::move(description))),
        description_(*shared_) {
    parameters_.set_seed(start.seed);
    parameters_.set_room(start.most_numbers);
  }
  DescribedModel(const DescribedModel& other)
      : shared_(other.shared_),
        description_(*shared_),
        parameters_(other.parameters_),
        device_(other.device_),
        workers_(other.workers_),
        world_(other.world_) {}
  ~DescribedModel() = default;
  /// Every graph of the model goes there, while it is empty.
  void place(dynet::ComputationGraph& graph) const { graph.set_device(device_); }

  // Copies look at one description, which may be large.
  std::shared_ptr<const Description> shared_;
  const Description& description_;
  dynet::ParameterCollection parameters_;

 private:
  dynet::Device* device_ = &dynet::kCpu;
  dynet::Workers* workers_ = nullptr;
  dynet::Communicator* world_ = nullptr;
};

}  // namespace nlp
