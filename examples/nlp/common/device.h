#pragma once

#include <string>

#include "dynet-like/dynet.h"

namespace nlp {

/// A saved model and where to run it: what all commands but train are told.
struct SavedModel {
  std::string model;  ///< its file
  dynet::Device* device = &dynet::kCpu;
};

/// A model whose graphs run on a device of its user's choice.
class OnDevice {
 public:
  void set_device(dynet::Device* device) { device_ = device; }

 protected:
  OnDevice() = default;
  ~OnDevice() = default;
  /// Every graph of the model goes there, while it is empty.
  void place(dynet::ComputationGraph& graph) const { graph.set_device(device_); }

 private:
  dynet::Device* device_ = &dynet::kCpu;
};

}  // namespace nlp
