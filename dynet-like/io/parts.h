#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/io/loading.h"

namespace dynet::io_detail {

// The payload of a saved model: parts one after another. Numbers are little-endian.
//
//   bytes  what
//       8  number of parts
//          and for each of them
//       8  number of bytes in its kind
//          its kind: "ParameterCollection", "Dict", "AdamTrainer", "float32", "vector of string",
//          ...
//       8  number of bytes that follow
//          an archive of Boost.Serialization (binary) that holds one thing, see serialize.h

class PartWriter {
 public:
  explicit PartWriter(std::size_t parts);
  void begin(std::string_view kind);
  void end();
  /// To be appended to between `begin` and `end`.
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::size_t start_ = 0;
};

class PartReader {
 public:
  /// Throws FileError unless the payload has this many parts. The payload must outlive this.
  PartReader(std::string path, std::string_view payload, std::size_t parts);
  /// The archive of part i. Throws FileError if it is of another kind.
  std::string_view part(std::size_t i, const std::string& kind) const;
  [[noreturn]] void fail(std::size_t i, const std::string& why) const;
  /// Throws FileError if what was read does not fit.
  void check(const Loading& loading) const;

 private:
  struct Part {
    std::string_view kind, bytes;
  };
  std::string path_;
  std::vector<Part> parts_;
};

}  // namespace dynet::io_detail
