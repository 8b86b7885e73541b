#pragma once

#include <initializer_list>
#include <span>

#include "dynet-like/graph/expression.h"
#include "dynet-like/shape/rules.h"

namespace dynet {

namespace detail {
Dim check_operands(const char* name, std::span<const Expression> xs,
                   Dim (*rule)(const void* context, shape::Dims dims), const void* context,
                   SourceLocation at);
}  // namespace detail

/// For an operation that is made of others: checks its operands before the first of them is made,
/// with the errors that `add_node` would throw for an operation `name` with this shape rule.
/// `rule` is a function of shape::Dims; returns the shape that it gives.
template <class Rule>
Dim check_operands(const char* name, std::span<const Expression> xs, const Rule& rule,
                   SourceLocation at) {
  const auto call = [&](shape::Dims dims) -> Dim { return rule(dims); };
  return detail::check_operands(
      name, xs,
      [](const void* context, shape::Dims dims) {
        return (*static_cast<decltype(call)*>(context))(dims);
      },
      &call, at);
}
template <class Rule>
Dim check_operands(const char* name, std::initializer_list<Expression> xs, const Rule& rule,
                   SourceLocation at) {
  return check_operands(name, std::span<const Expression>(xs.begin(), xs.size()), rule, at);
}

}  // namespace dynet
