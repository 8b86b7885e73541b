#include "dynet-like/compat/pretrain.h"

#include <string_view>
#include <utility>

#include "dynet-like/io/word_vectors.h"

namespace dynet {

void save_pretrained_embeddings(const std::string& filename, const Dict& words,
                                const LookupParameter& table) {
  save_word_vectors(filename, words, table, VectorFormat::glove);
}

void read_pretrained_embeddings(const std::string& filename, Dict& words,
                                std::unordered_map<int, std::vector<float>>& vectors) {
  std::vector<std::pair<std::string, std::vector<float>>> all;
  read_word_vectors(filename, [&](std::string_view word, const std::vector<float>& vector) {
    if (!words.is_frozen() || words.contains(word)) all.emplace_back(word, vector);
  });
  for (auto& [word, vector] : all) vectors[words.convert(word)] = std::move(vector);
}

}  // namespace dynet
