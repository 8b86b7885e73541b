#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "examples/nlp/common/text.h"
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

/// A new folder with data, and the options that make a small model of them.
struct Workshop {
  TemporaryFolder folder;
  std::string train = folder.write("train.txt", sentences(400, 1));
  std::string dev = folder.write("dev.txt", sentences(60, 2));
  std::string test = folder.write("test.txt", sentences(60, 3));

  std::vector<std::string> train_command(const std::string& model) const {
    return {"train",  "--train",   train,      "--dev",   dev,        "--model", folder.path(model),
            "--word", "16",        "--hidden", "24",      "--epochs", "4",       "--learning-rate",
            "0.02",   "--dropout", "0.1",      "--decay", "0.9"};
  }
};

/// The first figure of the line: perplexity per word.
inline double first_figure(const std::string& line) {
  std::istringstream in(line);
  std::string label;
  double figure = 0;
  REQUIRE((in >> label >> figure));
  return figure;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = nlp::split_fields(text, '\n');
  REQUIRE(lines.back().empty());
  lines.pop_back();
  return lines;
}
