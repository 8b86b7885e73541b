#pragma once

#include <memory>
#include <optional>
#include <string>

#include "examples/mixed/emoji/corpus.h"

namespace emoji {

/// A font with coloured bitmaps, such as that of the Debian package fonts-noto-color-emoji.
class Font {
 public:
  /// Throws nlp::UserError for any other file.
  explicit Font(const std::string& path);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  /// Picture of a sequence of code points, scaled down to `size` lines by area averaging; empty if
  /// the font lacks a glyph for the sequence.
  std::optional<Picture> draw(const std::u32string& points, unsigned size) const;

 private:
  struct Faces;
  std::unique_ptr<Faces> faces_;
};

}  // namespace emoji
