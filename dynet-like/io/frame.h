#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dynet {

// A framed file. Numbers are little-endian. Later versions may change the payload, not these 40
// bytes.
//
//   bytes  what
//       8  89 'd' 'y' 'n' 'e' 't' 0d 0a
//       4  format version, kFrameVersion
//       4  zero
//       8  number of bytes in the payload
//       8  CRC-64/XZ of the payload
//       8  CRC-64/XZ of the 32 bytes above
//       n  payload

inline constexpr std::uint32_t kFrameVersion = 1;

/// Writes a framed file, or leaves everything as it was.
///
/// The bytes go to a new file beside the target, which is flushed to the disk and then renamed. If
/// anything fails the new file is removed, an old file is untouched, and FileError says what
/// happened. The mode of an old file is kept, a symbolic link is followed, anything but a regular
/// file is refused.
void write_framed(const std::string& path, std::string_view payload);

/// The payload of a framed file, once all of it is verified. Throws FileError.
std::string read_framed(const std::string& path);

/// CRC-64/XZ of the bytes, going on from the value for the bytes before them.
std::uint64_t crc64(std::string_view bytes, std::uint64_t before = 0);

}  // namespace dynet
