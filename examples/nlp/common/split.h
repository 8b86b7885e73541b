#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "examples/nlp/common/names.h"
#include "examples/nlp/common/text_input.h"
#include "examples/nlp/common/training.h"

namespace nlp {

/// Split of one file into three parts by proportions: 90/5/5.
struct Split {
  std::array<std::uint32_t, 3> parts{0, 0, 0};
  bool empty() const { return parts[0] + parts[1] + parts[2] == 0; }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& parts[0] & parts[1] & parts[2];
  }
  void check() const;  ///< see Checked
};

enum class Part { kAll, kTrain, kDev, kTest };
inline const Names<Part> kParts = {
    {Part::kAll, "all"}, {Part::kTrain, "train"}, {Part::kDev, "dev"}, {Part::kTest, "test"}};

/// Reads "90/5/5"; throws UserError unless there are three numbers and the first is positive.
Split parse_split(const std::string& text);
Part part_from_name(const std::string& name);

/// Part of sentence number `index`: a function of the two arguments only.
Part part_of(std::size_t index, const Split& split);

/// Sentences of one part, in order.
template <typename Sentence>
std::vector<Sentence> take_part(const std::vector<Sentence>& corpus, const Split& split,
                                Part part) {
  if (part == Part::kAll) return corpus;
  std::vector<Sentence> result;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (part_of(i, split) == part) result.push_back(corpus[i]);
  }
  return result;
}

/// Training data, data for model selection, and data for the final score.
template <typename Corpus>
struct Parts {
  Corpus train, dev, test;
};

/// Parses --split, empty for no split; throws UserError if --dev or --test is given with it.
Split parse_split(const std::string& text, const RunOptions& run);

/// Warns of parts with a positive share but no data.
template <typename Corpus>
void warn_of_empty_parts(const Parts<Corpus>& parts, const Split& split, const std::string& file) {
  if (split.parts[1] > 0 && parts.dev.empty())
    warn("the dev part of " + file + " is empty: nothing says which epoch is best");
  if (split.parts[2] > 0 && parts.test.empty())
    warn("the test part of " + file + " is empty: nothing says how good the model is");
}

/// Reads the files of a run with `read(TextSource)`, the training data first, or splits that file.
/// Throws UserError if it is too short.
template <typename Read>
auto read_parts(const RunOptions& run, const Split& split, Read read) {
  const auto source = [&run](const std::string& path) { return TextSource(path, run.text); };
  auto corpus = read(source(run.train));
  Parts<decltype(corpus)> parts;
  if (split.empty()) {
    parts.train = std::move(corpus);
    if (!run.dev.empty()) parts.dev = read(source(run.dev));
    if (!run.test.empty()) parts.test = read(source(run.test));
    return parts;
  }
  parts = {take_part(corpus, split, Part::kTrain), take_part(corpus, split, Part::kDev),
           take_part(corpus, split, Part::kTest)};
  if (parts.train.empty()) throw UserError(run.train + " is too short to be split");
  warn_of_empty_parts(parts, split, run.train);
  return parts;
}

/// Reads the part named `part` of a file with `read(source)`. Throws UserError if the model was
/// trained without a split, or if the part is empty.
template <typename Read>
auto read_part(const TextSource& source, const std::string& part, const Split& split, Read read) {
  const Part wanted = part_from_name(part);
  if (wanted != Part::kAll && split.empty()) {
    throw UserError("--part " + part + " needs a model trained with --split");
  }
  auto corpus = take_part(read(source), split, wanted);
  if (corpus.empty()) {
    throw UserError("the " + part + " part of " + source.name() + " holds no sentence");
  }
  return corpus;
}

/// Evenly spaced indices of `count` samples of a corpus: of those accepted by `readable`, or of all
/// if it accepts none.
template <typename Corpus, typename Readable>
std::vector<std::size_t> some_places(const Corpus& corpus, std::size_t count, Readable readable) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (readable(corpus[i])) places.push_back(i);
  }
  if (places.empty()) {
    for (std::size_t i = 0; i < corpus.size(); ++i) places.push_back(i);
  }
  count = std::min(count, places.size());
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < count; ++k) chosen.push_back(places[k * places.size() / count]);
  return chosen;
}

}  // namespace nlp
