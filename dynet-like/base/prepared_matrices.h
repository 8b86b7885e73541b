#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dynet-like/base/arena.h"

namespace dynet {

/// Copies of matrices in the layouts that products prefer, for one pass over a graph. A copy is
/// made once its matrix has been used often enough, and serves all later products of the pass.
class PreparedMatrices {
 public:
  enum class Layout : std::uint8_t {
    transposed,
    packed,         ///< for products in bf16
    packed_across,  ///< the same, read by rows instead of columns
  };
  /// A matrix whose values are constant during the pass.
  struct Key {
    const void* matrix = nullptr;
    std::size_t rows = 0, columns = 0;
    Layout layout = Layout::transposed;

    friend bool operator==(const Key&, const Key&) = default;
  };

  /// The copy of a matrix: `count` elements, written by `make(copy)` when the `uses` of all calls
  /// for its key reach `enough`, and valid until `clear`. Null before that, and if there are too
  /// many matrices. Throws OutOfMemoryError.
  template <class T, class Make>
  const T* find(const Key& key, std::size_t uses, std::size_t enough, std::size_t count,
                Make make) {
    Entry* const e = entry(key);
    if (!e) return nullptr;
    if (!e->copy) {
      e->uses += uses;
      if (e->uses < enough) return nullptr;
      T* const copy = memory_.allocate_array<T>(count);
      make(copy);
      e->copy = copy;
    }
    return static_cast<const T*>(e->copy);
  }
  /// Drops all copies, at the beginning of a pass.
  void clear() {
    while (count_ > 0) entries_[filled_[--count_]] = {};
    memory_.reset();
  }
  /// Drops all copies and frees their memory.
  void release() {
    clear();
    memory_.release();
  }

 private:
  static constexpr std::size_t kEntries = 256, kProbes = 8;
  struct Entry {
    Key key;
    std::size_t uses = 0;
    const void* copy = nullptr;
  };

  // The entry of a key, or null if there is no room.
  Entry* entry(const Key& key) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.matrix));
    const std::size_t first = address * 0x9e3779b97f4a7c15u >> 56;  // addresses end alike
    for (std::size_t at = first; at < first + kProbes; ++at) {
      Entry& e = entries_[at % kEntries];
      if (e.key == key) return &e;
      if (e.key.matrix) continue;
      e.key = key;
      filled_[count_++] = static_cast<std::uint8_t>(at % kEntries);
      return &e;
    }
    return nullptr;
  }

  std::array<Entry, kEntries> entries_;  // from the hash of the address on
  std::array<std::uint8_t, kEntries> filled_;
  std::size_t count_ = 0;  // of entries that are filled
  Arena memory_;
};

}  // namespace dynet
