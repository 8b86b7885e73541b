#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dynet-like/base/source_location.h"

namespace dynet {

enum class DeviceType { CPU, GPU };

struct DeviceName : std::string_view {
  using std::string_view::string_view;
  operator std::string() const { return std::string(*this); }  // NOLINT: as in DyNet
};

/// A device that stores values and runs operations: the CPU, or a GPU through CUDA.
struct DeviceDescription {
  int device_id;
  DeviceType type;
  DeviceName name;

  /// True if both describe the same device.
  constexpr bool is(const DeviceDescription& other) const {
    return device_id == other.device_id && type == other.type;
  }
};
using Device = const DeviceDescription;

inline constexpr DeviceDescription kCpu = {0, DeviceType::CPU, "CPU"};
/// Pointer to the default device of a new graph: the CPU, or the device passed to DyNet's
/// `initialize`.
struct DefaultDevice {
  operator Device*() const;  // NOLINT: implicit
  Device* operator->() const { return *this; }
  Device& operator*() const { return *static_cast<Device*>(*this); }
};
inline constexpr DefaultDevice default_device;

/// Precision of matrix products on hardware with instructions for it, see
/// ComputationGraph::set_precision. Values are stored as floats and products are accumulated as
/// floats in every mode.
enum class Precision {
  float32,  ///< products of floats
  tf32,     ///< products of floats rounded to 10 bits of fraction
  bf16,     ///< products of floats rounded to 7 bits of fraction
};

/// A Device* argument for overloads that also accept numbers, lists and pointers: a literal 0 does
/// not convert to it.
class DeviceArgument {
 public:
  /// No device.
  DeviceArgument() = default;
  template <class D, class = std::enable_if_t<std::is_same_v<D, Device*> ||
                                              std::is_same_v<D, DefaultDevice>>>
  DeviceArgument(D device)  // NOLINT: implicit
      : device_(device), named_(true) {}

  /// The device, or null if none was passed. Throws ArgumentError for a null pointer.
  Device* get(const char* who, SourceLocation at) const;

 private:
  Device* device_ = nullptr;
  bool named_ = false;
};

/// Throws ArgumentError for a null pointer. Devices that do not exist have no pointer to pass.
void check_device(const char* who, Device* device, SourceLocation at);

/// The devices of this machine that the library can use.
class DeviceList {
 public:
  std::size_t num_devices() const;
  const std::vector<Device*> get_devices() const;  // NOLINT: const, so that `auto&` keeps it
  /// Device i, the CPU first. Throws IndexError.
  Device* get(std::size_t i, SourceLocation at = SourceLocation::current()) const;
  /// Names of all devices: "CPU, GPU:0".
  std::string names() const;
  /// Device with this name, such as "CPU" or "GPU:0"; for an empty name the default device. Throws
  /// DeviceError that lists the existing devices.
  Device* get_global_device(std::string_view name,
                            SourceLocation at = SourceLocation::current()) const;
};
using DeviceManager = const DeviceList;
DeviceManager* get_device_manager();

}  // namespace dynet
