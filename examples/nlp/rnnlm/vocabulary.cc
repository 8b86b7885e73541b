#include "vocabulary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rnnlm {
namespace {

const char* const kEndToken = "</s>";
const char* const kUnknownToken = "<unk>";

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  for (const std::string& token : tokens_) dict_.convert(token);
  dict_.freeze();
  dict_.set_unk(kUnknownToken);
}

unsigned Vocabulary::id(const std::string& token) const {
  const auto id = static_cast<unsigned>(dict_.convert(token));
  return id == kEnd ? kUnknown : id;  // the end of a sentence is no token of a text
}

Ids Vocabulary::encode(const Sentence& sentence) const {
  Ids ids;
  ids.reserve(sentence.tokens.size());
  for (const std::string& token : sentence.tokens) ids.push_back(id(token));
  return ids;
}

std::vector<std::string> collect_tokens(const Corpus& train, std::size_t min_count) {
  std::unordered_map<std::string, std::size_t> counts;
  std::vector<std::string> order;
  for (const Sentence& sentence : train) {
    for (const std::string& token : sentence.tokens) {
      if (++counts[token] == 1) order.push_back(token);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const std::string& a, const std::string& b) {
    return counts[a] > counts[b];
  });
  std::vector<std::string> tokens = {kEndToken, kUnknownToken};
  for (const std::string& token : order) {
    if (counts[token] < min_count) break;
    if (token != kEndToken && token != kUnknownToken) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace rnnlm
