#include "examples/mixed/emoji/sheet.h"

#include <algorithm>

#include "dynet-like/base/printable.h"

namespace emoji {
namespace {

constexpr std::size_t kColumns = 12, kWidth = 76, kHeight = 62;

int rank_of(const Answer& answer) {
  if (answer.wanted.empty()) return 1;
  return answer.wanted == answer.found ? 2 : 0;
}

std::string text_at(std::size_t x, std::size_t y, int size, const std::string& text) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" font-size=\"" +
         std::to_string(size) + "\">" + dynet::xml_text(text) + "</text>";
}

}  // namespace

std::vector<std::string> sheet_lines(std::vector<Answer> answers) {
  std::stable_sort(answers.begin(), answers.end(),
                   [](const Answer& a, const Answer& b) { return rank_of(a) < rank_of(b); });
  const std::size_t rows = (answers.size() + kColumns - 1) / kColumns;
  std::vector<std::string> lines = {"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                                    std::to_string(kColumns * kWidth) + "\" height=\"" +
                                    std::to_string(rows * kHeight) +
                                    "\" font-family=\"sans-serif\" text-anchor=\"middle\">"};
  lines.emplace_back("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
  const char* const colours[] = {"#d33", "#999", "#2a2"};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::size_t x = i % kColumns * kWidth, y = i / kColumns * kHeight;
    const int rank = rank_of(answers[i]);
    lines.push_back("<g><rect x=\"" + std::to_string(x + 2) + "\" y=\"" + std::to_string(y + 2) +
                    "\" width=\"" + std::to_string(kWidth - 4) + "\" height=\"" +
                    std::to_string(kHeight - 4) + "\" fill=\"none\" stroke=\"" + colours[rank] +
                    "\"/>" + text_at(x + kWidth / 2, y + 34, 24, answers[i].emoji) +
                    text_at(x + kWidth / 2, y + 53, 7, answers[i].found) + "</g>");
  }
  lines.emplace_back("</svg>");
  return lines;
}

}  // namespace emoji
