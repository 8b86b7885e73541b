#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dynet-like/io/files.h"

namespace dynet::io_detail {

/// Reads a file sequentially as lines and counted bytes; only the current piece is in memory.
/// Errors are FileError.
class Pieces {
 public:
  /// The file must outlive this object.
  explicit Pieces(const InputFile& file) : file_(file) {}

  /// Reads up to `end`, which is skipped; returns false at the end of the file. `s` is valid until
  /// the next call. Throws if there are more than `most` bytes before `end`.
  bool until(char end, std::size_t most, std::string_view& s);
  /// Returns whether the last piece was cut by the end of the file.
  bool ended() const { return ended_; }
  /// Reads the next n bytes, or fewer at the end of the file.
  std::string_view take(std::size_t n);
  /// Skips the next byte if it is `c`.
  void skip(char c);
  bool at_end() const { return first_ == buffer_.size() && read_ == file_.size(); }

 private:
  void more();

  const InputFile& file_;
  std::string buffer_;
  std::size_t first_ = 0;
  std::uint64_t read_ = 0;
  bool ended_ = false;
};

}  // namespace dynet::io_detail
