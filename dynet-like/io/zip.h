#pragma once

#include <cstdint>
#include <functional>
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

/// The `size` bytes that `deflated` stands for. Throws FileError if it stands for anything else;
/// takes memory for as many as come.
std::string inflate(std::string_view deflated, std::uint64_t size);

/// Visits the members in the order of the directory, each verified, of which one at a time is in
/// memory. No two share bytes. Throws FileError.
void read_zip(const InputFile& file, const std::function<void(ZipMember)>& visit);
/// Stores them.
void write_zip(NewFile& file, const std::vector<ZipMember>& members);

}  // namespace dynet::io_detail
