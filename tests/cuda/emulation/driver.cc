// A device made of the processor: its memory can be touched only while a kernel runs.

#include "kernels/cuda/driver.h"

#include <sys/mman.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>

#include "dynet-like/base/errors.h"
#include "tests/cuda/emulation/emulation.h"
#include "tests/cuda/emulation/lanes.h"

namespace dynet::cuda {
namespace {

// Seen twice: by kernels, while they run, and by what stands for CUDA, always.
class Memory final : public MemorySource {
 public:
  Memory() {
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
  ~Memory() override {
    munmap(of_kernels_, kSize);
    munmap(ours_, kSize);
  }
  void* allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const std::size_t size = (bytes + kPage) / kPage * kPage;
    std::size_t at = end_;
    auto free = free_.find(size);
    if (used_ + size > std::min(kSize, emulation::limit()) ||
        (free == free_.end() && end_ + size > kSize))
      throw OutOfMemoryError("out of memory on the device: " + std::to_string(bytes) +
                             " bytes asked for");
    if (free != free_.end()) {
      at = free->second;
      free_.erase(free);
    } else {
      end_ += size;
    }
    std::memset(ours_ + at, 0xff, size);  // NaN
    used_ += size;
    sizes_[of_kernels_ + at] = size;
    return of_kernels_ + at;
  }
  void free(void* p) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto block = sizes_.find(static_cast<std::byte*>(p));
    if (block == sizes_.end()) return;
    used_ -= block->second;
    free_.emplace(block->second, block->first - of_kernels_);
    sizes_.erase(block);
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    ++emulation::copies();
    if (bytes > 0) std::memcpy(to, ours(from), bytes);
  }
  void write(void* to, const void* from, std::size_t bytes) override {
    ++emulation::copies();
    if (bytes > 0) std::memcpy(ours(to), from, bytes);
  }
  /// The same place, for what is no kernel.
  template <class T>
  T* ours(T* p) const {
    return reinterpret_cast<T*>(
        ours_ +
        (reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(p)) - of_kernels_));
  }

  /// While one lives, kernels can run.
  class Open {
   public:
    explicit Open(Memory& m) : lock_(m.kernels_), memory_(m) { protect(PROT_READ | PROT_WRITE); }
    ~Open() { protect(PROT_NONE); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    void protect(int rights) { mprotect(memory_.of_kernels_, memory_.end_, rights); }
    std::lock_guard<std::mutex> lock_;
    Memory& memory_;
  };

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 33, kPage = 4096;
  std::mutex mutex_, kernels_;
  std::byte *of_kernels_, *ours_;
  std::map<std::byte*, std::size_t> sizes_;
  std::multimap<std::size_t, std::size_t> free_;  // by size: places
  std::size_t end_ = 0, used_ = 0;
};

Memory& the_memory() {
  static Memory memory;
  return memory;
}

class Emulated final : public Driver {
 public:
  const std::shared_ptr<MemorySource>& memory() override { return memory_of(0); }
  void* allocate_pinned(std::size_t bytes) override { return ::operator new(bytes); }
  void free_pinned(void* p) noexcept override { ::operator delete(p); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(the_memory().ours(to), from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override { fetch(to, from, bytes); }
  void fetch(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, the_memory().ours(from), bytes);
  }
  void launch(const void* kernel, Call call, const Grid& grid, void** arguments) override {
    if (grid.threads == 0 || grid.threads > 1024 || grid.threads % 32 != 0)
      throw DeviceError("a block has 32 to 1024 threads, in whole warps");
    open();
    try {
      emulation::run(grid.blocks, grid.threads, grid.shared, [&] { call(kernel, arguments); });
    } catch (...) {
      open_.reset();
      throw;
    }
  }
  void multiply(const Product& p) override {
    const Memory& memory = the_memory();
    const float *const from_a = memory.ours(p.a), *const from_b = memory.ours(p.b);
    float* const to = memory.ours(p.c);
    using Matrix = Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>>;
    for (int i = 0; i < p.batch; ++i) {
      const Matrix a(from_a + i * p.step_a, p.turn_a ? p.k : p.m, p.turn_a ? p.m : p.k,
                     Eigen::OuterStride<>(p.lda));
      const Matrix b(from_b + i * p.step_b, p.turn_b ? p.n : p.k, p.turn_b ? p.k : p.n,
                     Eigen::OuterStride<>(p.ldb));
      Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<>> c(to + i * p.step_c, p.m, p.n,
                                                             Eigen::OuterStride<>(p.ldc));
      Eigen::MatrixXf product(p.m, p.n);
      if (p.turn_a && p.turn_b)
        product = a.transpose() * b.transpose();
      else if (p.turn_a)
        product = a.transpose() * b;
      else if (p.turn_b)
        product = a * b.transpose();
      else
        product = a * b;
      if (p.beta == 0)
        c = product;
      else
        c = p.beta * c + product;
    }
  }
  void mark(unsigned) override { open_.reset(); }
  void wait(unsigned) override {}

 private:
  // Until the next mark: opening is slow.
  void open() {
    if (!open_) open_ = std::make_unique<Memory::Open>(the_memory());
  }
  std::unique_ptr<Memory::Open> open_;
};

}  // namespace

int device_count() { return 1; }

const std::shared_ptr<MemorySource>& memory_of(int) {
  static const std::shared_ptr<MemorySource> memory(std::shared_ptr<void>(), &the_memory());
  return memory;
}

std::unique_ptr<Driver> make_driver(int, StreamKind) { return std::make_unique<Emulated>(); }

}  // namespace dynet::cuda

std::size_t& dynet::emulation::limit() {
  static std::size_t bytes = std::size_t{1} << 32;
  return bytes;
}

std::atomic<std::size_t>& dynet::emulation::copies() {
  static std::atomic<std::size_t> count = 0;
  return count;
}
