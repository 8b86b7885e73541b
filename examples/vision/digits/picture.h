#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace digits {

/// Grey values from 0, black, to 255, white, row by row.
struct Picture {
  unsigned height = 0, width = 0;
  std::vector<std::uint8_t> pixels;

  std::uint8_t at(unsigned row, unsigned column) const {
    return pixels[std::size_t{row} * width + column];
  }
};

/// Maximum number of rows and of columns.
inline constexpr unsigned kMostPixels = 8192;

/// Reads a PGM or PPM file (P2, P3, P5 or P6; at most 16 bits) or, with libpng, a PNG file. Colours
/// are converted to grey; transparent pixels become black. Throws nlp::UserError with the name of
/// the file for an unreadable or malformed file.
Picture read_picture(const std::string& path);

/// Parses the bytes of a file; `name` is its name in messages.
Picture parse_picture(const std::string& bytes, const std::string& name);

/// True if the program was built with libpng.
bool reads_png();

/// Resizes a picture: a new pixel is the mean of the area that it covers; the aspect ratio is not
/// preserved. Both sizes must be positive.
Picture scaled(const Picture& picture, unsigned height, unsigned width);

/// Inverts the grey values.
Picture inverted(Picture picture);

/// Bytes of a file, uncompressed if gzipped. Throws nlp::UserError for a file that cannot be read,
/// is truncated or damaged, or has more than `most` bytes. `check_start` gets the first bytes and
/// may throw before the rest is read.
std::string read_bytes(const std::string& path, std::size_t most,
                       const std::function<void(std::string_view)>& check_start);

}  // namespace digits
