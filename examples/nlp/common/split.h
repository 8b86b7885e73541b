#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nlp {

/// One file cut in three; parts of a hundred, say 90/5/5.
struct Split {
  std::array<std::uint32_t, 3> parts{0, 0, 0};
  bool empty() const { return parts[0] + parts[1] + parts[2] == 0; }

  template <typename Archive>
  void serialize(Archive& archive, unsigned int /*version*/) {
    archive& parts[0] & parts[1] & parts[2];
  }
};

enum class Part { kAll, kTrain, kDev, kTest };

/// Reads "90/5/5"; throws UserError unless there are three numbers and the first is positive.
Split parse_split(const std::string& text);
Part part_from_name(const std::string& name);
const char* part_name(Part part);

/// The part that sentence number `index` belongs to: depends on nothing but the two arguments.
Part part_of(std::size_t index, const Split& split);

/// The sentences of one part, in order.
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

}  // namespace nlp
