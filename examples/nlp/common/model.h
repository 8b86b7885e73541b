#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "dynet-like/dynet.h"

namespace nlp {

/// A saved model and where to run it: what all commands but train are told.
struct SavedModel {
  std::string model;  ///< its file
  dynet::Device* device = &dynet::kCpu;
};

/// What the models of all programs have: parameters, a description, which is all of a model but its
/// weights, so that a model of the same shape can be made from it, and a device of the user's
/// choice.
template <class D>
class DescribedModel {
 public:
  using Description = D;

  DescribedModel(const DescribedModel&) = delete;
  DescribedModel& operator=(const DescribedModel&) = delete;

  const Description& description() const { return description_; }
  dynet::ParameterCollection& parameters() { return parameters_; }
  const dynet::ParameterCollection& parameters() const { return parameters_; }
  void set_device(dynet::Device* device) { device_ = device; }

 protected:
  DescribedModel(Description description, std::uint64_t seed)
      : description_(std::move(description)) {
    parameters_.set_seed(seed);
  }
  ~DescribedModel() = default;
  /// Every graph of the model goes there, while it is empty.
  void place(dynet::ComputationGraph& graph) const { graph.set_device(device_); }

  Description description_;
  dynet::ParameterCollection parameters_;

 private:
  dynet::Device* device_ = &dynet::kCpu;
};

}  // namespace nlp
