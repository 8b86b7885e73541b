#pragma once

#include <zlib.h>

#include "tests/examples/helpers.h"

inline std::string big_endian(std::size_t n) {
  std::string text;
  for (const unsigned shift : {24u, 16u, 8u, 0u}) text += static_cast<char>(n >> shift & 255);
  return text;
}

/// A file in the format IDX of these dimensions and bytes.
inline std::string idx(const std::vector<unsigned>& dims, const std::vector<unsigned>& values) {
  std::string text = {'\0', '\0', '\x08', static_cast<char>(dims.size())};
  for (const unsigned d : dims) text += big_endian(d);
  for (const unsigned v : values) text += static_cast<char>(v);
  return text;
}

inline void write_gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
          static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

/// A picture in the format PNG: a black pixel and, right of it, one of the shade 200.
inline std::string one_png() {
  const auto chunk = [&](const std::string& name, const std::string& data) {
    const std::string checked = name + data;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    return big_endian(data.size()) + checked + big_endian(crc);
  };
  const std::string row = {'\0', '\0', '\xc8'};  // no filter, two pixels
  std::string packed(100, '\0');
  uLongf size = packed.size();
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(row.data()), row.size()) == Z_OK);
  packed.resize(size);
  const std::string header =
      big_endian(2) + big_endian(1) + std::string{'\x08', '\0', '\0', '\0', '\0'};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", packed) + chunk("IEND", "");
}
