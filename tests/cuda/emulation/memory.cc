#include "tests/cuda/emulation/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "dynet-like/base/errors.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/streams.h"

namespace dynet::emulation {

Memory::Memory(int device) : device_(device) {
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kSize)) != 0)
    throw DeviceError("the emulated device has no memory");
  const auto map = [&](int rights) {
    void* const p = mmap(nullptr, kSize, rights, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (p == MAP_FAILED) throw DeviceError("the emulated device has no memory");
    return static_cast<std::byte*>(p);
  };
  of_kernels_ = map(PROT_NONE);
  ours_ = map(PROT_READ | PROT_WRITE);
  close(file);
}

Memory::~Memory() {
  munmap(of_kernels_, kSize);
  munmap(ours_, kSize);
}

void* Memory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = (bytes + kPage) / kPage * kPage;
  std::size_t at = end_;
  const auto free =
      std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second == size; });
  if (used_ + size > std::min(kSize, limit(device_)) ||
      (free == free_.end() && end_ + size > kSize))
    throw OutOfMemoryError("out of memory on device " + std::to_string(device_) + ": " +
                           std::to_string(bytes) + " bytes asked for");
  if (free != free_.end()) {
    at = free->first;
    free_.erase(free);
  } else {
    end_ += size;
  }
  ++counts().allocations;
  if (!idle()) std::memset(ours_ + at, 0xff, size);  // NaN
  used_ += size;
  sizes_[of_kernels_ + at] = size;
  return of_kernels_ + at;
}

void Memory::free(void* p) noexcept {
  try {
    finish(device_);
  } catch (...) {  // as CUDA, which would tell it to the next call
  }
  const std::lock_guard lock(mutex_);
  const auto block = sizes_.find(static_cast<std::byte*>(p));
  if (block == sizes_.end()) return;
  used_ -= block->second;
  free_.emplace(block->first - of_kernels_, block->second);
  sizes_.erase(block);
  // Opening takes the longer, the more pages there are.
  std::size_t end = end_;
  for (auto f = free_.rbegin(); f != free_.rend() && f->first + f->second == end; ++f)
    end = f->first;
  free_.erase(free_.lower_bound(end), free_.end());
  if (end < end_) madvise(ours_ + end, end_ - end, MADV_REMOVE);
  end_ = end;
}

void Memory::read(void* to, const void* from, std::size_t bytes) {
  ++counts().copies;
  finish(device_);
  if (bytes > 0) std::memcpy(to, ours(from), bytes);
}

void Memory::write(void* to, const void* from, std::size_t bytes) {
  ++counts().copies;
  finish(device_);
  if (bytes > 0) std::memcpy(ours(to), from, bytes);
}

void Memory::receive(void* to, MemorySource& source, const void* from, std::size_t bytes) {
  counts().between += bytes;
  auto& that = static_cast<Memory&>(source);
  copy_between(device_, that.device_,
               [=, this, &that] { std::memcpy(ours(to), that.ours(from), bytes); });
}

Memory::Open::Open(Memory& memory) : from_(memory.of_kernels_) {
  const std::lock_guard lock(memory.mutex_);
  bytes_ = memory.end_;
  mprotect(from_, bytes_, PROT_READ | PROT_WRITE);
}
Memory::Open::~Open() { mprotect(from_, bytes_, PROT_NONE); }

Memory& memory(int number) { return static_cast<Memory&>(*shared_memory(number)); }

const std::shared_ptr<MemorySource>& shared_memory(int number) {
  static const std::array<std::shared_ptr<MemorySource>, kDevices> all = [] {
    std::array<std::shared_ptr<MemorySource>, kDevices> memories;
    for (int d = 0; d < kDevices; ++d)
      memories[static_cast<std::size_t>(d)] = std::make_shared<Memory>(d);
    return memories;
  }();
  return all.at(static_cast<std::size_t>(number));
}

std::size_t used(int device) { return memory(device).used(); }

}  // namespace dynet::emulation
