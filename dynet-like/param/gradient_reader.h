#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "dynet-like/param/gradients.h"

namespace dynet {

/// Adds up gradients of buffers, of the same parts in the same way. Several parts are added element
/// by element, by number of their buffers (`in_order`) or by their bits; `out` may not be one of
/// them.
void add_up(float* out, const std::vector<const float*>& parts, std::size_t n, bool in_order);

/// Reads what `GradientBuffers::merge` would make of the buffers, and changes nothing: no bit of a
/// later sum depends on whether, or how often, somebody has looked. Buffers on devices are copied.
///
/// Holds the mutex of the buffers. What it returns lives until its next call.
class GradientReader {
 public:
  explicit GradientReader(GradientBuffers& buffers);

  /// The gradient of a dense parameter, or null.
  const float* find(std::size_t index, std::size_t size);
  /// The gradient of one row of a table, or null.
  const float* find_row(std::size_t table, std::uint32_t row);
  /// The rows of a table that have a gradient: all if it was used as a whole.
  std::vector<std::uint32_t> rows(std::size_t table) const;

 private:
  friend class GradientBuffers;
  /// The buffers of one thread or number: in the CPU's memory, then on devices.
  struct Group {
    std::uint64_t key;
    std::vector<GradientBuffer*> buffers;
  };
  /// Numbers that may have to be added up first.
  struct Part {
    const float* g = nullptr;
    std::vector<float> sum;

    void add(const float* from, std::size_t n, const GradientBuffer& buffer);
  };

  /// What was written through `show` left out.
  const float* find_sum(std::size_t index, std::size_t size);
  const float* find_row_sum(std::size_t table, std::uint32_t row);
  std::vector<std::uint32_t> rows_of_buffers(std::size_t table) const;
  bool empty() const { return groups_.empty(); }
  /// If all gradients lie in one buffer of the CPU's memory.
  GradientBuffer* only_buffer() const;
  Part& next_part();
  const float* total(std::vector<const float*>& parts, std::size_t n, std::vector<float>& sum);

  GradientBuffers& buffers_;
  std::unique_lock<std::mutex> lock_;
  bool in_order_ = false;
  std::vector<Group> groups_;  // by key
  std::vector<Part> parts_;
  std::size_t used_ = 0;  // of parts_
  std::vector<float> sum_, rows_sum_;
};

}  // namespace dynet
