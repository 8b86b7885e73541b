#include "examples/vision/digits/picture.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "examples/nlp/common/text.h"

#ifdef DIGITS_PNG
#include <png.h>
#endif

namespace digits {
namespace {

using nlp::UserError;

/// Luma of Rec. 601.
std::uint8_t grey(double red, double green, double blue) {
  return static_cast<std::uint8_t>(std::lround(0.299 * red + 0.587 * green + 0.114 * blue));
}

void require_size(std::size_t height, std::size_t width, const std::string& name) {
  if (height == 0 || width == 0 || height > kMostPixels || width > kMostPixels) {
    throw UserError(name + " has " + std::to_string(height) + " rows and " + std::to_string(width) +
                    " columns: expected 1 to " + std::to_string(kMostPixels) + " of each");
  }
}

/// Netpbm formats: a header of decimal numbers, with comments, then decimal values or, in P5 and
/// P6, bytes.
class Netpbm {
 public:
  Netpbm(const std::string& bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Picture read() {
    const char kind = bytes_[1];
    const bool plain = kind < '5', colour = kind == '3' || kind == '6';
    const std::size_t width = number(1u << 30), height = number(1u << 30), most = number(65535);
    require_size(height, width, name_);
    if (most == 0) fail("its largest value is 0");
    if (!plain) ++place_;  // one white space character
    const std::size_t values = height * width * (colour ? 3 : 1), size = most > 255 ? 2 : 1;
    if (bytes_.size() < place_ || bytes_.size() - place_ < values * (plain ? 1 : size))
      fail("it ends before its last pixel");
    const auto value = [&] {
      std::size_t v = 0;
      if (plain) {
        v = number(most);
      } else {
        for (std::size_t i = 0; i < size; ++i)
          v = 256 * v + static_cast<std::uint8_t>(bytes_[place_++]);
        if (v > most) fail("a value is above " + std::to_string(most));
      }
      return 255 * static_cast<double>(v) / static_cast<double>(most);
    };
    Picture picture{static_cast<unsigned>(height), static_cast<unsigned>(width), {}};
    picture.pixels.reserve(height * width);
    for (std::size_t i = 0; i < height * width; ++i) {
      const double red = value(), green = colour ? value() : red, blue = colour ? value() : red;
      picture.pixels.push_back(grey(red, green, blue));
    }
    return picture;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(name_ + " is a broken picture: " + what);
  }

  std::size_t number(std::size_t largest) {
    while (place_ < bytes_.size() && (nlp::is_space(bytes_[place_]) || bytes_[place_] == '#')) {
      if (bytes_[place_] == '#') place_ = std::min(bytes_.find('\n', place_), bytes_.size());
      if (place_ < bytes_.size()) ++place_;
    }
    if (place_ >= bytes_.size()) fail("it ends before its last pixel");
    std::size_t value = 0;
    const std::size_t begin = place_;
    while (place_ < bytes_.size() && nlp::is_digit(bytes_[place_])) {
      value = 10 * value + static_cast<std::size_t>(bytes_[place_++] - '0');
      if (value > largest) fail("a number is above " + std::to_string(largest));
    }
    if (place_ == begin)
      fail("expected a number, found " + nlp::in_quotes(bytes_.substr(begin, 1)));
    return value;
  }

  const std::string& bytes_;
  const std::string& name_;
  std::size_t place_ = 2;
};

bool is_netpbm(const std::string& bytes) {
  return bytes.size() > 3 && bytes[0] == 'P' && std::strchr("2356", bytes[1]) != nullptr &&
         (nlp::is_space(bytes[2]) || bytes[2] == '#');
}

bool is_png(const std::string& bytes) { return bytes.rfind("\x89PNG\r\n\x1a\n", 0) == 0; }

#ifdef DIGITS_PNG
Picture parse_png(const std::string& bytes, const std::string& name) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, decltype(&png_image_free)> owner(&image, png_image_free);
  const auto check = [&](int ok) {
    if (ok == 0) throw UserError(name + " is a broken picture: libpng says " + image.message);
  };
  check(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()));
  require_size(image.height, image.width, name);
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> colours(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};
  check(png_image_finish_read(&image, &black, colours.data(), 0, nullptr));
  Picture picture{image.height, image.width, {}};
  for (std::size_t i = 0; i < colours.size(); i += 3)
    picture.pixels.push_back(grey(colours[i], colours[i + 1], colours[i + 2]));
  return picture;
}
#endif

}  // namespace

bool reads_png() {
#ifdef DIGITS_PNG
  return true;
#else
  return false;
#endif
}

Picture parse_picture(const std::string& bytes, const std::string& name) {
  if (is_netpbm(bytes)) return Netpbm(bytes, name).read();
  if (is_png(bytes)) {
#ifdef DIGITS_PNG
    return parse_png(bytes, name);
#else
    throw UserError(name + " is in the format PNG, and this program was built without libpng");
#endif
  }
  throw UserError(name + " is no picture in the format " + (reads_png() ? "PNG, " : "") +
                  "PGM or PPM");
}

Picture read_picture(const std::string& path) {
  const auto check_format = [&](std::string_view start) {
    const std::string first(start.substr(0, 16));
    if (!is_netpbm(first) && !is_png(first)) parse_picture(first, path);
  };
  return parse_picture(read_bytes(path, std::size_t{1} << 29, check_format), path);
}

Picture scaled(const Picture& picture, unsigned height, unsigned width) {
  if (picture.height == height && picture.width == width) return picture;
  /// Weight of the old row or column `place` in a new row or column.
  struct Share {
    unsigned place;
    double weight;
  };
  const auto shares = [](unsigned from, unsigned to) {
    std::vector<std::vector<Share>> all(to);
    for (unsigned k = 0; k < to; ++k) {
      const double begin = double(k) * from / to, end = double(k + 1) * from / to;
      for (auto p = static_cast<unsigned>(begin); p < from && p < end; ++p) {
        const double part = std::min(end, p + 1.0) - std::max(begin, double(p));
        all[k].push_back({p, part * to / from});
      }
    }
    return all;
  };
  const auto rows = shares(picture.height, height), columns = shares(picture.width, width);
  Picture result{height, width, {}};
  for (const auto& row : rows) {
    for (const auto& column : columns) {
      double sum = 0;
      for (const Share& r : row) {
        for (const Share& c : column) sum += r.weight * c.weight * picture.at(r.place, c.place);
      }
      result.pixels.push_back(static_cast<std::uint8_t>(std::lround(std::min(sum, 255.0))));
    }
  }
  return result;
}

Picture inverted(Picture picture) {
  for (std::uint8_t& p : picture.pixels) p = static_cast<std::uint8_t>(255 - p);
  return picture;
}

std::string read_bytes(const std::string& path, std::size_t most,
                       const std::function<void(std::string_view)>& check_start) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw UserError("cannot read " + path + ": it is a directory");
  errno = 0;
  const std::unique_ptr<gzFile_s, decltype(&gzclose_r)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  if (!file) throw UserError("cannot open " + path + ": " + std::strerror(errno));
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 18);
  for (int got; (got = gzread(file.get(), buffer.data(), unsigned(buffer.size()))) != 0;) {
    if (got < 0) break;
    if (bytes.empty() && check_start) check_start({buffer.data(), static_cast<std::size_t>(got)});
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most)
      throw UserError(path + " holds more than " + std::to_string(most) + " bytes");
  }
  int error = Z_OK;
  const char* const message = gzerror(file.get(), &error);
  if (error == Z_ERRNO) throw UserError("cannot read " + path + ": " + std::strerror(errno));
  if (error != Z_OK && error != Z_STREAM_END)
    throw UserError(path + " is cut or damaged: " + message);
  return bytes;
}

}  // namespace digits
