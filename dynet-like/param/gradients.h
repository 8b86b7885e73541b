#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
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

/// Where a gradient goes: the memory, and whether it already holds a sum to add to.
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

  /// Rows used since the last clear, in order of first use; row k of the list has gradient
  /// `row_gradient(k)`.
  const PodVector<std::uint32_t>& rows() const { return used_; }
  float* row_gradient(std::size_t k) const {
    return chunks_[k >> chunk_bits_] + (k & (chunk_rows() - 1)) * row_size_;
  }
  /// The gradient of table row `row`, or null if unused.
  float* find(std::uint32_t row) const {
    return slot_[row] == kUnused ? nullptr : row_gradient(slot_[row]);
  }
  bool whole_written() const { return whole_written_; }
  float* whole() const { return whole_; }
  std::size_t row_size() const { return row_size_; }
  std::size_t row_count() const { return rows_; }
  /// Moves the rows into the whole-table gradient, if that one was used, so that one form is left.
  void unify();
  /// Adds all of a device's to `host`.
  void add_to(RowGradients& host) const;
  void clear();
  bool empty() const { return used_.empty() && !whole_written_; }
  /// What is there now, and back to it: what was used since is unused again.
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
  /// The memory of its gradient to be looked at, zero if nothing was written, which stays so unless
  /// somebody writes other numbers there.
  float* show(std::size_t index, std::size_t size);
  /// To be called before looking for what was written: the caller of `show` may have written, too.
  void adopt_writes();
  /// Where `use` would put it now; null if there is no memory yet.
  float* memory_of(std::size_t index) const {
    return index < dense_.size() ? dense_[index].g : nullptr;
  }
  /// What was written, or null.
  float* find(std::size_t index) const {
    return index < dense_.size() && dense_[index].written ? dense_[index].g : nullptr;
  }
  RowGradients* find_rows(std::size_t index) const {
    return index < rows_.size() && rows_[index] && !rows_[index]->empty() ? rows_[index].get()
                                                                          : nullptr;
  }
  /// Elements of dense parameter `index`, zero if it was not written.
  std::size_t dense_size(std::size_t index) const { return find(index) ? dense_[index].size : 0; }
  std::size_t dense_count() const { return dense_.size(); }
  std::size_t table_count() const { return rows_.size(); }
  void forget(std::size_t index);
  /// Whose memory it is, or null.
  const std::shared_ptr<DeviceAllocator>& memory() const { return memory_; }
  bool empty() const;
  /// Adds all of a device's to `host`.
  void add_to(GradientBuffer& host) const;
  void clear();

  /// Stands for the graph whose work on the device has written here last, see
  /// DeviceBackend::write_after.
  std::shared_ptr<const cuda::Mark> writer;

 private:
  struct Dense {
    float* g = nullptr;
    std::size_t size = 0;
    bool written = false;
    bool shown = false;  // as zero, while nothing is written

    void adopt_writes();
  };
  Dense& at(std::size_t index, std::size_t size);

  std::shared_ptr<DeviceAllocator> memory_;
  std::vector<Dense> dense_;
  std::vector<std::size_t> shown_;  // indices
  std::vector<std::unique_ptr<RowGradients>> rows_;
};

/// How the gradients of graphs on several threads are added up.
///
/// Every thread adds into a buffer of its own, in the order of its backward passes, or into the
/// buffer that a graph names; graphs on a device have buffers in its memory. `merge` adds the
/// buffers up element by element, sorted by their bits, so the sum depends on what each thread
/// computed and never on which came first. With one thread there is one buffer and nothing to add
/// up: the trainer reads the very memory that backward wrote.
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
  /// One buffer holding all gradients, or null if there are none. Not while a backward pass runs.
  GradientBuffer* merge();
  /// The gradient of a dense parameter, to be looked at: what `merge` would make of it, zero if
  /// there is none. What is written through it counts from then on. Lives until the next merge or
  /// clear. Not while a backward pass runs.
  float* show(std::size_t index, std::size_t size);
  /// The same of a table, row after row; a row that was written to counts as used. The address
  /// stays the same.
  float* show_rows(std::size_t table, std::size_t rows, std::size_t row_size);
  /// The buffers that have gradients, by threads or numbers, which come last, and then by devices,
  /// the CPU first. Not while a backward pass runs.
  std::vector<std::pair<std::uint64_t, GradientBuffer*>> in_order();
  /// Whether a buffer in this list has a number.
  static bool is_number(std::uint64_t key) { return key >= kNumbered; }
  /// An empty buffer that is no thread's, until it is dropped.
  GradientBuffer& make(const std::shared_ptr<DeviceAllocator>& memory);
  void drop(GradientBuffer& buffer);
  /// Whether something was written through `show` that a merge has not seen yet.
  bool written_through_show();
  /// f(buffer) for each buffer that may have gradients. Not while a backward pass runs.
  template <class F>
  void for_each(F f) {
    const std::lock_guard lock(mutex_);
    adopt_writes();
    for (Entry& e : entries_)
      if (e.active) f(*e.buffer);
  }
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
  void copy_to_host();

  friend class GradientReader;
  /// A sum of several buffers that was handed out, and what it was then.
  struct Shown {
    bool live = false;
    std::vector<float> now, then;

    bool changed() const;
    /// What was written replaces what had been there; what came to `sum` since stays.
    void correct(float* sum) const;
  };
  /// The gradient of a table that was handed out. Memory of rows that nobody has used is only
  /// read, and so never the system's.
  struct ShownRows {
    struct Free {
      void operator()(float* p) const { std::free(p); }
    };
    bool live = false;
    std::unique_ptr<float[], Free> now;
    std::size_t rows = 0, row_size = 0;
    std::map<std::uint32_t, std::vector<float>> then;  // rows that were not zero

    void make(std::size_t rows, std::size_t row_size);
    float* row(std::uint32_t r) const { return now.get() + r * row_size; }
    bool changed(std::uint32_t r) const;
    bool changed() const;
    std::vector<std::uint32_t> changed_rows() const;
    /// As Shown::correct, of one row.
    void correct(std::uint32_t r, float* sum) const;
  };
  void adopt_writes();
  GradientBuffer* correct_shown(GradientBuffer* sum);
  void correct_rows(std::size_t table, ShownRows& shown, GradientBuffer& sum);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<std::size_t, Shown> shown_;  // by index
  std::map<std::size_t, ShownRows> shown_rows_;
};

}  // namespace dynet
