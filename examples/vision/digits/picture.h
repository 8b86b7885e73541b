#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace digits {

/// Shades of grey, 0 black to 255 white, row by row.
struct Picture {
  unsigned height = 0, width = 0;
  std::vector<std::uint8_t> pixels;

  std::uint8_t at(unsigned row, unsigned column) const {
    return pixels[std::size_t{row} * width + column];
  }
};

/// A picture that has more rows or columns is refused.
inline constexpr unsigned kMostPixels = 8192;

/// Reads a file in the format PGM or PPM (P2, P3, P5 or P6; of at most 16 bits) or, if the program
/// has libpng, PNG. Colours become shades of grey; what is transparent becomes black. Throws
/// nlp::UserError, with the name of the file, for one that cannot be read or is something else.
Picture read_picture(const std::string& path);

/// The same of the bytes of a file; `name` is what messages call it.
Picture parse_picture(const std::string& bytes, const std::string& name);

/// Whether this program reads PNG.
bool reads_png();

/// The picture in another size: a pixel is the mean of the area that it covers, so that proportions
/// change if the new size has others. Both sizes are above zero.
Picture scaled(const Picture& picture, unsigned height, unsigned width);

/// White becomes black.
Picture inverted(Picture picture);

/// The bytes of a file, uncompressed if it is in the format of gzip. Throws nlp::UserError for a
/// file that cannot be read, is cut or damaged, or holds more than `most` bytes. `check_start` gets
/// the first bytes, so that it may throw before all are read.
std::string read_bytes(const std::string& path, std::size_t most,
                       const std::function<void(std::string_view)>& check_start);

}  // namespace digits
