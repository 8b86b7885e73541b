#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dynet-like/base/pod_vector.h"
#include "dynet-like/graph/op.h"

namespace dynet {

/// Whether two rules batch alike.
inline bool same_batches(const BatchRule& a, const BatchRule& b) {
  return a.batches == b.batches && a.attribute_bytes == b.attribute_bytes &&
         a.first_pair == b.first_pair && a.ragged == b.ragged;
}

/// Numbers the kinds of nodes. Nodes of one kind have equal form, shape, operand shapes, batch
/// attributes and planning flags (same_planning). The identity of operands does not count; sizes
/// that the form leaves free do not count; of the operands only the first `kMostOperands` count.
///
/// The kind of a node is found when the node is created, so that planning compares numbers.
class NodeKindTable {
 public:
  static constexpr std::size_t kMostOperands = 8;
  /// GraphState::clear drops all kinds if there are more.
  static constexpr std::size_t kMost = 4096;

  struct Asked {
    const OpForm& form;
    const Dim& shape;
    std::span<const Dim* const> operands;  ///< their shapes
    const std::uint64_t* words;            ///< the attributes
    std::uint32_t flags;
  };

  /// Cache entry: kind and shape of the last node with this form, operand shapes, flags and batch
  /// attributes.
  struct alignas(64) Recent {
    static constexpr std::size_t kMostOperands = 7, kMostWords = 4;

    const OpForm* form;
    Dim (*rule)(const Operands&);  // tells a form from an earlier form at the same address
    std::uint32_t arity, flags;
    const Dim* shape;
    std::uint32_t kind;
    bool complete;  // all attributes are batch attributes: `shape` holds without the shape rule
    const Dim* operands[kMostOperands];
    std::uint64_t words[kMostWords];  // the first batch attributes

    bool is_of(const OpForm& f, const Dim* const* dims, std::size_t n,
               std::uint32_t planning) const {
      if (form != &f || rule != f.shape.value || arity != n || flags != planning) return false;
      for (std::size_t k = 0; k < n; ++k)
        if (operands[k] != dims[k]) return false;
      return true;
    }
    /// Whether `words` are these batch attributes.
    bool has_words(const std::uint64_t* attribute_words, std::size_t n) const {
      if (n > kMostWords) return false;
      for (std::size_t w = 0; w < n; ++w)
        if (words[w] != attribute_words[w]) return false;
      return true;
    }
  };

  NodeKindTable() = default;
  /// Hashes are compared in the bits of `hash_mask` only.
  explicit NodeKindTable(std::uint64_t hash_mask) : hash_mask_(hash_mask) {}

  /// The kind of a node, below `size()`; a new kind gets the next number.
  std::uint32_t find(const Asked& node);
  /// Cache entry for a node; another kind may occupy it, then there is a second one. `word` is one
  /// of the attributes.
  Recent& recent(const OpForm& form, const Dim* const* dims, std::size_t n, std::uint64_t word) {
    auto h = reinterpret_cast<std::uintptr_t>(&form) ^ word;
    for (std::size_t k = 0; k < std::min(n, Recent::kMostOperands); ++k)
      h = std::rotl(h, 9) + reinterpret_cast<std::uintptr_t>(dims[k]);
    return recent_[h * 0x9e3779b97f4a7c15u >> 56];
  }
  Recent& second(const Recent& first) { return recent_[(&first - recent_.data()) ^ 1]; }
  /// Stores the result for `node`, which has `all_words` words of attributes, in `recent`.
  void note(Recent& recent, const Asked& node, std::size_t all_words);
  /// Equal for nodes of one kind.
  static std::uint64_t hash(const Asked& node);
  std::size_t size() const { return all_.size(); }
  /// Incremented by `forget`, after which kinds are numbered from 0 again.
  std::uint64_t generation() const { return generation_; }
  /// Drops all kinds; their numbers must not be in use. Shapes are dropped by their ShapeTable.
  void forget();
  /// Frees all memory.
  void release();

 private:
  struct Known {
    const OpForm* form;
    Dim (*rule)(const Operands&);
    BatchRule batch;
    const Dim* shape;
    std::uint64_t hash;
    std::uint32_t arity, flags;
    std::uint32_t operands, words;  // positions in operands_ and words_
  };

  bool is(const Known& known, const Asked& node) const;
  void grow();

  std::array<Recent, 256> recent_{};
  PodVector<Known> all_;  // by kind
  PodVector<const Dim*> operands_;
  PodVector<std::uint64_t> words_;
  PodVector<std::uint32_t> table_;  // open addressing
  std::uint64_t hash_mask_ = ~std::uint64_t{0};
  std::uint64_t generation_ = 0;
};

}  // namespace dynet
