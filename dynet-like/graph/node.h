#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/base/source_location.h"
#include "dynet-like/base/span.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

class ParameterBank;
class NodeKindTable;
struct OpForm;

using VariableIndex = std::uint32_t;
using NodeId = VariableIndex;

/// One node: plain data, immutable.
struct Node {
  static constexpr std::uint32_t kNeedsGradient = 1;  // depends on a parameter that is not frozen
  // Reads the user's memory through a pointer, so its value must not be recomputed.
  static constexpr std::uint32_t kReadsPointer = 2;
  // A product on a device other than the CPU whose matrix depends on data, not on parameters alone.
  // It may be batched with products of other matrices, by kernels of that device only.
  static constexpr std::uint32_t kOwnMatrix = 4;
  // Depends on inputs, lookups or random draws, not on parameters alone.
  static constexpr std::uint32_t kFromData = 8;
  static constexpr std::uint32_t kOnDevice = 16;  // its device is not the CPU
  // Eight bits of the flags: the device index.
  static constexpr std::uint32_t kFirstDeviceBit = 8, kDeviceBits = 0xff00, kMostDevices = 256;
  // Sixteen bits of the flags: whether operand k is the second result of its node.
  static constexpr std::uint32_t kFirstSecondBit = 16, kMostSeconds = 16;
  static constexpr std::uint32_t kSecondBits = 0xffff0000;
  // Flags that are equal for nodes of one kind.
  static constexpr std::uint32_t kPlanningBits =
      kDeviceBits | kOnDevice | kReadsPointer | kOwnMatrix | kSecondBits;

  const OpForm* form;
  const Dim& dim;           // stored once per shape, see ShapeTable
  std::uint32_t first_arg;  // operands are args[first_arg, first_arg + arity)
  std::uint32_t arity;
  std::uint32_t attr;  // position of its attributes in GraphStore::attrs, in words
  std::uint32_t flags;

  bool needs_gradient() const { return flags & kNeedsGradient; }
  bool reads_pointer() const { return flags & kReadsPointer; }
  bool has_own_matrix() const { return flags & kOwnMatrix; }
  bool reads_seconds() const { return flags & kSecondBits; }
  /// Whether operand k is the second result of its node.
  bool reads_second(std::size_t k) const {
    return k < kMostSeconds && (flags >> (kFirstSecondBit + k) & 1) != 0;
  }
  /// Index of its device in GraphStore::devices.
  std::uint32_t device_index() const { return (flags & kDeviceBits) >> kFirstDeviceBit; }
};

/// Fields of a node that neither planning nor running reads.
struct NodeOrigin {
  const char* file;      // source file of the user's call
  std::uint64_t serial;  // unique in this storage: detects a stale Expression
  std::uint32_t line;
};

/// Whether two nodes are on the same device, by their flags.
constexpr bool same_device(std::uint32_t flags, std::uint32_t others) {
  return ((flags ^ others) & Node::kDeviceBits) == 0;
}

/// Whether planning treats two nodes alike, by their flags: they are on one device, both or neither
/// read a pointer, both or neither have a matrix of their own, and they read the same results of
/// their operands.
constexpr bool same_planning(std::uint32_t flags, std::uint32_t others) {
  return ((flags ^ others) & Node::kPlanningBits) == 0;
}

template <class A, class = void>
inline constexpr bool kHasSource = false;
template <class A>
inline constexpr bool kHasSource<A, std::void_t<decltype(std::declval<A>().source)>> = true;
template <class A, class = void>
inline constexpr bool kHasIndices = false;
template <class A>
inline constexpr bool kHasIndices<A, std::void_t<decltype(std::declval<A>().indices.source)>> =
    true;

/// Whether attributes refer to the user's memory, which forward reads: a `source` other than
/// `in_node`, in the attributes or in their `indices`.
template <class A>
constexpr bool names_memory(const A& a) {
  if constexpr (kHasIndices<A>)
    return a.indices.source != a.indices.in_node;
  else if constexpr (kHasSource<A>)
    return a.source != a.in_node;
  else
    return false;
}

/// The attributes of a new node: a small plain struct, for some forms followed by a payload.
struct Attributes {
  const void* bytes = nullptr;
  std::size_t size = 0;
  const void* payload = nullptr;
  std::size_t payload_size = 0;
  std::uint32_t flags = 0;  ///< node flags that the attributes imply

  Attributes() = default;
  template <class A, class = std::enable_if_t<!std::is_same_v<A, Attributes>>>
  Attributes(const A& a, const void* data = nullptr, std::size_t data_size = 0)  // NOLINT: implicit
      : bytes(&a),
        size(sizeof(A)),
        payload(data),
        payload_size(data_size),
        flags(names_memory(a) ? Node::kReadsPointer : 0) {
    static_assert(std::is_trivially_copyable_v<A> && sizeof(A) % 8 == 0 && alignof(A) <= 8);
  }
};

/// The nodes of a graph, in order of creation; operands come before their users. Later stages read
/// nothing else.
struct GraphStore {
  PodVector<Node> nodes;
  PodVector<NodeOrigin> origins;   // by node
  PodVector<std::uint32_t> kinds;  // by node, a number of `kind_table`
  const NodeKindTable* kind_table = nullptr;
  PodVector<NodeId> args;
  PodVector<std::uint64_t> attrs;
  std::vector<std::shared_ptr<ParameterBank>>
      banks;                            // owners of the parameters that nodes refer to
  std::vector<Device*> devices{&kCpu};  // by device index; first the graph's own device

  Span<const NodeId> args_of(const Node& n) const { return {args.data() + n.first_arg, n.arity}; }
  /// Source location of a node of this graph.
  SourceLocation at(const Node& n) const {
    const NodeOrigin& o = origins[static_cast<std::size_t>(&n - nodes.data())];
    return {o.file, o.line};
  }
  template <class A>
  const A& attr(const Node& n) const {
    static_assert(std::is_trivially_copyable_v<A>);
    return *reinterpret_cast<const A*>(attrs.data() + n.attr);
  }
  /// The payload after attributes of type A.
  template <class A, class P>
  const P* payload(const Node& n) const {
    return reinterpret_cast<const P*>(reinterpret_cast<const std::byte*>(&attr<A>(n)) + sizeof(A));
  }
};

}  // namespace dynet
