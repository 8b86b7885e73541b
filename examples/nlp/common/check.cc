#include "examples/nlp/common/check.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "dynet-like/io/loading.h"
#include "dynet-like/param/storage.h"
#include "examples/nlp/common/text.h"
#include "examples/nlp/common/vocabulary.h"

namespace nlp {
namespace {

constexpr unsigned kLargestSize = 65536, kMostLayers = 64;  // limits of all options

}  // namespace

void require(bool holds, const std::string& sentence) {
  if (!holds) throw UserError(sentence);
}

void require_number(const std::string& what, double value, double least, double most) {
  require(value >= least && value <= most, "its " + what + " is " + option_text(value) +
                                               ", expected " + option_text(least) + " to " +
                                               option_text(most));
}

void require_size(const std::string& what, unsigned size) {
  require_number(what, size, 1, kLargestSize);
}

void require_layers(unsigned layers) { require_number("number of layers", layers, 1, kMostLayers); }

void require_dropout(float rate) {
  require(rate >= 0 && rate < 1, "its dropout is " + option_text(rate) + ", expected less than 1");
}

void require_texts(const std::string& what, const std::vector<std::string>& texts,
                   std::size_t least) {
  require(texts.size() >= least, "it has " + std::to_string(texts.size()) + " " + what +
                                     ", expected " + std::to_string(least) + " or more");
  std::unordered_set<std::string_view> seen;
  for (const std::string& text : texts)
    if (!seen.insert(text).second)
      throw UserError(in_quotes(text) + " comes twice among its " + what);
}

void require_known_texts(const std::string& what, const std::vector<std::string>& texts,
                         std::size_t least) {
  require_texts(what, texts, least);
  require(texts[0] == kUnknown, "the first of its " + what + " is " + in_quotes(texts[0]) +
                                    ", expected " + in_quotes(kUnknown));
}

void require_among(const std::string& what, const std::string& text,
                   const std::vector<std::string>& texts) {
  require(std::find(texts.begin(), texts.end(), text) != texts.end(),
          "it does not know its " + what + ", " + in_quotes(text));
}

void require_finite(const std::string& path, const dynet::ParameterCollection& weights) {
  for (const auto& [name, array] : dynet::named_parameters(weights))
    require(std::all_of(array->data, array->data + array->size(),
                        [](float x) { return std::isfinite(x); }),
            path + ": the array " + name + " has numbers that are not finite");
}

void require_scores(std::span<const float> scores) {
  for (const float score : scores)
    if (!std::isfinite(score))
      throw dynet::NumericError("the model gives a score of " + std::to_string(score));
}

}  // namespace nlp
