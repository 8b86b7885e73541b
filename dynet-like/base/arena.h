#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dynet-like/base/device_allocator.h"

namespace dynet {

/// Bump allocator: blocks are handed out in order and reset together.
///
/// Blocks never move: a pointer is valid until `reset` or `rewind` passes its block. The arena
/// grows by chunks of doubling size and keeps them; `reset` only moves a cursor. A first block that
/// exceeds every chunk frees the earlier chunks.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64, kFirstChunk = std::size_t{1} << 16;

  struct Mark {
    std::size_t chunk = 0;
    std::size_t used = 0;
  };

  Arena() = default;
  /// Arena in the memory of a device, accessible to the kernels of that device only; null: the
  /// CPU's memory.
  explicit Arena(std::shared_ptr<DeviceAllocator> source) : source_(std::move(source)) {}
  /// Arena with blocks aligned to a smaller power of two, to save memory with many small blocks.
  /// The first chunk has `first_chunk` bytes.
  explicit Arena(std::size_t alignment, std::size_t first_chunk = kFirstChunk)
      : alignment_(alignment), first_chunk_(first_chunk) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Allocates `bytes` of uninitialized memory, aligned to the alignment of the constructor
  /// (kAlignment by default). Throws OutOfMemoryError.
  void* allocate(std::size_t bytes) {
    const std::size_t rounded = (bytes + alignment_ - 1) & ~(alignment_ - 1);
    if (rounded < bytes || chunk_ >= chunks_.size() || chunks_[chunk_].size - used_ < rounded)
      return allocate_slow(bytes);
    void* const p = chunks_[chunk_].data + used_;
    used_ += rounded;
    return p;
  }

  template <class T>
  T* allocate_array(std::size_t n) {
    return static_cast<T*>(allocate(n * sizeof(T)));
  }

  Mark mark() const { return {chunk_, used_}; }
  void rewind(Mark m) {
    chunk_ = m.chunk;
    used_ = m.used;
  }
  void reset() { rewind({}); }
  /// Calls f(p, bytes) for the memory handed out since the mark, once per chunk.
  template <class F>
  void each_block_since(Mark m, F f) const {
    for (std::size_t c = m.chunk; c <= chunk_ && c < chunks_.size(); ++c) {
      const std::size_t begin = c == m.chunk ? m.used : 0,
                        end = c == chunk_ ? used_ : chunks_[c].size;
      if (begin < end) f(chunks_[c].data + begin, end - begin);
    }
  }
  /// Frees all chunks.
  void release();
  /// Counter of `release` calls. While it is unchanged, the same sequence of `allocate` calls after
  /// `reset` returns the same addresses.
  std::uint64_t generation() const { return generation_; }
  /// Bytes of all chunks.
  std::size_t capacity() const;
  /// Bytes handed out, including the unused ends of full chunks.
  std::size_t used() const;

 private:
  struct Chunk {
    std::byte* data;
    std::size_t size;
  };
  void* allocate_slow(std::size_t bytes);

  std::shared_ptr<DeviceAllocator> source_;
  std::size_t alignment_ = kAlignment, first_chunk_ = kFirstChunk;
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;  // index of the chunk in use
  std::size_t used_ = 0;   // bytes used in it
  std::uint64_t generation_ = 0;
};

/// Aligned memory for parameters and optimizer state; zeroed. Throws OutOfMemoryError.
void* allocate_zeroed(std::size_t bytes);
void free_aligned(void* p) noexcept;

}  // namespace dynet
