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

/// Checks the operands of a composite operation before its first node is made, with the errors of
/// `add_node` for an operation `name` with this shape rule. `rule` maps shape::Dims to a shape,
/// which is returned.
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
