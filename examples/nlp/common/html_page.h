#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nlp {

/// The head of a page without scripts, for light and dark; `style` is added to its CSS.
std::string html_head(const std::string& title, const std::string& style);

/// A page that shows CoNLL-U: words with their tags in colour, and trees as arcs. One file without
/// scripts, for light and dark, wide and narrow windows.
class HtmlPage {
 public:
  explicit HtmlPage(const std::string& title) : title_(title) {}

  /// The head of the page.
  std::string begin() const;
  /// Takes a line of CoNLL-U. Returns the sentence that it ends, or an empty text.
  std::string add(const std::string& line);
  /// The rest of the page.
  std::string end();

 private:
  std::string sentence();

  const std::string title_;
  std::vector<std::string> lines_;  // of the next sentence
  std::size_t before_ = 0;          // lines of earlier sentences
};

}  // namespace nlp
