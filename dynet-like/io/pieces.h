#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dynet-like/io/files.h"

namespace dynet::io_detail {

/// A file as lines and counted bytes, from its start, of which no more is in memory than one of
/// them needs. Errors are FileError.
class Pieces {
 public:
  /// The file must outlive this.
  explicit Pieces(const InputFile& file) : file_(file) {}

  /// Up to and without `end`; false at the end of the file. `s` lives until the next call. Throws
  /// where more than `most` bytes come before `end`.
  bool until(char end, std::size_t most, std::string_view& s);
  /// Whether the last piece ended with the file and not with what was asked for.
  bool ended() const { return ended_; }
  /// The next n bytes, or fewer at the end of the file.
  std::string_view take(std::size_t n);
  /// Leaves out a byte if it is this one.
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
