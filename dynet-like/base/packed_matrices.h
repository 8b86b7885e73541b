#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynet {

/// Cache of matrices in the packed layout of bf16 products, for one pass over a graph. A matrix is
/// packed at its second multiplication; the packed form serves all later multiplications.
class PackedMatrices {
 public:
  /// A matrix whose values are constant during the pass; `across`: read by rows instead of columns.
  struct Key {
    const float* matrix = nullptr;
    std::size_t rows = 0, columns = 0;
    bool across = false;

    friend bool operator==(const Key&, const Key&) = default;
  };

  /// The `count` packed words of a matrix, computed by `pack(words)` at the second call for its key
  /// and valid until `clear`. Null at the first call, and if the slot of this key holds another
  /// packed matrix.
  template <class Pack>
  const std::uint32_t* find(const Key& key, std::size_t count, Pack pack) {
    used_ = true;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.matrix));
    Entry& e = entries_[address * 0x9e3779b97f4a7c15u >> 58];  // addresses end alike
    if (!(e.key == key)) {
      if (!e.packed) e.key = key;  // packed matrices are not evicted
      return nullptr;
    }
    if (!e.packed) {
      e.words.resize(count + kAlignment);
      pack(e.aligned());
      e.packed = true;
    }
    return e.aligned();
  }
  /// Drops all entries, at the end of a pass.
  void clear() {
    if (!used_) return;
    used_ = false;
    for (Entry& e : entries_) {
      e.key = {};
      e.packed = false;
      if (e.words.capacity() > kLarge) e.words = {};
    }
  }

 private:
  static constexpr std::size_t kAlignment = 16, kLarge = std::size_t{1} << 20;  // words
  struct Entry {
    Key key;
    bool packed = false;
    std::vector<std::uint32_t> words;

    std::uint32_t* aligned() {
      const auto at = reinterpret_cast<std::uintptr_t>(words.data()) / 4;
      return words.data() + (kAlignment - at % kAlignment) % kAlignment;
    }
  };

  bool used_ = false;              // any `find` since the last `clear`
  std::array<Entry, 64> entries_;  // indexed by the hash of the address
};

}  // namespace dynet
