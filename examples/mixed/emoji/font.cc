#include "examples/mixed/emoji/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include <hb-ft.h>
#include <hb.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "examples/nlp/common/text.h"

namespace emoji {
namespace {

/// Length of the overlap of [i, i + 1) and [begin, end).
double overlap(unsigned i, double begin, double end) {
  return std::max(0.0, std::min<double>(i + 1, end) - std::max<double>(i, begin));
}

/// A bitmap centred in a square.
struct Canvas {
  const FT_Bitmap& bitmap;
  unsigned side = std::max(bitmap.width, bitmap.rows);
  unsigned left = (side - bitmap.width) / 2, top = (side - bitmap.rows) / 2;

  /// Pointer to blue, green, red, opacity; null outside the bitmap.
  const unsigned char* at(unsigned x, unsigned y) const {
    if (x < left || y < top || x - left >= bitmap.width || y - top >= bitmap.rows) return nullptr;
    return bitmap.buffer + static_cast<std::ptrdiff_t>(y - top) * bitmap.pitch + 4 * (x - left);
  }
};

Picture scaled(const FT_Bitmap& bitmap, unsigned size) {
  const Canvas canvas{bitmap};
  const double step = static_cast<double>(canvas.side) / size;
  Picture picture{size, {}};
  for (unsigned line = 0; line < size; ++line) {
    for (unsigned column = 0; column < size; ++column) {
      double sums[Picture::kChannels] = {}, area = 0;
      const double y0 = line * step, x0 = column * step;
      for (auto y = static_cast<unsigned>(y0); y < y0 + step && y < canvas.side; ++y) {
        for (auto x = static_cast<unsigned>(x0); x < x0 + step && x < canvas.side; ++x) {
          const double share = overlap(x, x0, x0 + step) * overlap(y, y0, y0 + step);
          area += share;
          const unsigned char* const point = canvas.at(x, y);
          if (point == nullptr) continue;
          for (const unsigned channel : {0u, 1u, 2u, 3u})
            sums[channel] += share * point[channel < 3 ? 2 - channel : 3];
        }
      }
      for (const double sum : sums)
        picture.points.push_back(static_cast<std::uint8_t>(sum / area + 0.5));
    }
  }
  return picture;
}

}  // namespace

// Not in an unnamed namespace, since Font::Faces has members of this type.
template <typename T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* it) const { destroy(it); }
};
using Buffer = std::unique_ptr<hb_buffer_t, Destroy<hb_buffer_t, hb_buffer_destroy>>;
using Shaper = std::unique_ptr<hb_font_t, Destroy<hb_font_t, hb_font_destroy>>;

struct Font::Faces {
  Faces() = default;
  Faces(const Faces&) = delete;
  Faces& operator=(const Faces&) = delete;
  ~Faces() {
    shaper.reset();
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }

  FT_Library library = nullptr;
  FT_Face face = nullptr;
  Shaper shaper;
};

Font::Font(const std::string& path) : faces_(std::make_unique<Faces>()) {
  const auto require = [&](bool fine, const std::string& what) {
    if (!fine) throw nlp::UserError(path + what);
  };
  require(FT_Init_FreeType(&faces_->library) == 0, ": FreeType does not start");
  require(FT_New_Face(faces_->library, path.c_str(), 0, &faces_->face) == 0,
          " is no font that FreeType can read");
  require(FT_HAS_COLOR(faces_->face) && faces_->face->num_fixed_sizes > 0 &&
              FT_Select_Size(faces_->face, 0) == 0,
          " is a font without coloured bitmaps");
  faces_->shaper.reset(hb_ft_font_create_referenced(faces_->face));
}

Font::~Font() = default;

std::optional<Picture> Font::draw(const std::u32string& points, unsigned size) const {
  const Buffer buffer(hb_buffer_create());
  const std::vector<std::uint32_t> codes(points.begin(), points.end());
  hb_buffer_add_utf32(buffer.get(), codes.data(), static_cast<int>(codes.size()), 0, -1);
  hb_buffer_guess_segment_properties(buffer.get());
  hb_shape(faces_->shaper.get(), buffer.get(), nullptr, 0);
  unsigned glyphs = 0;
  const hb_glyph_info_t* const infos = hb_buffer_get_glyph_infos(buffer.get(), &glyphs);
  if (glyphs != 1 || infos[0].codepoint == 0) return std::nullopt;
  if (FT_Load_Glyph(faces_->face, infos[0].codepoint, FT_LOAD_COLOR) != 0) return std::nullopt;
  const FT_Bitmap& bitmap = faces_->face->glyph->bitmap;
  if (bitmap.pixel_mode != FT_PIXEL_MODE_BGRA || bitmap.width == 0 || bitmap.rows == 0)
    return std::nullopt;
  return scaled(bitmap, size);
}

}  // namespace emoji
