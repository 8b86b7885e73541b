#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dynet-like/param/on_device.h"
#include "dynet-like/param/storage.h"
#include "dynet-like/run/backend.h"

namespace dynet {

/// Address of a gradient, and whether to add to it.
template <class T>
struct Slot {
  T* g;
  bool adds;
};

/// Access of an executor to parameters. In float: values in place, gradients in a buffer of the
/// collection.
template <class T>
class ParameterAccess {
 public:
  /// Access to parameters in the CPU's memory, or to their copies on the backend's device.
  explicit ParameterAccess(Backend<float>& backend)
      : backend_(backend), memory_(backend.memory()) {}

  /// All values.
  float* values(ParameterStorageBase& p) {
    if (memory_) return values_on(p, memory_);
    p.copy_to_host();
    return p.data;
  }
  /// Called before a forward pass: values may have moved on the device.
  void begin_forward() { table_ = nullptr; }
  /// The values of one row.
  float* row(ParameterStorageBase& p, std::size_t row) {
    if (memory_) {
      if (table_ != &p) {
        rows_ = values_on(p, memory_);
        table_ = &p;
      }
      return rows_ + row * p.row_size();
    }
    p.copy_to_host();
    return p.data + row * p.row_size();
  }
  /// Selects the buffer for gradients by its number, or the calling thread's.
  void begin_backward(std::optional<unsigned> buffer) {
    buffers_.clear();
    dense_.clear();
    tables_.clear();
    number_ = buffer;
  }
  /// Called after a failed pass: parameters without a gradient before it have none. The others keep
  /// the part that was added.
  void undo_backward() {
    for (const auto& [buffer, index] : dense_) buffer->forget(index);
    while (!tables_.empty()) {
      tables_.back().first->rewind(tables_.back().second);
      tables_.pop_back();
    }
  }
  Slot<float> use(ParameterStorageBase& p) {
    if (p.is_lookup) {
      const GradientSlot s = rows(p).use_whole();
      return {s.g, s.written};
    }
    GradientBuffer& l = buffer(p);
    const GradientSlot s = l.use(p.index, p.size());
    if (!s.written) dense_.emplace_back(&l, p.index);
    return {s.g, s.written};
  }
  /// Address that `use` would return for the gradient, or null if it is not allocated.
  float* gradient_of(ParameterStorageBase& p) {
    return p.is_lookup ? nullptr : buffer(p).memory_of(p.index);
  }
  Slot<float> use_row(ParameterStorageBase& p, std::uint32_t row) {
    const GradientSlot s = rows(p).use_row(row);
    return {s.g, s.written};
  }

 private:
  GradientBuffer& buffer(ParameterStorageBase& p) {
    for (const auto& [bank, buffer] : buffers_)
      if (bank == p.bank) return *buffer;
    GradientBuffers& all = p.bank->gradients;
    buffers_.emplace_back(p.bank, number_ ? &all.numbered(*number_, memory_) : &all.mine(memory_));
    GradientBuffer& buffer = *buffers_.back().second;
    backend_.write_after(buffer.writer);
    return buffer;
  }
  RowGradients& rows(ParameterStorageBase& p) {
    RowGradients& r = buffer(p).rows(p.index, p.rows, p.row_size());
    if (tables_.empty() || tables_.back().first != &r) tables_.emplace_back(&r, r.state());
    return r;
  }

  Backend<float>& backend_;
  std::shared_ptr<DeviceAllocator> memory_;
  const ParameterStorageBase* table_ =
      nullptr;  // the last table whose rows were read on the device
  float* rows_ = nullptr;
  std::vector<std::pair<ParameterBank*, GradientBuffer*>> buffers_;
  // First writes in this pass, for undo_backward.
  std::vector<std::pair<GradientBuffer*, std::size_t>> dense_;
  std::vector<std::pair<RowGradients*, RowGradients::State>> tables_;
  std::optional<unsigned> number_;
};

/// In double, for gradient checks: on copies, the parameters do not change.
template <>
class ParameterAccess<double> {
 public:
  explicit ParameterAccess(Backend<double>&) {}

  struct Copy {
    std::vector<double> values, gradient;
  };
  double* values(ParameterStorageBase& p) { return copy(p).values.data(); }
  void begin_forward() {}
  double* row(ParameterStorageBase& p, std::size_t row) { return values(p) + row * p.row_size(); }
  void begin_backward(std::optional<unsigned>) {
    for (auto& [p, c] : copies_) c.gradient.assign(c.values.size(), 0.0);
  }
  void undo_backward() {}
  Slot<double> use(ParameterStorageBase& p) { return {copy(p).gradient.data(), true}; }
  double* gradient_of(ParameterStorageBase&) { return nullptr; }
  Slot<double> use_row(ParameterStorageBase& p, std::uint32_t row) {
    return {copy(p).gradient.data() + row * p.row_size(), true};
  }
  std::unordered_map<ParameterStorageBase*, Copy>& copies() { return copies_; }

 private:
  Copy& copy(ParameterStorageBase& p) {
    auto [at, fresh] = copies_.try_emplace(&p);
    if (fresh) {
      p.copy_to_host();
      at->second.values.assign(p.data, p.data + p.size());
      at->second.gradient.assign(p.size(), 0.0);
    }
    return at->second;
  }

  std::unordered_map<ParameterStorageBase*, Copy> copies_;
};

}  // namespace dynet
