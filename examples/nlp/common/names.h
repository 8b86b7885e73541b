#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/text.h"

namespace nlp {

/// Names of the values of an option.
template <typename Value>
using Names = std::vector<std::pair<Value, const char*>>;

/// Value with this name; throws UserError that lists the names: "unknown level 'x': expected word
/// or char".
template <typename Value>
Value value_of(const Names<Value>& names, const std::string& name, const std::string& what) {
  std::string expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i].second) return names[i].first;
    expected += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ");
    expected += names[i].second;
  }
  throw UserError("unknown " + what + " " + in_quotes(name) + ": expected " + expected);
}

template <typename Value>
const char* name_of(const Names<Value>& names, Value wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "unknown";
}

}  // namespace nlp
