#include "examples/nlp/common/split.h"

#include <numeric>

#include "dynet-like/base/random.h"
#include "examples/nlp/common/check.h"
#include "examples/nlp/common/names.h"

namespace nlp {
namespace {

constexpr std::uint32_t kLargestPart = 1000;

}  // namespace

void Split::check() const {
  for (const std::uint32_t part : parts) require_number("part of a split", part, 0, kLargestPart);
  require(empty() || parts[0] > 0, "its split leaves nothing to train on");
}

Split parse_split(const std::string& text) {
  const std::vector<std::string> fields = split_fields(text, '/');
  if (fields.size() != 3) {
    throw UserError("expected a split such as 90/5/5 (train/dev/test), found " + in_quotes(text));
  }
  Split split;
  for (std::size_t i = 0; i < 3; ++i) {
    split.parts[i] =
        static_cast<std::uint32_t>(parse_number(fields[i], "each part of --split", kLargestPart));
  }
  if (split.parts[0] == 0) throw UserError("the train part of --split must not be 0");
  return split;
}

Split parse_split(const std::string& text, const RunOptions& run) {
  if (text.empty()) return {};
  if (!run.dev.empty() || !run.test.empty()) {
    throw UserError("--split cuts --train into three parts, so --dev and --test cannot be given");
  }
  return parse_split(text);
}

Part part_from_name(const std::string& name) { return value_of(kParts, name, "part"); }

Part part_of(std::size_t index, const Split& split) {
  const std::uint64_t total =
      std::accumulate(split.parts.begin(), split.parts.end(), std::uint64_t{0});
  if (total == 0) return Part::kTrain;
  const std::uint64_t place = dynet::mix_bits(index) % total;
  if (place < split.parts[0]) return Part::kTrain;
  return place < split.parts[0] + split.parts[1] ? Part::kDev : Part::kTest;
}

}  // namespace nlp
