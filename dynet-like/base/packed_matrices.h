#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynet {

/// Matrices in the form that products of bf16 read, of one pass over a graph: a matrix is packed
/// when it is multiplied with for the second time, for that and all later times.
class PackedMatrices {
 public:
  /// A matrix in memory that stays as it is, read along its columns or across them.
  struct Key {
    const float* matrix = nullptr;
    std::size_t rows = 0, columns = 0;
    bool across = false;

    friend bool operator==(const Key&, const Key&) = default;
  };

  /// Its words, of which there are `count`, made by `pack(words)`; null the first time, and where
  /// another matrix has its place. They stay until all are cleared.
  template <class Pack>
  const std::uint32_t* find(const Key& key, std::size_t count, Pack pack) {
    used_ = true;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.matrix));
    Entry& e = entries_[address * 0x9e3779b97f4a7c15u >> 58];  // allocations end alike
    if (!(e.key == key)) {
      if (!e.packed) e.key = key;  // a packed matrix keeps its place
      return nullptr;
    }
    if (!e.packed) {
      e.words.resize(count + kAlignment);
      pack(e.aligned());
      e.packed = true;
    }
    return e.aligned();
  }
  /// The matrices may be others now.
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

  bool used_ = false;              // since it was cleared
  std::array<Entry, 64> entries_;  // by address
};

}  // namespace dynet
