#include "dynet-like/param/on_device.h"

#include <algorithm>

namespace dynet {

ValuesOnDevices::~ValuesOnDevices() {
  for (const Copy& c : copies_) c.memory->free(c.values);
}

void ValuesOnDevices::settle_all() {
  if (!host_is_old_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(parameter_.bank->on_device);
  bring_home();
}

void ValuesOnDevices::bring_home() {
  if (!host_is_old_.load(std::memory_order_relaxed)) return;
  const auto from =
      std::find_if(copies_.begin(), copies_.end(), [](const Copy& c) { return c.newest; });
  from->memory->read(parameter_.values, from->values, parameter_.size() * sizeof(float));
  host_is_old_.store(false, std::memory_order_release);
}

void ValuesOnDevices::changed_on_host() {
  for (Copy& c : copies_) c.newest = false;
  host_is_old_.store(false, std::memory_order_release);
}

float* values_on(ParameterStorage& p, const std::shared_ptr<MemorySource>& memory) {
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
  if (!at->newest) {
    if (p.lagging && p.lagging != &all) p.lagging->settle_all();
    all.bring_home();
    memory->write(at->values, p.values, p.size() * sizeof(float));
    at->newest = true;
  }
  return at->values;
}

void changed_on(ParameterStorage& p, const std::shared_ptr<MemorySource>& memory) {
  p.bank->changes.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(p.bank->on_device);
  for (auto& c : p.on_device->copies_) c.newest = c.memory == memory;
  p.on_device->host_is_old_.store(true, std::memory_order_release);
  p.lagging = p.on_device.get();  // another's rows were settled when the values were copied
}

}  // namespace dynet
