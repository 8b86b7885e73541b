#include "examples/mixed/emoji/corpus.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "dynet-like/base/random.h"
#include "examples/nlp/common/json.h"
#include "examples/nlp/common/random.h"
#include "examples/nlp/common/text.h"

namespace emoji {

using nlp::Json;

namespace {

constexpr unsigned kLargestPicture = 256;
constexpr char kDigits[] = "0123456789abcdef";

std::string hexadecimal(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

int digit_of(char c) {
  if (nlp::is_digit(c)) return c - '0';
  const char lower = nlp::to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Parser of one line.
class LineOfJson {
 public:
  LineOfJson(const std::string& line, const std::string& file, std::size_t number)
      : file_(file), number_(number), object_(Json::parse(line, nullptr, false)) {
    if (!object_.is_object()) fail("expected a JSON object, found " + nlp::in_quotes(line));
  }

  Sample sample(Labels labels) const {
    Sample sample;
    sample.emoji = text("emoji");
    sample.family = text("family");
    if (sample.family.empty()) sample.family = sample.emoji;
    sample.group = text("group");
    sample.subgroup = text("subgroup");
    if (labels == Labels::kNeeded) {
      if (sample.group.empty()) fail("expected a \"group\"");
      if (sample.subgroup.empty()) fail("expected a \"subgroup\"");
    }
    read_words(sample);
    read_row(sample);
    read_image(sample);
    sample.line = number_;
    return sample;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw nlp::LineError(file_, number_, what);
  }

  /// Null for a missing member.
  const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  std::string text(const char* name) const {
    const Json* const value = find(name);
    if (value == nullptr) return "";
    if (!value->is_string()) fail(std::string("expected a text as \"") + name + "\"");
    return value->get<std::string>();
  }

  void read_words(Sample& sample) const {
    const Json* const words = find("words");
    if (words == nullptr) return;
    if (!words->is_array()) fail("expected a list of \"words\"");
    for (const Json& word : *words) {
      if (!word.is_string()) fail("expected texts in \"words\"");
      sample.words.push_back(word.get<std::string>());
    }
    nlp::require_readable(sample.words.size(), number_, file_);
  }

  void read_row(Sample& sample) const {
    const Json* const row = find("row");
    if (row == nullptr) return;
    if (!row->is_object()) fail("expected an object as \"row\"");
    for (const auto& [name, value] : row->items()) {
      if (value.is_null()) continue;
      if (value.is_string()) {
        sample.row[name] = value.get<std::string>();
      } else if (value.is_boolean()) {
        sample.row[name] = value.get<bool>() ? 1.0 : 0.0;
      } else if (value.is_number()) {
        const auto number = value.get<double>();
        if (std::abs(number) > std::numeric_limits<float>::max())
          fail("the number " + nlp::in_quotes(name) + " in \"row\" is too large");
        sample.row[name] = number;
      } else {
        fail("expected a text or a number as " + nlp::in_quotes(name) + " in \"row\"");
      }
    }
  }

  void read_image(Sample& sample) const {
    const std::string digits = text("image");
    if (digits.empty()) return;
    const std::size_t points = digits.size() / (2 * Picture::kChannels);
    const auto size = static_cast<unsigned>(std::lround(std::sqrt(static_cast<double>(points))));
    if (size > kLargestPicture ||
        std::size_t{size} * size * 2 * Picture::kChannels != digits.size())
      fail("expected an \"image\" of as many lines as columns and at most " +
           std::to_string(kLargestPicture) + ", found " + std::to_string(digits.size()) +
           " digits");
    Picture picture{size, {}};
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      const int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);
      if (high < 0 || low < 0) fail("expected hexadecimal digits in \"image\"");
      picture.points.push_back(static_cast<std::uint8_t>(16 * high + low));
    }
    sample.image = std::move(picture);
  }

  const std::string& file_;
  const std::size_t number_;
  const Json object_;
};

/// FNV-1a.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

Sample read_sample(const std::string& line, const std::string& file, std::size_t number,
                   Labels labels) {
  return LineOfJson(line, file, number).sample(labels);
}

Corpus read_samples(const nlp::TextSource& source) {
  Corpus corpus;
  nlp::SampleReader reader(source, "sample");
  nlp::InputFile in(source);
  unsigned size = 0;
  for (std::string line; in.next(line);) {
    if (nlp::is_blank(line)) continue;
    reader.read([&] {
      Sample sample = read_sample(line, in.name(), in.number(), Labels::kNeeded);
      if (sample.image) {
        if (size == 0) size = sample.image->size;
        if (sample.image->size != size)
          throw nlp::LineError(in.name(), in.number(),
                               "expected an \"image\" of " + std::to_string(size) +
                                   " lines as above, found one of " +
                                   std::to_string(sample.image->size));
      }
      corpus.push_back(std::move(sample));
    });
  }
  if (corpus.empty()) throw nlp::UserError(source.name() + " holds no sample");
  return corpus;
}

std::string line_of(const Sample& sample) {
  Json object = Json::object();
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) object[name] = text;
  };
  add("emoji", sample.emoji);
  add("family", sample.family);
  add("group", sample.group);
  add("subgroup", sample.subgroup);
  if (!sample.words.empty()) object["words"] = sample.words;
  for (const auto& [name, cell] : sample.row)
    std::visit([&, column = name](const auto& value) { object["row"][column] = value; }, cell);
  if (sample.image) add("image", hexadecimal(sample.image->points));
  return nlp::json_line(object);
}

nlp::Part part_of(const Sample& sample, const nlp::Split& split, std::uint64_t seed) {
  return nlp::part_of(nlp::derived_seed(seed, hash_of(sample.family)), split);
}

Corpus take_part(const Corpus& corpus, const nlp::Split& split, std::uint64_t seed,
                 nlp::Part part) {
  if (part == nlp::Part::kAll) return corpus;
  Corpus taken;
  for (const Sample& sample : corpus) {
    if (part_of(sample, split, seed) == part) taken.push_back(sample);
  }
  return taken;
}

}  // namespace emoji
