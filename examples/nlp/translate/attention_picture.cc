#include "examples/nlp/translate/attention_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "dynet-like/base/printable.h"
#include "examples/nlp/common/characters.h"

namespace translate {
namespace {

constexpr std::size_t kCell = 24, kLetter = 9, kGap = 12;  // in pixels

std::string at(std::size_t x, std::size_t y) {
  return " x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"";
}

std::size_t longest(const std::vector<std::string>& tokens) {
  std::size_t letters = 1;
  for (const std::string& token : tokens)
    letters = std::max(letters, nlp::characters_of(token).size());
  return letters;
}

}  // namespace

std::string attention_picture(const std::vector<Look>& looks) {
  std::string body;
  std::size_t width = 0, bottom = 0;
  for (const Look& look : looks) {
    std::vector<std::string> rows = look.target;
    rows.push_back("(end)");
    const std::size_t left = kGap + longest(rows) * kLetter + kGap;
    const std::size_t top = bottom + kGap + longest(look.source) * kLetter + kGap;
    for (std::size_t column = 0; column < look.source.size(); ++column) {
      const std::size_t x = left + column * kCell + kCell * 2 / 3, y = top - kGap / 2;
      body += "<text" + at(x, y) + " transform=\"rotate(-90 " + std::to_string(x) + " " +
              std::to_string(y) + ")\">" + dynet::xml_text(look.source[column]) + "</text>\n";
    }
    for (std::size_t row = 0; row < look.weights.size(); ++row) {
      const std::size_t y = top + row * kCell;
      body += "<text text-anchor=\"end\"" + at(left - kGap / 2, y + kCell * 2 / 3) + ">" +
              dynet::xml_text(rows[row]) + "</text>\n";
      for (std::size_t column = 0; column < look.weights[row].size(); ++column) {
        const std::string shade =
            std::to_string(255 - std::lround(255 * look.weights[row][column]));
        body += "<rect" + at(left + column * kCell, y) + " width=\"" + std::to_string(kCell) +
                "\" height=\"" + std::to_string(kCell) + "\" stroke=\"#ccc\" fill=\"rgb(" + shade +
                "," + shade + "," + shade + ")\"/>\n";
      }
    }
    width = std::max(width, left + look.source.size() * kCell + kGap);
    bottom = top + look.weights.size() * kCell + kGap;
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
         "\" height=\"" + std::to_string(bottom) +
         "\" font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"white\"/>\n" +
         body + "</svg>\n";
}

}  // namespace translate
