#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dynet::io_detail {

/// A value of JSON, as far as headers of files use it.
struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  std::string text;                ///< of a string, or a number as written
  std::vector<Json> items;         ///< of an array, or the values of an object
  std::vector<std::string> names;  ///< of the values of an object; none comes twice

  const Json* find(std::string_view name) const;
  /// A whole number below 10^18. Throws FileError, naming `what`.
  std::uint64_t whole(const std::string& what) const;
};

/// Strictly RFC 8259, UTF-8 checked, names unique, at most 16 levels deep. Throws FileError.
Json parse_json(std::string_view text);
/// In quotes, with escapes.
std::string json_string(std::string_view text);

}  // namespace dynet::io_detail
