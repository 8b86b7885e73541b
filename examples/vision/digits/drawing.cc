#include "examples/vision/digits/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "dynet-like/base/printable.h"

namespace digits {
namespace {

constexpr unsigned kFiltersInRow = 12, kPixel = 12, kGap = 8, kCell = 36, kMargin = 120, kLine = 24;

std::string rectangle(unsigned x, unsigned y, unsigned size, long shade) {
  const std::string s = std::to_string(shade), side = std::to_string(size);
  return "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" + side +
         "\" height=\"" + side + "\" fill=\"rgb(" + s + "," + s + "," + s + ")\"/>\n";
}

std::string words(unsigned x, unsigned y, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"" + more + ">" +
         dynet::xml_text(text) + "</text>\n";
}

}  // namespace

std::string drawing(const std::vector<float>& filters, unsigned height, unsigned width,
                    const nlp::LabelScores& confusion) {
  const auto each = static_cast<std::ptrdiff_t>(std::size_t{height} * width);
  const auto count = static_cast<unsigned>(filters.size() / (std::size_t{height} * width));
  std::string body = words(kGap, kLine, "Filters of the first convolution");
  unsigned bottom = kLine + kGap;
  for (unsigned k = 0; k < count; ++k) {
    const auto begin = filters.begin() + k * each;
    const auto [low, high] = std::minmax_element(begin, begin + each);
    const float range = std::max(*high - *low, 1e-20f);
    const unsigned left = kGap + k % kFiltersInRow * (width * kPixel + kGap);
    const unsigned top = kLine + kGap + k / kFiltersInRow * (height * kPixel + kGap);
    for (unsigned column = 0; column < width; ++column) {
      for (unsigned row = 0; row < height; ++row) {
        const float weight = begin[static_cast<std::ptrdiff_t>(column * height + row)];
        body += rectangle(left + column * kPixel, top + row * kPixel, kPixel,
                          std::lround(255 * (weight - *low) / range));
      }
    }
    bottom = top + height * kPixel;
  }
  const unsigned right = kGap + std::min(count, kFiltersInRow) * (width * kPixel + kGap);

  const std::vector<nlp::LabelScores::Known> labels = confusion.labels();
  const unsigned title = bottom + 2 * kLine, top = title + 2 * kLine;
  body += words(kGap, title, "Right label by row, predicted label by column");
  for (unsigned i = 0; i < labels.size(); ++i) {
    const std::string middle = " text-anchor=\"middle\"";
    body += words(kMargin - kGap, top + i * kCell + kCell * 2 / 3, labels[i].label,
                  " text-anchor=\"end\"");
    body += words(kMargin + i * kCell + kCell / 2, top - kGap, labels[i].label, middle);
    std::size_t total = 0;
    for (const auto& other : labels) total += confusion.taken(labels[i].label, other.label);
    for (unsigned k = 0; k < labels.size(); ++k) {
      const std::size_t n = confusion.taken(labels[i].label, labels[k].label);
      const double share = total == 0 ? 0 : static_cast<double>(n) / static_cast<double>(total);
      const unsigned x = kMargin + k * kCell, y = top + i * kCell;
      // The square root makes rare mistakes visible.
      body += rectangle(x, y, kCell, std::lround(255 * (1 - std::sqrt(share))));
      if (n > 0) {
        const std::string light = share > 0.25 ? " fill=\"white\"" : "";
        body += words(x + kCell / 2, y + kCell * 2 / 3, std::to_string(n), middle + light);
      }
    }
  }
  const auto cells = static_cast<unsigned>(labels.size()) * kCell;
  const std::string full_width = std::to_string(std::max(right, kMargin + cells + kGap));
  const std::string full_height = std::to_string(top + cells + kGap);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + full_width + "\" height=\"" +
         full_height + "\" font-family=\"sans-serif\" font-size=\"13\">\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"rgb(200,215,230)\"/>\n" + body + "</svg>";
}

}  // namespace digits
