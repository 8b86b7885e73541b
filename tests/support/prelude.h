#pragma once

// Includes of nearly every test: the library, Catch2, and the parts of the standard library that
// tests use most.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dynet-like/dynet.h"
#include "tests/support/catch.h"

// Expressions as functions of one or two operands, for tables.
#define OF_X(...) [=](const dynet::Expression& x) { return __VA_ARGS__; }
#define OF_XY(...) \
  [=](const dynet::Expression& x, const dynet::Expression& y) { return __VA_ARGS__; }

using Floats = std::vector<float>;

inline Floats values(const dynet::Expression& e) { return as_vector(e.value()); }
inline Floats gradient(const dynet::Expression& e) { return as_vector(e.gradient()); }

/// The E that a call throws.
template <class E, class Call>
E thrown(Call call) {
  try {
    call();
  } catch (const E& e) {
    return e;
  }
  throw std::logic_error("nothing was thrown");
}
template <class E, class Call>
std::string message(Call call) {
  return thrown<E>(call).what();
}

/// The gradients of a loss are its slopes; it depends on so many parameters.
inline void check_slopes(const dynet::Expression& loss,
                         std::optional<std::size_t> parameters = {}) {
  const dynet::GradientReport report = dynet::check_gradients(loss);
  INFO(report);
  CHECK(report.ok());
  if (parameters) CHECK(report.parameters == *parameters);
}
/// The same of `loss(graph, update)`, which without updates depends on `fixed` parameters.
template <class Loss>
void check_slopes(const Loss& loss, std::size_t parameters, std::size_t fixed) {
  dynet::ComputationGraph graph, other;
  check_slopes(loss(graph, true), parameters);
  CHECK(dynet::check_gradients(loss(other, false)).parameters == fixed);
}
