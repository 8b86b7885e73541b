#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace dynet::cuda {

/// Memory of a device from its driver: slow to allocate, and slower to free.
class PlainMemory {
 public:
  virtual ~PlainMemory() = default;
  /// Allocates uninitialized memory, aligned to at least 256 bytes. Throws OutOfMemoryError.
  virtual void* take(std::size_t bytes) = 0;
  /// Frees memory, after waiting for all work of the device.
  virtual void give_back(void* p) noexcept = 0;
  /// Orders all later work of the device, in any stream, after all earlier work. `p` is writable
  /// memory. The host does not wait. Throws DeviceError.
  virtual void separate(void* p) = 0;
};

/// Caches freed memory for later allocations. It does not wait for the device: a block may be freed
/// while kernels use it, since work of the block's next owner is ordered after these kernels. This
/// holds for streams of the pool's device; a stream of another device must first wait for a stream
/// of this device. Pools live until the process ends. Thread-safe.
class MemoryPool {
 public:
  /// `plain` must outlive the pool; errors name the device.
  MemoryPool(PlainMemory& plain, int device) : plain_(plain), device_(device) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Allocates uninitialized memory, aligned to 256 bytes. Throws OutOfMemoryError and DeviceError.
  void* allocate(std::size_t bytes);
  /// Frees memory of `allocate`.
  void free(void* p) noexcept;
  /// Returns unused slabs to the driver.
  void trim() noexcept;
  /// Limits the memory that the pool holds; memory that it already holds is not freed. Returns the
  /// previous limit, initially unlimited.
  std::size_t set_limit(std::size_t bytes);

 private:
  using Free = std::set<std::pair<std::size_t, std::byte*>>;  // by size
  struct Block {
    std::size_t size;
    bool slab;              // first block of a slab
    std::uint64_t freed;    // value of `time_` when freed; 0: no use is pending
    Free::node_type place;  // while in use: the extracted node of `free_`; free() needs no memory
  };
  using Blocks = std::map<std::byte*, Block>;
  bool is_free(const Block& b) const { return b.place.empty(); }
  void add_slab(std::size_t bytes);
  void* take(std::size_t slab, std::size_t asked);
  Blocks::iterator merge(Blocks::iterator left, Blocks::iterator right) noexcept;
  void give_back_slabs() noexcept;

  PlainMemory& plain_;
  const int device_;
  std::mutex mutex_;
  Blocks blocks_;  // by address; each slab is split into blocks
  Free free_;
  std::uint64_t time_ = 1;               // number of separations of the device's work
  std::size_t used_ = 0, held_ = 0;      // bytes in used blocks, bytes in slabs
  std::size_t limit_ = ~std::size_t{0};  // of held_
};

/// The pool of a device of the driver.
MemoryPool& pool_of(int number);

}  // namespace dynet::cuda
