#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dynet-like/base/device_allocator.h"
#include "dynet-like/base/pod_vector.h"

namespace dynet {

namespace cuda {
class Mark;  // kernels/cuda/driver.h
}

/// Address of a gradient, and whether it already holds a sum.
struct GradientSlot {
  float* g = nullptr;
  bool written = false;  ///< false: uninitialized, the next write stores
};

/// Gradient of a lookup table; only used rows have memory.
class RowGradients {
 public:
  /// Allocates in the memory of a device, or of the CPU if `memory` is null.
  RowGradients(std::size_t rows, std::size_t row_size,
               std::shared_ptr<DeviceAllocator> memory = nullptr);
  ~RowGradients();
  RowGradients(const RowGradients&) = delete;
  RowGradients& operator=(const RowGradients&) = delete;

  /// The gradient of one row; the pointer lives until the next `clear`. Sets `written`.
  GradientSlot use_row(std::uint32_t row);
  /// The gradient of the whole table as one matrix, stored separately from the rows. Sets
  /// `written`.
  GradientSlot use_whole();

  /// The gradient of all rows as one CPU matrix, zero for unused rows, valid until the next
  /// `clear`. Rows that the caller writes to become used.
  float* show();

  /// Rows used since the last clear, in order of first use; row k of the list has gradient
  /// `row_gradient(k)`.
  const PodVector<std::uint32_t>& rows() const { return used_; }
  float* row_gradient(std::size_t k) const {
    if (shown_) return whole_ + used_[k] * row_size_;
    return chunks_[k >> chunk_bits_] + (k & (chunk_rows() - 1)) * row_size_;
  }
  /// The gradient of table row `row`, or null if unused.
  float* find(std::uint32_t row) const {
    return slot_[row] == kUnused ? nullptr : row_gradient(slot_[row]);
  }
  /// The gradient of row `row`, also of a table used as a whole; null if unused.
  float* gradient_of(std::uint32_t row) const {
    return whole_written_ ? whole_ + row * row_size_ : find(row);
  }
  bool whole_written() const { return whole_written_; }
  float* whole() const { return whole_; }
  std::size_t row_size() const { return row_size_; }
  std::size_t row_count() const { return rows_; }
  /// Adds the rows to the whole-table gradient if that was used, and frees their slots.
  void unify();
  /// Adds the gradient to `sum`, which is on the CPU.
  void add_to(RowGradients& sum) const;
  void clear();
  bool empty() const;
  /// Marks rows as used that the caller wrote through the pointer returned by `show`.
  void use_written();
  /// State restored by `rewind`: rows used afterwards become unused, and so does the whole table.
  struct State {
    std::size_t rows;
    bool whole;
  };
  State state() const { return {used_.size(), whole_written_}; }
  void rewind(State s);

 private:
  static constexpr std::uint32_t kUnused = 0xffffffffu;
  std::size_t chunk_rows() const { return std::size_t{1} << chunk_bits_; }

  std::size_t rows_, row_size_;
  unsigned chunk_bits_ = 6;
  std::shared_ptr<DeviceAllocator> memory_;
  std::unique_ptr<std::uint32_t[]> slot_;
  PodVector<std::uint32_t> used_;
  std::vector<float*> chunks_;  // chunks never move: backward stores pointers into them
  float* whole_ = nullptr;
  bool whole_written_ = false;
  bool shown_ = false;  // whole_ holds the gradients of the used rows, and zero for unused rows
};

/// Gradients accumulated by the backward passes of one thread, by parameter index.
class GradientBuffer {
 public:
  /// Allocates in the memory of a device, or of the CPU if `memory` is null.
  explicit GradientBuffer(std::shared_ptr<DeviceAllocator> memory = nullptr)
      : memory_(std::move(memory)) {}
  ~GradientBuffer();
  GradientBuffer(const GradientBuffer&) = delete;
  GradientBuffer& operator=(const GradientBuffer&) = delete;

  /// The gradient of dense parameter `index` with `size` elements. Sets `written`.
  GradientSlot use(std::size_t index, std::size_t size);
  RowGradients& rows(std::size_t index, std::size_t rows, std::size_t row_size);
  /// Writable CPU memory of the gradient; zero if there is no gradient. Writing a non-zero value
  /// creates the gradient.
  float* show(std::size_t index, std::size_t size);
  /// Address that `use` would return, or null before its first call.
  float* memory_of(std::size_t index) const {
    return index < dense_.size() ? dense_[index].g : nullptr;
  }
  /// The written gradient, or null.
  float* find(std::size_t index) const {
    return index < dense_.size() && dense_[index].has_gradient() ? dense_[index].g : nullptr;
  }
  RowGradients* find_rows(std::size_t index) const {
    if (index >= rows_.size() || !rows_[index] || rows_[index]->empty()) return nullptr;
    rows_[index]->use_written();
    return rows_[index].get();
  }
  /// Elements of dense parameter `index`, zero if it was not written.
  std::size_t dense_size(std::size_t index) const { return find(index) ? dense_[index].size : 0; }
  std::size_t dense_count() const { return dense_.size(); }
  std::size_t table_count() const { return rows_.size(); }
  void forget(std::size_t index);
  /// Allocator of a device's memory; null: the CPU's.
  const std::shared_ptr<DeviceAllocator>& memory() const { return memory_; }
  bool empty() const;
  /// Adds all gradients to `sum`, which is on the CPU.
  void add_to(GradientBuffer& sum) const;
  /// RowGradients::unify for all tables.
  void unify();
  void clear();

  /// Mark of the graph whose device work last wrote to this buffer, see DeviceBackend::write_after.
  std::shared_ptr<const cuda::Mark> writer;

 private:
  struct Dense {
    float* g = nullptr;
    std::size_t size = 0;
    bool written = false;
    bool shown = false;  // returned by `show` with zeros, and possibly written by the caller

    bool has_gradient() const {
      return written || (shown && std::any_of(g, g + size, [](float x) { return x != 0; }));
    }
  };
  Dense& at(std::size_t index, std::size_t size);

  std::shared_ptr<DeviceAllocator> memory_;
  std::vector<Dense> dense_;
  std::vector<std::unique_ptr<RowGradients>> rows_;
};

/// Gradient buffers of several threads, numbers and devices, and their sum.
///
/// Backward passes of a thread accumulate in order into the thread's buffer, or into the numbered
/// buffer that the graph selects; graphs on a device have buffers in its memory. `merge` adds the
/// buffers in a fixed order: threads in the order of their first buffer, then numbers, ascending,
/// and for each the CPU before devices. A single thread has one buffer, which the trainer reads
/// without a copy.
class GradientBuffers {
 public:
  /// Buffer of the calling thread. Thread-safe.
  GradientBuffer& mine(const std::shared_ptr<DeviceAllocator>& memory = nullptr);
  /// Numbered buffer, independent of threads; only one thread at a time may write to it.
  /// Thread-safe.
  GradientBuffer& numbered(unsigned number,
                           const std::shared_ptr<DeviceAllocator>& memory = nullptr);
  /// Buffers of this number that have gradients, the CPU's first, then by device. Empty buffers are
  /// released. Safe to call during backward passes of other numbers.
  std::vector<GradientBuffer*> of_number(unsigned number);
  /// Adds all gradients into the first buffer on the CPU and returns it, or null without gradients.
  /// Not to be called during a backward pass.
  GradientBuffer* merge();
  /// `merge`, or the calling thread's empty buffer without gradients.
  GradientBuffer& merged();
  /// The only buffer with gradients, or null if there are none or several. Not to be called during
  /// a backward pass.
  GradientBuffer* only();
  /// All buffers with gradients, ordered by thread, then number, then device, the CPU first. Not to
  /// be called during a backward pass.
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> in_order();
  /// True if this key of `in_order` is a number.
  static bool is_number(std::uint64_t key) { return key >= kNumbered; }
  /// An empty buffer that belongs to no thread; released by `drop`.
  GradientBuffer& make(const std::shared_ptr<DeviceAllocator>& memory);
  void drop(GradientBuffer& buffer);
  /// Drops the gradient of a dense parameter. Not to be called during a backward pass.
  void forget(std::size_t index);
  /// Drops the gradient of a table. Not to be called during a backward pass.
  void forget_rows(std::size_t table);
  /// Drops all gradients but keeps the memory. Not to be called during a backward pass.
  void clear();

 private:
  struct Entry {
    std::uint64_t thread;  // 0: none; kNumbered | number; or the number of a thread
    bool active;
    std::unique_ptr<GradientBuffer> buffer;
  };
  static constexpr std::uint64_t kNumbered = std::uint64_t{1} << 63;
  GradientBuffer& of(std::uint64_t key, const std::shared_ptr<DeviceAllocator>& memory);
  GradientBuffer& find_or_claim(std::uint64_t key, const std::shared_ptr<DeviceAllocator>& memory);
  GradientBuffer& claim(std::uint64_t thread, const std::shared_ptr<DeviceAllocator>& memory);
  GradientBuffer* find_only();
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> list();

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace dynet
