#include "dynet-like/train/state_array.h"

#include "dynet-like/base/arena.h"
#include "dynet-like/param/storage.h"

namespace dynet {

StateArray::StateArray(std::size_t n)
    : data_(static_cast<float*>(allocate_zeroed(n * sizeof(float)))), size_(n) {}

StateArray::~StateArray() {
  free_aligned(data_);
  if (device_data_) memory_->free(device_data_);
}

float* StateArray::on(const std::shared_ptr<DeviceAllocator>& memory) {
  if (memory_ != memory) {
    auto* const fresh = static_cast<float*>(memory->allocate(size_ * sizeof(float)));
    if (device_data_) {
      if (!device_is_old_) memory->receive(fresh, *memory_, device_data_, size_ * sizeof(float));
      memory_->free(device_data_);
    }
    device_data_ = fresh;
    memory_ = memory;
  }
  if (device_is_old_) memory->write(device_data_, data_, size_ * sizeof(float));
  device_is_old_ = false;
  host_is_old_ = true;
  return device_data_;
}

void StateArray::copy_to_host() const {
  if (!host_is_old_) return;
  memory_->read(data_, device_data_, size_ * sizeof(float));
  host_is_old_ = false;
}

TrainerState::Arrays* TrainerState::find(const ParameterStorageBase& p) {
  auto& all = p.is_lookup ? tables_ : dense_;
  return p.index < all.size() && !all[p.index].empty() ? &all[p.index] : nullptr;
}

TrainerState::Arrays& TrainerState::operator[](const ParameterStorageBase& p) {
  auto& all = p.is_lookup ? tables_ : dense_;
  if (p.index >= all.size()) all.resize(p.index + 1);
  return all[p.index];
}

}  // namespace dynet
