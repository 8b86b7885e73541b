#include "dynet-like/train/state_array.h"

#include "dynet-like/base/arena.h"

namespace dynet {

StateArray::StateArray(std::size_t n)
    : data_(static_cast<float*>(allocate_zeroed(n * sizeof(float)))), size_(n) {}

StateArray::~StateArray() {
  free_aligned(data_);
  if (there_) memory_->free(there_);
}

float* StateArray::on(const std::shared_ptr<DeviceAllocator>& memory) {
  if (memory_ != memory) {
    auto* const fresh = static_cast<float*>(memory->allocate(size_ * sizeof(float)));
    if (there_) {
      if (!device_is_old_) memory->receive(fresh, *memory_, there_, size_ * sizeof(float));
      memory_->free(there_);
    }
    there_ = fresh;
    memory_ = memory;
  }
  if (device_is_old_) memory->write(there_, data_, size_ * sizeof(float));
  device_is_old_ = false;
  host_is_old_ = true;
  return there_;
}

void StateArray::bring_home() const {
  if (!host_is_old_) return;
  memory_->read(data_, there_, size_ * sizeof(float));
  host_is_old_ = false;
}

}  // namespace dynet
