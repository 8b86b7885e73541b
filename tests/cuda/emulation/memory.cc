#include "tests/cuda/emulation/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "dynet-like/base/errors.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/races.h"
#include "tests/cuda/emulation/streams.h"

namespace dynet::emulation {

Memory::Memory(int device) : device_(device) {
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kSize)) != 0)
    throw DeviceError("the emulated device has no memory");
  const auto map = [&] {
    void* const p = mmap(nullptr, kSize, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (p == MAP_FAILED) throw DeviceError("the emulated device has no memory");
    return static_cast<std::byte*>(p);
  };
  of_kernels_ = map();
  ours_ = map();
  close(file);
  watch_memory(of_kernels_, kSize);
}

Memory::~Memory() {
  munmap(of_kernels_, kSize);
  munmap(ours_, kSize);
}

void Memory::protect(std::byte* seen, std::size_t at, std::size_t size, int rights) const {
  if (mprotect(seen + at, size, rights) != 0)
    throw DeviceError("the emulated device has too many blocks of memory");
}

// Behind what was taken last: what was given back stays out of reach for long.
std::size_t Memory::find_place(std::size_t size) {
  for (std::size_t at : {next_, std::size_t{0}})
    for (auto b = blocks_.lower_bound(at);; ++b) {
      const bool last = b == blocks_.end();
      if (at + size <= (last ? kSize : b->first)) return at;
      if (last) break;
      at = b->first + b->second.size + kPage;
    }
  throw OutOfMemoryError("the emulated device has no place left");
}

void* Memory::allocate(std::size_t bytes) {
  return pooled ? pool_.allocate(bytes) : take(bytes, false);
}

void Memory::check_limit(std::size_t bytes) const {
  if (used_ + bytes > std::min(kSize, limit(device_)))
    throw OutOfMemoryError("out of memory on device " + std::to_string(device_) + ": " +
                           std::to_string(bytes) + " bytes asked for");
}

void Memory::charge(const char* what, std::size_t bytes) {
  may_fail<OutOfMemoryError>(what);
  const std::lock_guard lock(mutex_);
  check_limit(bytes);
  used_ += bytes;
}

void Memory::refund(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void Memory::load(const void* kernel) {
  const std::lock_guard lock(mutex_);
  if (loaded_.count(kernel)) return;
  check_limit(kKernel);
  loaded_.insert(kernel);
  used_ += kKernel;
}

// A block ends where a page ends, and a page behind it is nobody's.
void* Memory::take(std::size_t bytes, bool slab) {
  may_fail<OutOfMemoryError>("allocating memory");
  const std::lock_guard lock(mutex_);
  const std::size_t needed = std::max<std::size_t>(bytes + kGuard - 1, kGuard) / kGuard * kGuard;
  const std::size_t size = (needed + kPage - 1) / kPage * kPage;
  check_limit(size);
  const std::size_t at = find_place(size + kPage);
  protect(ours_, at, size, PROT_READ | PROT_WRITE);
  blocks_.emplace(at, Block{size, slab});
  next_ = at + size + kPage;
  used_ += size;
  ++counts().allocations;
  if (!idle()) std::memset(ours_ + at, 0xff, size);  // NaN
  return of_kernels_ + at + (size - needed);
}

void Memory::free(void* p) noexcept {
  const auto pools = [&] {
    const std::lock_guard lock(mutex_);
    const auto next = blocks_.upper_bound(device_index(p));
    return next != blocks_.begin() && std::prev(next)->second.slab;
  };
  pools() ? pool_.free(p) : give_back(p);
}

void Memory::separate(void*) {
  may_fail<DeviceError>("separating work");
  ++counts().separations;
  separate_work(device_);
}

void Memory::give_back(void* p) noexcept {
  try {
    finish(device_);
  } catch (...) {  // as CUDA, which would tell it to the next call
  }
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(device_index(p) / kPage * kPage);
  if (block == blocks_.end()) return;
  const auto [at, size] = std::pair(block->first, block->second.size);
  ++counts().frees;
  used_ -= size;
  madvise(ours_ + at, size, MADV_REMOVE);
  forget_accesses(of_kernels_ + at, size);
  mprotect(ours_ + at, size, PROT_NONE);
  blocks_.erase(block);
}

void Memory::read(void* to, const void* from, std::size_t bytes) {
  may_fail<DeviceError>("reading from the device");
  ++counts().copies;
  ++counts().waits;
  finish(device_);
  if (bytes > 0) std::memcpy(to, ours(from), bytes);
}

void Memory::write(void* to, const void* from, std::size_t bytes) {
  may_fail<DeviceError>("writing to the device");
  ++counts().copies;
  ++counts().waits;
  finish(device_);
  if (bytes > 0) std::memcpy(ours(to), from, bytes);
}

void Memory::receive(void* to, DeviceAllocator& source, const void* from, std::size_t bytes) {
  may_fail<DeviceError>("copying between devices");
  counts().between += bytes;
  auto& that = static_cast<Memory&>(source);
  copy_between(device_, that.device_,
               [=, this, &that] { std::memcpy(ours(to), that.ours(from), bytes); });
}

Memory::Open::Open(Memory& memory) : from_(memory.of_kernels_) {
  const std::lock_guard lock(memory.mutex_);
  for (const auto& [at, block] : memory.blocks_) {
    memory.protect(from_, at, block.size, PROT_READ | PROT_WRITE);
    bytes_ = at + block.size;
  }
}
Memory::Open::~Open() {
  if (bytes_ > 0) mprotect(from_, bytes_, PROT_NONE);
}

Memory& memory(int number) { return static_cast<Memory&>(*shared_memory(number)); }

const std::shared_ptr<DeviceAllocator>& shared_memory(int number) {
  static const std::array<std::shared_ptr<DeviceAllocator>, kDevices> all = [] {
    std::array<std::shared_ptr<DeviceAllocator>, kDevices> memories;
    for (int d = 0; d < kDevices; ++d)
      memories[static_cast<std::size_t>(d)] = std::make_shared<Memory>(d);
    return memories;
  }();
  return all.at(static_cast<std::size_t>(number));
}

std::size_t used(int device) { return memory(device).used(); }

}  // namespace dynet::emulation
