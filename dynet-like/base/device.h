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

/// Device that stores values and runs operations: the CPU, or a GPU that CUDA can use.
struct DeviceDescription {
  int device_id;
  DeviceType type;
  DeviceName name;

  /// Whether both stand for one device.
  constexpr bool is(const DeviceDescription& other) const {
    return device_id == other.device_id && type == other.type;
  }
};
using Device = const DeviceDescription;

inline constexpr DeviceDescription kCpu = {0, DeviceType::CPU, "CPU"};
/// A pointer to the device of graphs that are told none: the CPU, or what a program that
/// calls DyNet's `initialize` has asked for.
struct DefaultDevice {
  operator Device*() const;  // NOLINT: implicit
  Device* operator->() const { return *this; }
  Device& operator*() const { return *static_cast<Device*>(*this); }
};
inline constexpr DefaultDevice default_device;

/// How matrices are multiplied where the hardware has instructions for it, see
/// ComputationGraph::set_precision. Numbers are floats in memory, and products are summed as
/// floats, whatever it says.
enum class Precision {
  float32,  ///< of floats
  tf32,     ///< of floats rounded to 10 bits of their fraction
  bf16,     ///< of floats rounded to 7 bits of their fraction
};

/// A Device* as an argument beside numbers, lists and pointers: a literal 0 is not one.
class DeviceArgument {
 public:
  /// None is named.
  DeviceArgument() = default;
  template <class D, class = std::enable_if_t<std::is_same_v<D, Device*> ||
                                              std::is_same_v<D, DefaultDevice>>>
  DeviceArgument(D device)  // NOLINT: implicit
      : device_(device), named_(true) {}

  /// The device, or null if none is named. Throws ArgumentError for a null pointer.
  Device* get(const char* who, SourceLocation at) const;

 private:
  Device* device_ = nullptr;
  bool named_ = false;
};

/// Throws ArgumentError for a null pointer. A device that is not there cannot be had.
void check_device(const char* who, Device* device, SourceLocation at);

/// The devices of this machine that the library can use.
class DeviceList {
 public:
  std::size_t num_devices() const;
  const std::vector<Device*> get_devices() const;  // NOLINT: const, so that `auto&` keeps it
  /// Device i, the CPU first. Throws IndexError.
  Device* get(std::size_t i, SourceLocation at = SourceLocation::current()) const;
  /// Their names: "CPU, GPU:0".
  std::string names() const;
  /// The device of this name, such as "CPU" or "GPU:0"; without a name, the default device. Throws
  /// DeviceError, naming those that there are.
  Device* get_global_device(std::string_view name,
                            SourceLocation at = SourceLocation::current()) const;
};
using DeviceManager = const DeviceList;
DeviceManager* get_device_manager();

}  // namespace dynet
