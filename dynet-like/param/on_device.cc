#include "dynet-like/param/on_device.h"

#include <algorithm>

namespace dynet {

ValuesOnDevices::~ValuesOnDevices() {
  for (const Copy& c : copies_) c.memory->free(c.values);
}

ValuesOnDevices::Copy* ValuesOnDevices::find_newest() {
  const auto at =
      std::find_if(copies_.begin(), copies_.end(), [](const Copy& c) { return c.newest; });
  return at == copies_.end() ? nullptr : &*at;
}

void ValuesOnDevices::copy_to_host() {
  if (!parameter_.host_is_old.load(std::memory_order_relaxed)) return;
  const Copy& from = *find_newest();
  from.memory->read(parameter_.data, from.values, parameter_.size() * sizeof(float));
  parameter_.host_is_old.store(false, std::memory_order_release);
}

void ValuesOnDevices::changed_on_host() {
  for (Copy& c : copies_) c.newest = false;
  parameter_.host_is_old.store(false, std::memory_order_release);
}

float* values_on(ParameterStorageBase& p, const std::shared_ptr<DeviceAllocator>& memory) {
  const std::lock_guard lock(p.bank->on_device);
  if (!p.on_device) p.on_device = std::make_unique<ValuesOnDevices>(p);
  ValuesOnDevices& all = *p.on_device;
  auto& copies = all.copies_;
  auto at =
      std::find_if(copies.begin(), copies.end(), [&](const auto& c) { return c.memory == memory; });
  if (at == copies.end()) {
    copies.reserve(copies.size() + 1);
    auto* const values = static_cast<float*>(memory->allocate(p.size() * sizeof(float)));
    at = copies.insert(copies.end(), {memory, values, false});
  }
  if (at->newest) return at->values;
  const std::size_t bytes = p.size() * sizeof(float);
  if (const auto* from = all.find_newest())
    memory->receive(at->values, *from->memory, from->values, bytes);
  else
    memory->write(at->values, p.data, bytes);
  at->newest = true;
  return at->values;
}

void changed_on(ParameterStorageBase& p, const DeviceAllocator& changed) {
  p.bank->changes.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(p.bank->on_device);
  for (auto& c : p.on_device->copies_) c.newest = c.memory.get() == &changed;
  p.host_is_old.store(true, std::memory_order_release);
}

}  // namespace dynet
