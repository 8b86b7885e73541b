#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dynet-like/io/files.h"

// As much of zip archives as .npz files need: PKWARE's APPNOTE 6.3.10, with ZIP64; members that are
// stored or deflated (RFC 1951).

namespace dynet::io_detail {

struct ZipMember {
  std::string name, bytes;
};

/// The `size` bytes that `deflated` stands for. Throws FileError if it stands for anything else,
/// before memory is taken for a size that cannot be.
std::string inflate(std::string_view deflated, std::uint64_t size);

/// The members in the order of the directory, verified. Throws FileError.
std::vector<ZipMember> read_zip(std::string_view archive);
/// Stores them.
void write_zip(NewFile& file, const std::vector<ZipMember>& members);

}  // namespace dynet::io_detail
