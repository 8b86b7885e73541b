#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

#include "dynet-like/base/memory_source.h"

namespace dynet::emulation {

/// Memory of a device, seen twice: by kernels, while they run, and by what stands for CUDA, always.
/// Everybody else who touches it is caught by the processor. What is new is full of NaN.
class Memory final : public MemorySource {
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
  void receive(void* to, MemorySource& source, const void* from, std::size_t bytes) override;

  std::size_t used() const { return used_; }
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
    std::size_t bytes_;
  };

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 33, kPage = 4096;
  const int device_;
  std::mutex mutex_;
  std::byte *of_kernels_, *ours_;
  std::map<std::byte*, std::size_t> sizes_;
  std::map<std::size_t, std::size_t> free_;  // by place: sizes
  std::size_t end_ = 0, used_ = 0;
};

/// That of device `number`, which must exist. Shared by all.
Memory& memory(int number);
const std::shared_ptr<MemorySource>& shared_memory(int number);

}  // namespace dynet::emulation
