#pragma once

#include <memory>
#include <optional>
#include <string>

#include "examples/mixed/emoji/corpus.h"

namespace emoji {

/// A font of coloured bitmaps, such as that of the Debian package fonts-noto-color-emoji.
class Font {
 public:
  /// Throws nlp::UserError for a file that is no such font.
  explicit Font(const std::string& path);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  /// The picture of a sequence of code points, scaled down to `size` lines by the means of areas;
  /// none if the font has none for the whole of it.
  std::optional<Picture> draw(const std::u32string& points, unsigned size) const;

 private:
  struct Faces;
  std::unique_ptr<Faces> faces_;
};

}  // namespace emoji
