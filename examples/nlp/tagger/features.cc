#include "features.h"

#include <algorithm>

#include "examples/nlp/common/text.h"

namespace tagger {

using namespace nlp;

namespace {

constexpr std::size_t kLongestShape = 10;
constexpr std::size_t kLargestDim = 4096;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string prefix_of(const std::string& word, std::size_t characters) {
  std::size_t end = 0;
  while (end < word.size() && characters > 0) {
    ++end;
    while (end < word.size() && continues_character(word[end])) ++end;
    --characters;
  }
  return word.substr(0, end);
}

std::string suffix_of(const std::string& word, std::size_t characters) {
  std::size_t begin = word.size();
  while (begin > 0 && characters > 0) {
    --begin;
    while (begin > 0 && continues_character(word[begin])) --begin;
    --characters;
  }
  return word.substr(begin);
}

std::string shape_of(const std::string& word) {
  std::string shape;
  for (char c : word) {
    const char kind = is_upper(c)                           ? 'X'
                      : is_lower(c)                         ? 'x'
                      : is_digit(c)                         ? '9'
                      : static_cast<unsigned char>(c) > 127 ? 'u'
                                                            : c;
    if (shape.empty() || shape.back() != kind) shape += kind;
    if (shape.size() == kLongestShape) break;
  }
  return shape;
}

/// N of "prefixN" or "suffixN", 0 for other texts.
std::size_t affix_length(const std::string& name) {
  const bool affix = name.rfind("prefix", 0) == 0 || name.rfind("suffix", 0) == 0;
  if (!affix || name.size() != 7 || !is_digit(name[6])) return 0;
  return static_cast<std::size_t>(name[6] - '0');
}

unsigned usual_dim(const std::string& name) {
  if (identifies_word(name)) return 128;
  if (reads_characters(name)) return 50;
  return name == "shape" ? 16 : 32;
}

}  // namespace

std::vector<Feature> parse_features(const std::string& text) {
  std::vector<Feature> features;
  for (const std::string& item : split_fields(text, ',')) {
    const std::size_t colon = item.find(':');
    Feature feature;
    feature.name = item.substr(0, colon);
    if (feature.name == "char") feature.name = "charlstm";
    if (!identifies_word(feature.name) && feature.name != "shape" &&
        !reads_characters(feature.name) && affix_length(feature.name) == 0) {
      throw UserError("unknown feature " + in_quotes(item) +
                      ": expected word, lower, shape, prefix1 to prefix9, suffix1 to suffix9, "
                      "charlstm or charcnn, with a size if wanted, as in word:128,suffix3:32");
    }
    feature.dim = usual_dim(feature.name);
    if (colon != std::string::npos) {
      feature.dim = static_cast<unsigned>(
          parse_number(item.substr(colon + 1), "the size of a feature", kLargestDim));
      if (feature.dim == 0) throw UserError("the size of a feature must not be 0");
    }
    const auto same = [&](const Feature& other) { return other.name == feature.name; };
    if (std::any_of(features.begin(), features.end(), same)) {
      throw UserError("feature " + in_quotes(feature.name) + " is named twice");
    }
    features.push_back(feature);
  }
  return features;
}

std::string features_text(const std::vector<Feature>& features) {
  std::string text;
  for (const Feature& feature : features) {
    if (!text.empty()) text += ',';
    text += feature.name + ":" + std::to_string(feature.dim);
  }
  return text;
}

std::string view_of(const std::string& word, const std::string& feature) {
  if (feature == "lower") return lower_cased(word);
  if (feature == "shape") return shape_of(word);
  const std::size_t length = affix_length(feature);
  if (length == 0) return word;
  const std::string lower = lower_cased(word);
  return feature[0] == 'p' ? prefix_of(lower, length) : suffix_of(lower, length);
}

bool identifies_word(const std::string& feature) { return feature == "word" || feature == "lower"; }

bool reads_characters(const std::string& feature) {
  return feature == "charlstm" || feature == "charcnn";
}

}  // namespace tagger
