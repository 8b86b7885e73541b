#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/examples/helpers.h"
#include "tests/support/catch.h"

/// Sentences of a small language: "the cat that the dog saw sleeps ." The last verb must agree with
/// the first noun, across a clause with a noun of its own, which three tokens do not show.
inline std::string sentences(unsigned count, unsigned seed) {
  Dice dice(seed);
  const auto below = [&](unsigned limit) { return dice.below(limit); };
  const std::vector<std::string> nouns = {"cat", "dog", "cow", "hen"};
  const std::vector<std::string> verbs = {"sleep", "eat", "sing"};
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const bool many = below(2) == 1;
    text += "the " + nouns[below(4)] + (many ? "s" : "");
    if (below(4) > 0) text += " that the " + nouns[below(4)] + (below(2) ? "s" : "") + " saw";
    text += " " + verbs[below(3)] + (many ? "" : "s") + " .\n";
  }
  return text;
}

/// The first figure of the line: perplexity per word.
inline double first_figure(const std::string& line) {
  std::istringstream in(line);
  std::string label;
  double figure = 0;
  REQUIRE((in >> label >> figure));
  return figure;
}
