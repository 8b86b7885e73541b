#include "dynet-like/base/device.h"

#include <string>

#include "dynet-like/base/errors.h"

namespace dynet {
namespace {

constexpr DeviceList kDevices;

std::string place(SourceLocation at) {
  return std::string("\n  at ") + at.file + ":" + std::to_string(at.line);
}

}  // namespace

void check_device(const char* who, Device* device, SourceLocation at) {
  if (!device) throw ArgumentError(std::string(who) + ": the device is null" + place(at), at);
}

Device* DeviceList::get(std::size_t i, SourceLocation at) const {
  if (i >= num_devices())
    throw IndexError("get: device " + std::to_string(i) + " is outside the " +
                         std::to_string(num_devices()) + " that there are" + place(at),
                     at);
  return default_device;
}

Device* DeviceList::get_global_device(std::string_view name, SourceLocation at) const {
  if (!name.empty() && name != default_device->name)
    throw ArgumentError("get_global_device: there is no device \"" + std::string(name) +
                            "\", there is: " + std::string(default_device->name) + place(at),
                        at);
  return default_device;
}

DeviceManager* get_device_manager() { return &kDevices; }

}  // namespace dynet
