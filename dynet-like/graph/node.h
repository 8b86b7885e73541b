#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "dynet-like/base/device.h"
#include "dynet-like/base/pod_vector.h"
#include "dynet-like/base/source_location.h"
#include "dynet-like/shape/dim.h"

namespace dynet {

class ParameterBank;
struct OpForm;

using VariableIndex = std::uint32_t;
using NodeId = VariableIndex;

/// One node: plain data, made once and never changed.
struct Node {
  static constexpr std::uint32_t kNeedsGradient =
      1;  // a parameter that is not frozen lies below it
  // Eight bits of the flags: which of the graph's devices it is at.
  static constexpr std::uint32_t kFirstPlaceBit = 8, kPlaceBits = 0xff00, kMostPlaces = 256;

  const OpForm* form;
  const char* file;      // where the user made it
  std::uint64_t serial;  // never used twice in this storage: tells a stale Expression
  std::uint32_t line;
  std::uint32_t first_arg;  // operands are args[first_arg, first_arg + arity)
  std::uint32_t arity;
  std::uint32_t attr;  // where its attributes begin, in words
  std::uint32_t flags;
  Dim dim;

  bool needs_gradient() const { return flags & kNeedsGradient; }
  /// Its device, as a number in GraphStore::places.
  std::uint32_t place() const { return (flags & kPlaceBits) >> kFirstPlaceBit; }
  SourceLocation at() const { return {file, line}; }
};

/// Whether two nodes are at one place, by their flags.
constexpr bool same_place(std::uint32_t flags, std::uint32_t others) {
  return ((flags ^ others) & Node::kPlaceBits) == 0;
}

/// The attributes of a new node: a small plain struct, and for some a payload behind it.
struct Attributes {
  const void* bytes = nullptr;
  std::size_t size = 0;
  const void* payload = nullptr;
  std::size_t payload_size = 0;

  Attributes() = default;
  template <class A>
  requires(!std::is_same_v<A, Attributes>)
      Attributes(const A& a, const void* data = nullptr,
                 std::size_t data_size = 0)  // NOLINT: implicit
      : bytes(&a), size(sizeof(A)), payload(data), payload_size(data_size) {
    static_assert(std::is_trivially_copyable_v<A> && sizeof(A) % 8 == 0 && alignof(A) <= 8);
  }
};

/// The nodes of a graph, in order of creation; operands come before their users. This is all that
/// the later stages read.
struct GraphStore {
  PodVector<Node> nodes;
  PodVector<NodeId> args;
  PodVector<std::uint64_t> attrs;
  std::vector<std::shared_ptr<ParameterBank>>
      banks;                           // kept alive while nodes name their parameters
  std::vector<Device*> places{&kCpu};  // where nodes are; first the graph's own device

  std::span<const NodeId> args_of(const Node& n) const {
    return {args.data() + n.first_arg, n.arity};
  }
  template <class A>
  const A& attr(const Node& n) const {
    static_assert(std::is_trivially_copyable_v<A>);
    return *reinterpret_cast<const A*>(attrs.data() + n.attr);
  }
  /// The payload behind attributes of type A.
  template <class A, class P>
  const P* payload(const Node& n) const {
    return reinterpret_cast<const P*>(reinterpret_cast<const std::byte*>(&attr<A>(n)) + sizeof(A));
  }
};

}  // namespace dynet
