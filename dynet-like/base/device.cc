#include "dynet-like/base/device.h"

#include <deque>
#include <string>

#include "dynet-like/base/cuda_devices.h"
#include "dynet-like/base/errors.h"
#include "dynet-like/base/process.h"

namespace dynet {
namespace {

constexpr DeviceList kDevices;

// Devices are listed once per process, so that a Device* stays valid.
struct Found {
  std::deque<std::string> names;
  std::deque<DeviceDescription> all;

  Found() {
    all.push_back(kCpu);
    const cuda::Devices* devices = &cuda::kDevices;
    const int gpus = devices ? devices->count() : 0;
    for (int i = 0; i < gpus; ++i) {
      names.push_back("GPU:" + std::to_string(i));
      all.push_back({i, DeviceType::GPU, DeviceName(names.back().c_str())});
    }
  }
};
const Found& found() {
  static const Found devices;
  return devices;
}

std::string location(SourceLocation at) {
  return std::string("\n  at ") + at.file + ":" + std::to_string(at.line);
}

}  // namespace

DefaultDevice::operator Device*() const {
  const ProcessHooks* process = find_process_hooks();
  return process ? process->device() : &kCpu;
}

Device* DeviceArgument::get(const char* who, SourceLocation at) const {
  if (named_) check_device(who, device_, at);
  return device_;
}

void check_device(const char* who, Device* device, SourceLocation at) {
  if (!device) throw ArgumentError(std::string(who) + ": the device is null" + location(at), at);
}

std::size_t DeviceList::num_devices() const { return found().all.size(); }

const std::vector<Device*> DeviceList::get_devices() const {
  std::vector<Device*> all{&kCpu};
  for (std::size_t i = 1; i < num_devices(); ++i) all.push_back(&found().all[i]);
  return all;
}

Device* DeviceList::get(std::size_t i, SourceLocation at) const {
  if (i >= num_devices())
    throw IndexError("get: device " + std::to_string(i) + " is outside the " +
                         std::to_string(num_devices()) + " that there are" + location(at),
                     at);
  return get_devices()[i];
}

std::string DeviceList::names() const {
  std::string names;
  for (Device* d : get_devices()) names += (names.empty() ? "" : ", ") + std::string(d->name);
  return names;
}

Device* DeviceList::get_global_device(std::string_view name, SourceLocation at) const {
  if (name.empty()) return default_device;
  for (Device* d : get_devices())
    if (name == d->name) return d;
  throw DeviceError("get_global_device: there is no device \"" + std::string(name) +
                        "\", there is: " + names() + location(at),
                    at);
}

DeviceManager* get_device_manager() { return &kDevices; }

}  // namespace dynet
