#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "dynet-like/base/arena.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/device_backend.h"
#include "dynet-like/run/bf16.h"

namespace dynet {

/// The kernel of the executor's precision, for this CPU.
template <class T, class Kernels>
auto kernel(const Kernels& k) {
  if constexpr (std::is_same_v<T, float>)
    return k.f.here();
  else
    return k.d;
}

/// Numbers in the CPU's memory.
template <class T>
struct HostArrays {
  static void copy(std::size_t n, std::size_t size, const T* const* from, T* const* to,
                   const Write* writes) {
    for (std::size_t i = 0; i < n; ++i)
      if (writes[i] == Write::store)
        std::copy_n(from[i], size, to[i]);
      else
        for (std::size_t e = 0; e < size; ++e) to[i][e] += from[i][e];
  }
  static void fill(T* to, std::size_t n, T value, bool add) {
    for (std::size_t e = 0; e < n; ++e) to[e] = add ? to[e] + value : value;
  }
};

/// Memory of an executor's numbers and runner of its kernels: the CPU.
template <class T>
class Backend : public HostArrays<T> {
 public:
  static constexpr bool on_device() { return false; }
  std::shared_ptr<DeviceAllocator> memory() const { return nullptr; }
  void forward(const OpForm& form, const Batch<T>& b) { kernel<T>(form.forward.value)(b); }
  void backward(const OpForm& form, const GradientBatch<T>& b) {
    kernel<T>(form.backward.value)(b);
  }
  static bool has_backward(const OpForm& form) { return kernel<T>(form.backward.value); }
  void set_precision(Precision) {}
  void rewind(Arena& arena, Arena::Mark to) { arena.rewind(to); }
  void start() {}
  void forget() {}
  /// n numbers that the host can read, until the next call.
  const T* read(const T* from, std::size_t) { return from; }
  const T* read_shared(const T* from, std::size_t) { return from; }
  /// As `copy`, from the memory of another.
  void receive(Backend&, std::size_t n, std::size_t size, const T* const* from, T* const* to,
               const Write* writes) {
    this->copy(n, size, from, to, writes);
  }
};

/// The same, or a device.
template <>
class Backend<float> {
 public:
  Backend() = default;
  /// Several may share a device's.
  explicit Backend(std::shared_ptr<DeviceBackend> device) : device_(std::move(device)) {}

  bool on_device() const { return device_ != nullptr; }
  std::shared_ptr<DeviceAllocator> memory() const { return device_ ? device_->memory() : nullptr; }
  void forward(const OpForm& form, const Batch<float>& b) {
    if (device_)
      device_->forward(form, b);
    else if (precision_ != Precision::bf16 || !forward_in_bf16(form, b)) [[likely]]
      form.forward.value.f(b);
  }
  void backward(const OpForm& form, const GradientBatch<float>& b) {
    if (device_)
      device_->backward(form, b);
    else if (precision_ != Precision::bf16 || !backward_in_bf16(form, b)) [[likely]]
      form.backward.value.f(b);
  }
  static bool has_backward(const OpForm& form) { return form.backward.value.f; }
  /// See DeviceBackend.
  void copy(std::size_t n, std::size_t size, const float* const* from, float* const* to,
            const Write* writes) {
    device_ ? device_->copy(n, size, from, to, writes)
            : HostArrays<float>::copy(n, size, from, to, writes);
  }
  void fill(float* to, std::size_t n, float value, bool add) {
    device_ ? device_->fill(to, n, value, add) : HostArrays<float>::fill(to, n, value, add);
  }
  void set_precision(Precision precision) {
    precision_ = precision;
    if (device_) device_->set_precision(precision);
  }
  void rewind(Arena& arena, Arena::Mark to) {
    device_ ? device_->rewind(arena, to) : arena.rewind(to);
  }
  void start() {
    if (device_) device_->start();
  }
  void forget() {
    if (device_) device_->forget();
  }
  void write_after(std::shared_ptr<const cuda::Mark>& writer) {
    if (device_) device_->write_after(writer);
  }
  const float* read(const float* from, std::size_t n) {
    if (!device_) return from;
    read_.resize_uninitialized(n);
    device_->read(read_.data(), from, n);
    return read_.data();
  }
  /// The same of what other graphs write, too.
  const float* read_shared(const float* from, std::size_t n) {
    if (!device_) return from;
    read_.resize_uninitialized(n);
    memory()->read(read_.data(), from, n * sizeof(float));
    return read_.data();
  }
  void receive(Backend& other, std::size_t n, std::size_t size, const float* const* from,
               float* const* to, const Write* writes) {
    DeviceBackend* const there = other.device_.get();
    if (!there)
      return device_ ? device_->write(n, size, from, to, writes)
                     : HostArrays<float>::copy(n, size, from, to, writes);
    if (device_.get() == there) return device_->copy(n, size, from, to, writes);
    if (device_) return device_->receive(*there, n, size, from, to, writes);
    read_.resize_uninitialized(n * size);
    there->read(read_.data(), n, size, from);
    tensors_.clear();
    for (std::size_t i = 0; i < n; ++i) tensors_.push_back(read_.data() + i * size);
    HostArrays<float>::copy(n, size, tensors_.data(), to, writes);
  }

 private:
  std::shared_ptr<DeviceBackend> device_;
  Precision precision_ = Precision::float32;
  PodVector<float> read_;  // from the device, and where tensors begin there
  PodVector<const float*> tensors_;
};

}  // namespace dynet
