#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "dynet-like/graph/expression.h"
#include "dynet-like/graph/graph_errors.h"
#include "dynet-like/graph/graph_state.h"

// Conversions between handles and graphs.

namespace dynet {

/// The graph of a live handle. Throws StaleExpressionError.
inline GraphState& live_state(const Expression& e, const char* who, SourceLocation at) {
  if (!e.state || !e.state->holds(e.i, e.serial)) [[unlikely]]
    throw_bad_handle(std::string(who) + ": the expression", e, nullptr, at);
  if (e.result) [[unlikely]]
    check_result(who, e, at);
  return *e.state;
}

/// Makes a handle. It is stored as two vectors: users copy a new handle at once, and a wide load
/// stalls on several narrow stores. (One vector of 32 bytes becomes narrow stores on CPUs with
/// registers of 16 bytes.)
inline Expression make_handle(GraphState& s, NodeId id, std::uint64_t serial,
                              std::uint32_t result = 0) {
#if UINTPTR_MAX > UINT32_MAX
  using Words [[gnu::vector_size(16)]] = unsigned long long;
  static_assert(sizeof(Expression) == 2 * sizeof(Words) && offsetof(Expression, pg) == 0 &&
                offsetof(Expression, i) == 8 && offsetof(Expression, result) == 12 &&
                offsetof(Expression, serial) == 16);
  const Words words[2] = {
      {reinterpret_cast<std::uintptr_t>(s.owner), std::uint64_t{result} << 32 | id},
      {serial, reinterpret_cast<std::uintptr_t>(&s)}};
  Expression e;
  std::memcpy(static_cast<void*>(&e), &words, sizeof(e));
#else
  Expression e;
  e.pg = s.owner;
  e.i = id;
  e.result = result;
  e.serial = serial;
  e.state = &s;
#endif
  return e;
}

}  // namespace dynet
