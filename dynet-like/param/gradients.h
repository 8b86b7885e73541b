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

/// Address for a gradient, and whether it already holds a sum to add to.
struct GradientSlot {
  float* g = nullptr;
  bool written = false;  ///< false: the next write stores, nothing was zeroed before
};

/// The gradient of a lookup table: only the rows that were used have memory.
class RowGradients {
 public:
  /// In the memory of a device, or, if that is null, of the CPU.
  RowGradients(std::size_t rows, std::size_t row_size,
               std::shared_ptr<DeviceAllocator> memory = nullptr);
  ~RowGradients();
  RowGradients(const RowGradients&) = delete;
  RowGradients& operator=(const RowGradients&) = delete;

  /// The gradient of one row; the pointer lives until the next `clear`. Sets `written`.
  GradientSlot use_row(std::uint32_t row);
  /// The gradient of the table as one matrix, apart from the rows. Sets `written`.
  GradientSlot use_whole();

  /// The gradient of all rows as one matrix, zero for rows that were not used, on the CPU. A row
  /// that is written to there counts as used. Lives until the next `clear`.
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
  /// The same, of a table that may have been used as a whole, too.
  float* gradient_of(std::uint32_t row) const {
    return whole_written_ ? whole_ + row * row_size_ : find(row);
  }
  bool whole_written() const { return whole_written_; }
  float* whole() const { return whole_; }
  std::size_t row_size() const { return row_size_; }
  std::size_t row_count() const { return rows_; }
  /// Moves the rows into the whole-table gradient, if that one was used, so that one form is left.
  void unify();
  /// Adds all to `sum`, which is on the CPU.
  void add_to(RowGradients& sum) const;
  void clear();
  bool empty() const;
  /// Lists rows that were written to where they are shown.
  void use_written();
  /// State that `rewind` restores: rows and a table used after it are unused again.
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
  std::vector<float*> chunks_;  // never moved: backward holds pointers into them
  float* whole_ = nullptr;
  bool whole_written_ = false;
  bool shown_ = false;  // the gradients of rows lie in whole_, which is zero elsewhere
};

/// The gradients that one thread's backward passes have added up, by parameter index.
class GradientBuffer {
 public:
  /// In the memory of a device, or of the CPU.
  explicit GradientBuffer(std::shared_ptr<DeviceAllocator> memory = nullptr)
      : memory_(std::move(memory)) {}
  ~GradientBuffer();
  GradientBuffer(const GradientBuffer&) = delete;
  GradientBuffer& operator=(const GradientBuffer&) = delete;

  /// The gradient of dense parameter `index` with `size` elements. Sets `written`.
  GradientSlot use(std::size_t index, std::size_t size);
  RowGradients& rows(std::size_t index, std::size_t rows, std::size_t row_size);
  /// The memory of its gradient, which may be written to, on the CPU: zero if there is no gradient,
  /// and then a gradient as soon as something else is written there.
  float* show(std::size_t index, std::size_t size);
  /// Address that `use` would return now; null if there is no memory yet.
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
  /// Allocator of its memory, or null.
  const std::shared_ptr<DeviceAllocator>& memory() const { return memory_; }
  bool empty() const;
  /// Adds all to `sum`, which is on the CPU.
  void add_to(GradientBuffer& sum) const;
  /// See RowGradients.
  void unify();
  void clear();

  /// Stands for the graph whose work on the device has written here last, see
  /// DeviceBackend::write_after.
  std::shared_ptr<const cuda::Mark> writer;

 private:
  struct Dense {
    float* g = nullptr;
    std::size_t size = 0;
    bool written = false;
    bool shown = false;  // as zero, for somebody who may write there

    bool has_gradient() const {
      return written || (shown && std::any_of(g, g + size, [](float x) { return x != 0; }));
    }
  };
  Dense& at(std::size_t index, std::size_t size);

  std::shared_ptr<DeviceAllocator> memory_;
  std::vector<Dense> dense_;
  std::vector<std::unique_ptr<RowGradients>> rows_;
};

/// How the gradients of graphs on several threads are added up.
///
/// Every thread adds into a buffer of its own, in the order of its backward passes, or into the
/// buffer that a graph names; graphs on a device have buffers in its memory. `merge` adds the
/// buffers up: those of threads in the order in which the threads first had a buffer, then
/// numbered ones by number, each the CPU's first. With one thread there is one buffer and nothing
/// to add up: the trainer reads the very memory that backward wrote.
class GradientBuffers {
 public:
  /// The buffer of the calling thread. Safe to call from any thread at any time.
  GradientBuffer& mine(const std::shared_ptr<DeviceAllocator>& memory = nullptr);
  /// A buffer by its number, apart from those of threads; one thread at a time may use it. Safe to
  /// call likewise.
  GradientBuffer& numbered(unsigned number,
                           const std::shared_ptr<DeviceAllocator>& memory = nullptr);
  /// The buffers of this number that have gradients, the CPU's first, then by devices; others are
  /// no number's any more. Safe to call while backward passes run for other numbers.
  std::vector<GradientBuffer*> of_number(unsigned number);
  /// One buffer holding all gradients, or null if there are none: the first, to which the others
  /// are added. Not while a backward pass runs.
  GradientBuffer* merge();
  /// The same, or the calling thread's if there are none.
  GradientBuffer& merged();
  /// The buffer that has all gradients without a merge, or null. Not while a backward pass runs.
  GradientBuffer* only();
  /// The buffers that have gradients, by threads or numbers, which come last, and then by devices,
  /// the CPU first. Not while a backward pass runs.
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> in_order();
  /// Whether a buffer in this list has a number.
  static bool is_number(std::uint64_t key) { return key >= kNumbered; }
  /// An empty buffer that is no thread's, until it is dropped.
  GradientBuffer& make(const std::shared_ptr<DeviceAllocator>& memory);
  void drop(GradientBuffer& buffer);
  /// Drops the gradient of a dense parameter. Not while a backward pass runs.
  void forget(std::size_t index);
  /// The same of a table.
  void forget_rows(std::size_t table);
  /// Drops all gradients, keeping the memory. Not while a backward pass runs.
  void clear();

 private:
  struct Entry {
    std::uint64_t thread;  // 0: no thread's; or kNumbered and a number
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
