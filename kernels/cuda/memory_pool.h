#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace dynet::cuda {

/// Memory of a device as its driver hands it out: slow to get, and slower to give back.
class PlainMemory {
 public:
  virtual ~PlainMemory() = default;
  /// Uninitialized, aligned to 256 bytes at least. Throws OutOfMemoryError.
  virtual void* take(std::size_t bytes) = 0;
  /// Waits for all work of the device.
  virtual void give_back(void* p) noexcept = 0;
  /// All that is started on the device from now on, in any stream, comes after all that was started
  /// before. `p` is a place to write to. The host does not wait. Throws DeviceError.
  virtual void separate(void* p) = 0;
};

/// Keeps freed memory for the next allocation. Nothing waits for the device: a block may be
/// freed while kernels use it, and what is started when it is somebody else's comes after these.
/// That holds for streams of its device; one of another device that writes there must wait for a
/// stream of this one first. It lives as long as the process: what it holds is given back with all
/// else that the process has of the device. Safe to call from several threads.
class MemoryPool {
 public:
  /// `plain` must outlive it; errors name the device.
  MemoryPool(PlainMemory& plain, int device) : plain_(plain), device_(device) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Uninitialized, aligned to 256 bytes. Throws OutOfMemoryError and DeviceError.
  void* allocate(std::size_t bytes);
  /// `p` is from `allocate`.
  void free(void* p) noexcept;
  /// Frees unused memory to the driver, in whole slabs.
  void trim() noexcept;
  /// Limits the memory that the pool allocates from the driver; memory that it holds already stays.
  /// Returns the limit before, which at first is none.
  std::size_t set_limit(std::size_t bytes);

 private:
  using Free = std::set<std::pair<std::size_t, std::byte*>>;  // by size
  struct Block {
    std::size_t size;
    bool slab;              // begins one
    std::uint64_t freed;    // when, by `time_`; 0: its previous owner is done with it
    Free::node_type place;  // while it is used: that of `free_`, so that freeing needs no memory
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
  Blocks blocks_;  // by place; each slab is cut into some
  Free free_;
  std::uint64_t time_ = 1;               // one more whenever the device's work was separated
  std::size_t used_ = 0, held_ = 0;      // bytes: in blocks that are not free, and in slabs
  std::size_t limit_ = ~std::size_t{0};  // of held_
};

/// That of a device of the driver.
MemoryPool& pool_of(int number);

}  // namespace dynet::cuda
