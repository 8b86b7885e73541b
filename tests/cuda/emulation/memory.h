#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>

#include "dynet-like/base/device_allocator.h"
#include "kernels/cuda/memory_pool.h"
#include "tests/cuda/emulation/emulation.h"

namespace dynet::emulation {

/// Memory of a device, seen twice: by kernels, while they run, and by what stands for CUDA, always.
/// Any other access is caught by the CPU, and so is any access to what was
/// given back, or what lies behind a block. What is new is full of NaN. With `pooled` blocks come
/// from a pool, whose slabs are blocks to all this.
class Memory final : public DeviceAllocator, private cuda::PlainMemory {
 public:
  explicit Memory(int device);
  ~Memory() override;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  int number() const override { return device_; }
  void* allocate(std::size_t bytes) override;
  void free(void* p) noexcept override;
  void read(void* to, const void* from, std::size_t bytes) override;
  void write(void* to, const void* from, std::size_t bytes) override;
  void receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) override;

  std::size_t used() const { return used_; }
  void trim() noexcept override { pool_.trim(); }

  /// Memory that CUDA takes for itself, without a place. Throws OutOfMemoryError.
  void charge(const char* what, std::size_t bytes);
  void refund(std::size_t bytes);
  /// The same for a kernel when it is first started. Throws OutOfMemoryError.
  void load(const void* kernel);
  bool holds(const void* p) const { return p >= of_kernels_ && p < of_kernels_ + kSize; }
  /// The same place, for what is no kernel.
  template <class T>
  T* ours(T* p) const {
    return reinterpret_cast<T*>(
        ours_ +
        (reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(p)) - of_kernels_));
  }

  /// While one lives, kernels can run. What is allocated meanwhile is not theirs.
  class Open {
   public:
    explicit Open(Memory& memory);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    std::byte* from_;
    std::size_t bytes_ = 0;
  };

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 33, kPage = 4096, kGuard = 256;
  struct Block {
    std::size_t size;
    bool slab;  // the pool's
  };
  void* take(std::size_t bytes) override { return take(bytes, true); }
  void give_back(void* p) noexcept override;
  void separate(void* p) override;
  void* take(std::size_t bytes, bool slab);
  void check_limit(std::size_t bytes) const;
  std::size_t find_place(std::size_t size);
  std::size_t device_index(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - of_kernels_);
  }
  void protect(std::byte* seen, std::size_t at, std::size_t size, int rights) const;
  const int device_;
  std::mutex mutex_;
  std::byte *of_kernels_, *ours_;
  std::map<std::size_t, Block> blocks_;  // by place, in whole pages
  std::size_t next_ = 0, used_ = 0;
  std::set<const void*> loaded_;  // kernels
  cuda::MemoryPool pool_{*this, device_};
};

/// To be called by what may fail: see calls_until_failure.
template <class Error>
void may_fail(const char* what) {
  if (calls_until_failure >= 0 && calls_until_failure-- == 0)
    throw Error(std::string(what) + ": the emulated device fails");
}

/// That of device `number`, which must exist. Shared by all.
Memory& memory(int number);
const std::shared_ptr<DeviceAllocator>& shared_memory(int number);

}  // namespace dynet::emulation
